"""The forty attacks of tests/attacks/attacks.toml, the probes of the sandbox and the cheats, as root and as an ordinary user
with bubblewrap and with Landlock. A skipped test is not counted as an attack that failed; a probe counts if it succeeds where
nothing is confined."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from faults.count import Count, Row, Twin, Unavailable

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/attacks"))
from run_probes import OUT as PROBE_OUT
from run_probes import WEAKER

ROOT = Path(__file__).parents[2]
ATTACKS = ROOT / "tests/attacks/attacks.toml"
CHEATS = ("scenarios/test_cheats.py::test_a_cheat_is_no_pass",)
CHEAT_TWINS = ("scenarios/test_cheats.py::test_with_its_guards_off_the_cheat_is_a_pass",)
ORDINARY_USER = 65_534
HIDE_BUBBLEWRAP = (sys.executable, str(ROOT / "scripts/run-without"), "bubblewrap", "--")
PLACES = {"bubblewrap": (), "Landlock": HIDE_BUBBLEWRAP}


def read_attacks() -> dict[int, tuple[str, ...]]:
    """The tests of each attack, by its number."""
    listed = tomllib.loads(ATTACKS.read_text("utf-8"))["attack"]
    return {number: tuple(attack["tests"]) for number, attack in enumerate(listed, 1)}


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
    rows += measure_probes(count)
    return rows if count.short else [*rows, measure_cheats(count)]


def measure_probes(count: Count) -> list[Row]:
    """By a Python that the user may run, from copies that the user may read."""
    rows = list[Row]()
    for user, who in ((0, "root"), (ORDINARY_USER, "an ordinary user")):
        with tempfile.TemporaryDirectory(prefix="afresh-probes-") as top:
            came = run_probes(Path(top), user)
        count.note("probes", user=who, came=came)
        played = {name for name, code in came["none"].items() if code == PROBE_OUT}
        for level in ("bubblewrap", "landlock"):
            out = {name for name, code in came[level].items() if code == PROBE_OUT}
            known = out & WEAKER if level == "landlock" else set[str]()
            note = f"named as weaker: {len(known)}" if known else ""
            twin = Twin("nothing is confined", len(came["none"]), len(played))
            rows.append(Row(f"probes as {who}, {level}", len(played), len(out - known), (twin,), note))
    return rows


def run_probes(top: Path, user: int) -> dict[str, dict[str, int]]:
    for source in ("src/afresh", "tests/attacks", "tests/sandbox/system_calls.txt"):
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        (top / source).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / source, top / source)
    for path in (top, *top.rglob("*")):
        path.chmod(0o755)
    drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    asked = "import subprocess, sys; sys.exit(sys.version_info < (3, 11) or subprocess.call([sys.executable, '-c', '']))"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        if os.path.exists(python) and not subprocess.run([*drop, python, "-c", asked], cwd="/", capture_output=True).returncode:
            break
    else:
        raise Unavailable("this user may not start Python")
    (top / "home").mkdir()
    os.chown(top / "home", user, user)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(top / "home"), "TMPDIR": str(top / "home")}
    runner = [*drop, python, "-B", str(top / "tests/attacks/run_probes.py"), str(top / "src")]
    done = subprocess.run(runner, cwd="/", env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"the probes did not run: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)


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
