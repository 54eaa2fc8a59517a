"""One block with an `await` in it, extracted by rope and by afresh: does what they write compile?

    python bench/extract_await.py [--envs FOLDER]

rope runs in an environment of its own (pip).
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from afresh.code.python_source import parse_python
from afresh.code.refactoring.extract_function import NO_SCORE_LIMIT, suggest_extractions
from afresh.code.refactoring.suggestion import TextEdit, apply_edits
from environments import environment

CODE = """\
async def fetch_all(client, addresses):
    pages = []
    # Fetch the pages
    for address in addresses:
        if address:
            page = await client.get(address)
            if page.ok:
                pages.append(page)
    return pages
"""
ROPE = """
import sys
from rope.base.project import Project
from rope.refactor.extract import ExtractMethod
project = Project(sys.argv[1], ropefolder=None)
module = project.root.get_child("m.py")
text = module.read()
start, end = text.index("    # Fetch"), text.index("    return pages")
changes = ExtractMethod(project, module, start, end).get_changes("fetch_pages")
project.do(changes)
print(module.read())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=Path, default=Path(tempfile.gettempdir()) / "afresh-bench")
    options = parser.parse_args()
    for name, text in (("rope", by_rope(options.envs)), ("afresh", by_afresh())):
        print(f"--- {name}: {compiles(text)}\n{text}")


def by_rope(envs: Path) -> str:
    python = environment(envs, "rope", ["rope"])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.py").write_text(CODE)
        done = subprocess.run([python, "-c", ROPE, folder], capture_output=True, text=True)
    return done.stdout or done.stderr[-600:]


def by_afresh() -> str:
    source = parse_python("m.py", CODE)
    assert source is not None
    first = next(suggest_extractions(source, source.functions[0], frozenset(), NO_SCORE_LIMIT))
    changes = tuple(TextEdit(one["old"], one["new"]) for one in json.loads(first.text.partition("\n")[2]))
    result = apply_edits(CODE, changes)
    return result or "nothing offered"


def compiles(text: str) -> str:
    try:
        compile(text, "m.py", "exec")
    except SyntaxError as error:
        return f"does not compile: {error.msg}, line {error.lineno}"
    return "compiles"


if __name__ == "__main__":
    main()
