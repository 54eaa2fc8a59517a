"""Real packages with their own suites: how many functions over a complexity of 10 cuts bring under it, and what the suites say.

    python bench/violations.py NAME[==VERSION]:CODE[:NEEDS…] … --folder DIR [--cuts FILE]

Each package is its source archive (pip) with an environment that has pytest and what NEEDS names. CODE is the folder or file with
its code. The first suggestion for each function is applied under its default names; the suite runs before and after all of them.
"""

import argparse
import re
import subprocess
import sys
import tarfile
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
    suite_before: str = ""
    suite_after: str = ""
    left: dict[str, str] = field(default_factory=dict[str, str])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--folder", type=Path, required=True, help="where archives and environments are put")
    parser.add_argument("--cuts", type=Path, help="each changed function before and after, for a reader")
    options = parser.parse_args()
    reports: list[Report] = []
    for spec in options.packages:
        name, code, *needs = spec.split(":")
        reports.append(measure(name, code, needs, options.folder.resolve(), options.cuts))
        print(asdict(reports[-1]), flush=True)
        write_results("violations", {"packages": [asdict(report) for report in reports]})
    over, reached = sum(report.over for report in reports), sum(report.reached for report in reports)
    print(f"{reached} of {over} functions reached, {100 * reached / max(1, over):.0f} %")


def measure(name: str, code: str, needs: list[str], folder: Path, cuts: Path | None) -> Report:
    root = prepare(name, needs, folder)
    report = Report(root.name, suite_before=run_suite(root))
    begun = time.monotonic()
    files = sorted((root / code).rglob("*.py")) if (root / code).is_dir() else [root / code]
    texts = {str(file.relative_to(root)): file.read_bytes().decode() for file in files}
    for path in [path for path in texts if not is_test_code(path)]:
        source = parse_python(path, texts[path])
        for name in [one.name for one in source.violations] if source else []:
            report.over += 1
            reason = cut_function(texts, path, name, cuts)
            if reason:
                report.left[f"{path} {name}"] = reason
            else:
                report.reached += 1
        (root / path).write_bytes(texts[path].encode())
    report.seconds = round(time.monotonic() - begun, 1)
    report.suite_after = run_suite(root)
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


def prepare(name: str, needs: list[str], folder: Path) -> Path:
    """Unpack the archive as published, whatever an earlier run has left, beside the environment that its suite needs."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    if not list(home.glob("*.tar.gz")):
        run(home, sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "-d", ".", name)
    archive = next(home.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(home, filter="data")
    root = home / archive.name.removesuffix(".tar.gz")
    if not (home / "ready").exists():
        run(home, sys.executable, "-m", "venv", "venv")
        run(home, "venv/bin/python", "-m", "pip", "install", "-q", "pytest", "-e", str(root), *needs)
        (home / "ready").touch()
    return root


def run_suite(root: Path) -> str:
    """Return the last line of the package's own tests."""
    command = ["nice", str(root.parent / "venv/bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no end after {TIMEOUT} s"
    last = (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1]
    return re.sub(r" in [\d.]+s.*", "", last).strip("= ")


def run(place: Path, *command: str) -> None:
    subprocess.run(command, cwd=place, check=True, capture_output=True)


if __name__ == "__main__":
    main()
