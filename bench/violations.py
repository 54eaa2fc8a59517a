"""Real packages with their own suites: how many functions over a complexity of 10 the offline policy alone brings under it.

    python bench/violations.py [NAME[==VERSION] …] --folder DIR [--json FILE]

Each package is its source archive (pip), with an environment of its own that holds what its suite needs. `afresh run --type
fix_violation --model "offline?extract=yes"` does the work: agent, sandbox, tests after each change and verification are the
product's own. Counted by ruff before and after. Leaves a git repository a package, with a commit for what was kept.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from afresh.code.python_source import parse_python
from afresh.code.refactoring.suggest_refactorings import explain_missing_suggestion
from afresh.core.recognise_test_files import is_test_code
from applying import worked_directly
from archives import RECIPES, Recipe, changed_files, git, prepared, suite
from ceilings import check_books
from signatures import public_signatures

SOURCES = Path(__file__).parent.parent / "src"
RESULTS = Path(__file__).parent / "results" / "violations.json"
GOAL = "Bring every function in {code} down to a complexity of 10 without changing what it does"


@dataclass
class Left:
    path: str
    function: str
    before: int
    after: int
    state: str
    reason: str = ""


@dataclass
class Report:
    package: str
    way: str = "afresh run"
    version: str = ""
    code: str = ""
    deselected: str = ""
    suite_before: str = ""
    suite_after: str = ""
    before: int = 0
    after: int = 0
    kept: int = 0
    reverted: list[str] = field(default_factory=list)
    tests_changed: list[str] = field(default_factory=list)
    signatures_changed: list[str] = field(default_factory=list)
    violations: list[Left] = field(default_factory=list)
    new_violations: list[str] = field(default_factory=list)
    seconds: float = 0.0
    outcome: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=list(RECIPES))
    parser.add_argument("--folder", type=Path, required=True, help="where archives, environments and repositories are put")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--direct", action="store_true", help="the same suggestions in the same order, but no agent around them")
    options = parser.parse_args()
    reports: list[Report] = []
    for package in options.packages:
        reports.append(measured(package, options.folder.resolve(), 0 if options.direct else options.steps))
        print(line(reports[-1]), flush=True)
        options.json.parent.mkdir(exist_ok=True)
        options.json.write_text(json.dumps([asdict(report) for report in reports], indent=1) + "\n")
    print("\n".join(summary(reports)))


def measured(package: str, folder: Path, steps: int) -> Report:
    started = time.monotonic()
    name, _, version = package.partition("==")
    recipe = RECIPES.get(name, Recipe(name))
    report = Report(name, "afresh run" if steps else "directly", version, recipe.code, " ".join(recipe.arguments))
    try:
        root = prepared(name, version, recipe, folder)
    except (subprocess.CalledProcessError, OSError) as error:
        report.outcome = f"not installable here: {getattr(error, 'stderr', '') or error}"[-200:]
        return report
    report.version = root.name.rpartition("-")[2]
    report.suite_before, green = suite(root, recipe)
    if not green:
        report.suite_before, green = suite(root, recipe)  # a busy machine fails tests that wait; one that fails twice is red
    before = counted(root, recipe.code)
    signatures = public_signatures(root, recipe.code)
    report.before = report.after = len(before)
    if not green:
        report.outcome = f"its suite is not green here: {report.suite_before}"
        return report
    shown = worked(root, recipe, steps) if steps else worked_directly(root, recipe)
    git(root, "reset", "-q", "--hard", shown.get("commit") or "HEAD")
    finish(report, root, recipe, before, shown)
    kept = public_signatures(root, recipe.code)
    report.signatures_changed = sorted(name for name in {*signatures, *kept} if signatures.get(name) != kept.get(name))
    report.seconds = round(time.monotonic() - started, 1)
    return report


def worked(root: Path, recipe: Recipe, steps: int) -> dict[str, Any]:
    """The product itself, as a person would call it, with books of its own."""
    check = shlex.join(["python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *recipe.arguments])
    order = ["--type", "fix_violation", "-m", "offline?extract=yes", "--steps", str(steps), "-c", check, "--quiet", "--json"]
    afresh(root, "init")
    afresh(root, "run", GOAL.format(code=recipe.code), *order)
    check_books(books(root))
    tasks = json.loads(afresh(root, "list", "--json"))
    return json.loads(afresh(root, "show", tasks[-1]["task"], "--json"))


def books(root: Path) -> Path:
    return root.parent / f"{root.name}-books"


def afresh(root: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "XDG_DATA_HOME": str(books(root))}
    command = [sys.executable, "-m", "afresh.cli.main", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True).stdout


def finish(report: Report, root: Path, recipe: Recipe, before: dict[tuple[str, str], int], shown: dict[str, Any]) -> None:
    after = counted(root, recipe.code)
    report.suite_after, _ = suite(root, recipe)
    report.outcome, report.kept, report.after = shown.get("outcome", ""), shown.get("kept", 0), len(after)
    facts = [fact for fact in shown.get("facts", ()) if fact.get("kind") == "failed_approach"]
    report.reverted = [f"{fact['subject']}: {fact['text']}" for fact in facts]
    report.tests_changed = [path for path in changed_files(root) if is_test_code(path)]
    for (path, function), value in before.items():
        now = after.get((path, function), 10)
        state = "removed" if now <= 10 else "improved" if now < value else "left"
        reason = "" if state == "removed" else why(root, path, function, facts)
        report.violations.append(Left(path, function, value, now, state, reason))
    new = {key: value for key, value in after.items() if key not in before}
    report.new_violations = [f"{path} {function} {value}" for (path, function), value in new.items()]


def why(root: Path, path: str, name: str, facts: list[dict[str, Any]]) -> str:
    short = name.rpartition(".")[2]
    if any(f" of {name} in " in str(fact) or f" {short} " in str(fact) for fact in facts):
        return "tried, and a test of the package failed"
    source = parse_python(path, (root / path).read_text(encoding="utf-8"))
    function = next((one for one in source.functions if one.name == name), None) if source else None
    return explain_missing_suggestion(source, function) if source is not None and function is not None else "not found again"


def counted(root: Path, code: str) -> dict[tuple[str, str], int]:
    """By ruff, and the same by our own count, or it is an error of ours."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "check", "--isolated", "--no-cache", "--select", "C901", "--config", "lint.mccabe.max-complexity=10"]
    done = subprocess.run([*command, "--output-format", "json", code], cwd=root, capture_output=True, text=True)
    found: dict[tuple[str, int], int] = {}
    for one in json.loads(done.stdout):
        path = str(Path(one["filename"]).relative_to(root))
        if not is_test_code(path):
            found[path, one["location"]["row"]] = int(one["message"].split("(")[1].split()[0])
    ours: dict[tuple[str, int], tuple[str, int]] = {}
    for file in sorted((root / code).rglob("*.py")) if (root / code).is_dir() else [root / code]:
        path = str(file.relative_to(root))
        source = None if is_test_code(path) else parse_python(path, file.read_text(encoding="utf-8"))
        for one in source.violations if source else ():
            ours[path, one.node.lineno] = (one.name, one.complexity)
    assert {key: value for key, (_, value) in ours.items()} == found, "ruff and afresh count differently"
    return {(path, ours[path, row][0]): value for (path, row), value in found.items()}


def line(report: Report) -> str:
    gone = report.before - report.after
    share = f"{100 * gone / report.before:3.0f} %" if report.before else "   –"
    kept = f"{report.kept} kept, {len(report.reverted)} reverted"
    clean = "" if not (report.tests_changed or report.signatures_changed) else " TESTS OR SIGNATURES CHANGED"
    figures = f"{report.package:16} {report.before:3} -> {report.after:3} {share}  {kept:24} {report.seconds:6.0f} s"
    return f"{figures}  {report.suite_before} -> {report.suite_after or report.outcome}{clean}"


def summary(reports: list[Report]) -> list[str]:
    done = [report for report in reports if report.suite_after]
    before, after = sum(report.before for report in done), sum(report.after for report in done)
    lines = [f"{len(done)} packages: {before} -> {after}, {100 * (before - after) / max(1, before):.0f} % removed"]
    for report in done:
        for one in report.violations:
            if one.state != "removed":
                lines.append(f"  {report.package} {one.path} {one.function} {one.before} -> {one.after}: {one.reason}")
    return lines


if __name__ == "__main__":
    main()
