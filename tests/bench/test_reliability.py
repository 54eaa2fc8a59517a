"""The counts of docs/reliability.md come from these scripts; each finds a fault that was put in on purpose."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_no_parser_of_foreign_text_trips_over_damaged_inputs():
    fuzz = runpy.run_path(str(ROOT / "bench/fuzz.py"))
    counts, faults = fuzz["fuzz_parsers"](3_000, seed=7)
    assert faults == [] and min(counts.values()) >= 200


def test_the_fuzzer_finds_a_parser_with_a_fault():
    fuzz = runpy.run_path(str(ROOT / "bench/fuzz.py"))
    faults = fuzz["fuzz_parsers"](3_200, seed=7, twin=True)[1]
    assert faults and all(fault.startswith("twin: ValueError") for fault in faults)


COUNT = """
import sys
sys.path[:0] = [BENCH, BENCH + "/../src"]
from faults import damage, full, journal_damage, kills, model, power
from faults.count import Count, Unavailable
try:
    rows = FAULT.measure(Count(short=True, wanted={"damage": 2, "journal": 60}))
except Unavailable as fault:
    print("unavailable:", fault)
    sys.exit(77)
for row in rows:
    print(row)
sys.exit(any(row.failed for row in rows))
"""


@pytest.mark.torture
@pytest.mark.parametrize("fault", ["kills", "power", "full", "damage", "model"])
def test_nothing_is_lost_by_a_fault_and_its_broken_twin_is_caught(fault: str):
    count_fault(fault)


def test_no_damaged_journal_is_believed_and_the_twin_without_hashes_is_caught():
    count_fault("journal_damage")


def count_fault(fault: str) -> None:
    """In a process of its own, with mounts of its own where that is allowed."""
    code = COUNT.replace("BENCH", repr(str(ROOT / "bench"))).replace("FAULT", fault)
    apart = ["unshare", "--mount"] if os.geteuid() == 0 and fault in ("power", "full") else []
    told = subprocess.run([*apart, sys.executable, "-c", code], capture_output=True, text=True)
    if told.returncode == 77:
        pytest.skip(told.stdout.strip())
    assert told.returncode == 0, told.stdout + told.stderr


PREPARE = """
import sys
sys.path[:0] = [BENCH, BENCH + "/../src"]
from pathlib import Path
from faults.kills import STAGES, prepare_stage, try_twins
ready = prepare_stage(next(stage for stage in STAGES if stage.name == "queue: add"), Path(PLACE))
assert len(ready.writes) > 20 and all(try_twins(ready).values())
"""


def test_a_command_that_is_to_be_killed_does_something_and_its_broken_twins_are_caught(tmp_path: Path):
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    code = PREPARE.replace("BENCH", repr(str(ROOT / "bench"))).replace("PLACE", repr(str(tmp_path)))
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def test_the_bill_of_materials_names_every_pinned_package_with_its_hashes():
    told = subprocess.run([sys.executable, str(ROOT / "scripts/sbom")], capture_output=True, text=True, check=True)
    bill = json.loads(told.stdout)
    pins = [line for line in (ROOT / "requirements/runtime.txt").read_text().splitlines() if "==" in line]
    assert bill["bomFormat"] == "CycloneDX" and len(bill["components"]) == len(pins) > 20
    assert all(one["hashes"] and one["purl"].startswith("pkg:pypi/") for one in bill["components"])
    assert "://" not in told.stdout


def test_the_ways_in_name_tests_that_exist():
    page = (ROOT / "docs/internals/ways-in.md").read_text("utf-8")
    named = [word.strip("`") for line in page.splitlines() for word in line.split() if word.startswith("`tests/")]
    assert len(named) >= 20
    for one in named:
        file, _, test = one.partition("::")
        assert (ROOT / file).is_file() and f"def {test}(" in (ROOT / file).read_text("utf-8"), one


def test_each_of_the_forty_attacks_names_tests_that_exist():
    rows = re.findall(r"^\| (\d+) \| .*? \| (`.*) \|$", (ROOT / "docs/internals/attacks.md").read_text("utf-8"), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 41))
    for one in [test for _, tests in rows for test in re.findall(r"`([^`]+)`", tests)]:
        file, _, test = one.partition("::")
        assert f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8"), one
