"""Modules of the standard library: how many functions over a complexity of 10 cuts bring under it, and what its tests say.

    python bench/violations.py MODULE:SUITE[:SUITE…] … --folder DIR [--cuts FILE]

MODULE is a file or a package, `mailbox.py` or `logging`; SUITE the name of its tests in `test`, such as `test_mailbox`. The first
suggestion for each function is applied under its default names to a copy; the suites run before and after all of them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from afresh.code.python_source import PythonSource, parse_python
from afresh.code.refactoring.suggest_extractions import ProjectFacts, explain_missing_suggestion, suggest_refactorings
from afresh.core.recognise_test_files import is_test_code
from publish import write_results

TIMEOUT = 900


@dataclass
class Report:
    package: str
    over: int = 0
    reached: int = 0
    seconds: float = 0.0
    suites_before: list[str] = field(default_factory=list[str])
    suites_after: list[str] = field(default_factory=list[str])
    left: dict[str, str] = field(default_factory=dict[str, str])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--folder", type=Path, required=True, help="where the changed modules are put")
    parser.add_argument("--cuts", type=Path, help="each changed function before and after, for a reader")
    options = parser.parse_args()
    reports: list[Report] = []
    for spec in options.packages:
        name, *suites = spec.split(":")
        reports.append(measure(name, suites, options.folder.resolve(), options.cuts))
        print(asdict(reports[-1]), flush=True)
        write_results("violations", {"packages": [asdict(report) for report in reports]})
    over, reached = sum(report.over for report in reports), sum(report.reached for report in reports)
    print(f"{reached} of {over} functions reached, {100 * reached / max(1, over):.0f} %")


def measure(name: str, suites: list[str], folder: Path, cuts: Path | None) -> Report:
    library, front = Path(sysconfig.get_path("stdlib")), folder / name.removesuffix(".py")
    shutil.rmtree(front, ignore_errors=True)
    front.mkdir(parents=True)
    if (library / name).is_dir():
        shutil.copytree(library / name, front / name, ignore=shutil.ignore_patterns("__pycache__", "test", "tests"))
    else:
        shutil.copy(library / name, front)
    report = Report(name, suites_before=run_suites(suites, None))
    begun = time.process_time()
    texts = {str(file.relative_to(front)): file.read_bytes().decode() for file in sorted(front.rglob("*.py"))}
    for path in [path for path in texts if not is_test_code(path)]:
        source = parse_python(path, texts[path])
        for function in [one.name for one in source.violations] if source else []:
            report.over += 1
            reason = cut_function(texts, path, function, cuts)
            if reason:
                report.left[f"{path} {function}"] = reason
            else:
                report.reached += 1
        (front / path).write_bytes(texts[path].encode())
    report.seconds = round(time.process_time() - begun, 1)
    report.suites_after = run_suites(suites, front)
    return report


def cut_function(texts: dict[str, str], path: str, name: str, cuts: Path | None) -> str:
    """Apply the first suggestion; return why there is none."""
    source, project = parse_python(path, texts[path]), ProjectFacts(dict(texts))
    function = next((one for one in source.violations if one.name == name), None) if source else None
    if source is None or function is None:
        return ""  # a cut in the function around it has brought it down
    suggestion = next(suggest_refactorings(source, function, project), None)
    if suggestion is None:
        return explain_missing_suggestion(source, function, project)
    after = suggestion.applied(texts[path])
    assert after, "the edits do not fit"
    result = parse_python(path, after)
    assert result, "the result is no Python"
    if cuts:
        shown = "\n".join(read_function(result, each) for each in (name.rpartition(".")[2], *suggestion.names))
        with cuts.open("a") as file:
            file.write(f"## {suggestion.head}\n\nbefore:\n\n```python\n{read_function(source, name)}```\n\nafter:\n\n")
            file.write(f"```python\n{shown}```\n\n")
    texts[path] = after
    return ""


def read_function(source: PythonSource, name: str) -> str:
    found = next(one.node for one in source.functions if one.name == name or one.node.name == name)
    return "".join(source.lines[found.lineno - 1 : found.end_lineno])


def run_suites(suites: list[str], front: Path | None) -> list[str]:
    """How the tests of the standard library end for each suite, with changed modules in front of the original ones."""
    ended: list[str] = []
    for suite in suites:
        command = ["nice", sys.executable, "-m", "unittest", "-q", f"test.{suite}"]
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **({"PYTHONPATH": str(front)} if front else {})}
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, cwd="/", env=environment)
        except subprocess.TimeoutExpired:
            ended.append(f"{suite}: no end after {TIMEOUT} s")
            continue
        counts = re.findall(r"^Ran \d+ tests?", run.stderr, re.MULTILINE)
        ended.append(f"{suite}: {(counts or ['nothing'])[-1]}, {run.stderr.strip().splitlines()[-1]}")
    return ended


if __name__ == "__main__":
    main()
