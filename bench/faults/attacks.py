"""The forty attacks of docs/internals/attacks.md and the cheats, tried by their tests as root and as an ordinary user, with
bubblewrap and, where it is hidden, with Landlock. A test that is skipped is not counted as an attack that failed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from faults.count import Count, Row, Twin, Unavailable

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/internals/attacks.md"
ROW = re.compile(r"^\| (\d+) \| (?P<what>.*?) \| (?P<tests>`.*?) \|$", re.MULTILINE)
CHEATS = ("scenarios/test_cheats.py::test_a_cheat_is_no_pass",)
CHEAT_TWINS = ("scenarios/test_cheats.py::test_with_its_guards_off_the_cheat_is_a_pass",)
ORDINARY_USER = 65_534
HIDE_BUBBLEWRAP = (sys.executable, str(ROOT / "scripts/run-without"), "bubblewrap", "--")
PLACES = {"bubblewrap": (), "Landlock": HIDE_BUBBLEWRAP}


def read_attacks() -> dict[int, tuple[str, ...]]:
    """The tests of each attack, by its number."""
    found = {int(row[1]): tuple(re.findall(r"`([^`]+)`", row["tests"])) for row in ROW.finditer(PAGE.read_text("utf-8"))}
    assert sorted(found) == list(range(1, 41)), sorted(found)
    return found


def run_tests(tests: Sequence[str], before: Sequence[str], user: int) -> dict[str, str]:
    """What came of each test, by its name without parameters: passed, skipped or failed; the worst of several."""
    with tempfile.TemporaryDirectory(prefix="afresh-attacks-") as top:
        os.chmod(top, 0o755)
        home = Path(top, "home")
        home.mkdir()
        os.chown(home, user, user)
        report = home / "report.xml"
        drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        options = ["-q", "-p", "no:cacheprovider", f"--basetemp={home}/base", f"--junitxml={report}", "-o", "junit_family=xunit1"]
        command = [*drop, *before, sys.executable, "-m", "pytest", *options, *(f"tests/{test}" for test in tests)]
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if not report.exists():
            raise Unavailable(f"the tests did not run: {' '.join((told.stdout + told.stderr).split())[-200:]}")
        return read_report(report)


def read_report(report: Path) -> dict[str, str]:
    order, worst = ("skipped", "passed", "failed"), dict[str, str]()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{(case.get('file') or '').removeprefix('tests/')}::{(case.get('name') or '').partition('[')[0]}"
        came = "failed" if case.find("failure") is not None or case.find("error") is not None else "passed"
        came = "skipped" if case.find("skipped") is not None else came
        worst[name] = max(worst.get(name, "skipped"), came, key=order.index)
    return worst


def measure(count: Count) -> list[Row]:
    if os.geteuid() or not shutil.which("setpriv"):
        raise Unavailable("only root can try them as two users")
    attacks = read_attacks()
    tests = sorted({test for chosen in attacks.values() for test in chosen})
    rows = list[Row]()
    for user, who in ((0, "root"), (ORDINARY_USER, "an ordinary user")):
        for level, before in PLACES.items():
            try:
                came = run_tests(tests, before, user)
            except Unavailable as fault:  # this user may not start Python, for instance
                rows.append(Row(f"attacks as {who}, {level}", 0, 0, note=f"can't be tried here: {fault}"))
                continue
            count.note("attacks", user=who, level=level, tests=came)
            tried = [
                number for number, chosen in attacks.items() if any(came.get(test) not in (None, "skipped") for test in chosen)
            ]
            out = [number for number, chosen in attacks.items() if any(came.get(test) == "failed" for test in chosen)]
            skipped = sorted(set(attacks) - set(tried))
            rows.append(Row(f"attacks as {who}, {level}", len(tried), len(out), note=describe(out, skipped)))
    return rows if count.short else [*rows, measure_cheats(count)]


def measure_cheats(count: Count) -> Row:
    """Each cheat is a parameter of one test; its twin has the guards off."""
    came = {name: run_cases(tests) for name, tests in {"guarded": CHEATS, "unguarded": CHEAT_TWINS}.items()}
    (tried, failed), (again, missed) = came["guarded"], came["unguarded"]
    count.note("attacks", cheats=tried, passed=failed)
    return Row("cheats", tried, failed, (Twin("guards off", again, again - missed),))


def run_cases(tests: Sequence[str]) -> tuple[int, int]:
    """How many cases of a test ran, and how many failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{test}" for test in tests)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", told)}
    failed = numbers.get("failed", 0) + numbers.get("error", 0)
    return numbers.get("passed", 0) + failed, failed


def describe(out: Sequence[int], skipped: Sequence[int]) -> str:
    parts = {"got out": out, "skipped": skipped}
    return "; ".join(f"{word}: {', '.join(map(str, numbers))}" for word, numbers in parts.items() if numbers)
