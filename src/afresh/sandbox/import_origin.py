"""The tests must test the task's tree: prove that its packages are imported from there and from nowhere else."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from afresh.sandbox.escape_probe import AnySandbox

_NON_PACKAGE_FOLDERS = frozenset(
    ("test", "tests", "doc", "docs", "example", "examples", "bench", "benchmarks", "scripts", "tools")
)

# Without the current folder, which `python -c` puts first and a `pytest` program does not.
# In hexadecimal, since paths in the tree and in the checkout are shown alike.
_FIND_IMPORTS_SCRIPT = """
import importlib.util, json, sys
sys.path[:] = [folder for folder in sys.path if folder]
found = {}
for name in sys.argv[1:]:
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        continue
    if spec is not None:
        places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        found[name] = places[0].encode().hex() if places else None
print(json.dumps(found))
"""


def list_top_level_packages(tree: Path) -> tuple[str, ...]:
    """Names of the packages in the tree, at its root and in `src`, without those that are only about the project."""
    folders = [entry for place in (tree / "src", tree) if place.is_dir() for entry in sorted(place.iterdir())]
    names = [folder.name for folder in folders if folder.name.isidentifier() and (folder / "__init__.py").is_file()]
    return tuple(name for name in dict.fromkeys(names) if name not in _NON_PACKAGE_FOLDERS)


def find_foreign_imports(sandbox: AnySandbox, packages: Sequence[str]) -> list[str]:
    """Problems: packages that Python would import from elsewhere. A package that can't be imported is no problem here."""
    if not packages:
        return []
    code = shlex.join(["-c", _FIND_IMPORTS_SCRIPT, *packages])
    done = sandbox.run(f'"$(command -v python || command -v python3)" {code}', timeout=60)
    if done.exit:
        return [f"Python could not be asked where it imports from: {done.output.strip()[-300:]}"]
    found: dict[str, str | None] = json.loads(done.output.strip().splitlines()[-1])
    places = [(name, bytes.fromhex(place).decode()) for name, place in found.items() if place]
    return [
        f"{name} is imported from {place}, not from the task's tree" for name, place in places if not _is_own_file(place, sandbox)
    ]


def _is_own_file(place: str, sandbox: AnySandbox) -> bool:
    """Whether a file is in the tree, and not in an environment inside it."""
    root, path = sandbox.root.resolve(), Path(place).resolve()
    environments = [root / name for name in sandbox.mounts.environments]
    return root in path.parents and not any(folder in path.parents for folder in environments)
