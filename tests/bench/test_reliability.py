"""The counts of docs/internals/security.md come from these scripts; each finds a fault that was put in on purpose."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import fuzz

ROOT = Path(__file__).parents[2]

Record = Callable[[str, object], None]


@pytest.mark.journey
def test_no_parser_of_foreign_text_trips_over_damaged_inputs(record_property: Record):
    counts, faults = fuzz.fuzz_parsers(3_800, seed=7)
    record_property("counted", f"| damaged text for parsers | {sum(counts.values()):,} | {len(faults)} |")
    assert faults == [] and min(counts.values()) >= 200


@pytest.mark.journey
def test_the_fuzzer_finds_a_parser_with_a_fault():
    faults = fuzz.fuzz_parsers(4_000, seed=7, twin=True)[1]
    assert faults and all(fault.startswith("twin: ValueError") for fault in faults)


COUNT = """
import sys
sys.path[:0] = [BENCH, BENCH + "/../src"]
from faults import full, journal_damage, kills, power
from faults.count import Count, Unavailable
from faults.kill_stages import STAGES
count = Count(short=True, wanted=WANTED)
MORE = [[stage for stage in STAGES if stage.name == "queue: add"]] if WANTED.get("kills") else []
try:
    rows = FAULT.measure(count, *MORE)
except Unavailable as fault:
    print("unavailable:", fault)
    sys.exit(77)
for row in rows:
    print(row)
sys.exit(any(row.failed for row in rows))
"""


@pytest.mark.torture
@pytest.mark.parametrize("fault", ["kills", "power", "full"])
def test_nothing_is_lost_by_a_fault_and_its_broken_twin_is_caught(fault: str, record_property: Record):
    count_fault(record_property, fault)


@pytest.mark.journey
@pytest.mark.parametrize(("fault", "tries"), [("kills", 12), ("full", 0), ("journal_damage", 60)])
def test_in_short_nothing_is_lost_and_the_twin_is_caught(fault: str, tries: int, record_property: Record):
    """The same with few tries, of kills with one command. What was counted is printed when all tests have ended."""
    count_fault(record_property, fault, **{fault.removesuffix("_damage"): tries})


def count_fault(record: Record, fault: str, **wanted: int) -> None:
    """In a process of its own, with mounts of its own where that is allowed."""
    code = COUNT.replace("BENCH", repr(str(ROOT / "bench"))).replace("FAULT", fault).replace("WANTED", repr(wanted))
    apart = ["unshare", "--mount"] if os.geteuid() == 0 and fault in ("power", "full") else []
    told = subprocess.run([*apart, sys.executable, "-c", code], capture_output=True, text=True)
    if told.returncode == 77:
        pytest.skip(told.stdout.strip())
    record("counted", told.stdout.strip())
    assert told.returncode == 0, told.stdout + told.stderr


LATE_TWIN = """
import sys
sys.path[:0] = [BENCH, BENCH + "/../src"]
from contextlib import contextmanager
from pathlib import Path
from faults import power
from faults.count import Count

@contextmanager
def loop_device(top):
    yield "", top

cycles = iter(range(1000))
power.loop_device = loop_device
power.try_power_loss = lambda *given: power.Loss(5, 5, 4 if next(cycles) == 30 else 5, "")
tried, lost = power.try_power_losses(Count(), 12, durable=False)
assert (sum(tried.values()), lost) == (31, 1), (tried, lost)
tried, lost = power.try_power_losses(Count(), 12)
assert (sum(tried.values()), lost) == (12, 0), (tried, lost)
"""


NOTED_FAULT = """
import sys
sys.path[:0] = [BENCH, BENCH + "/../src"]
import fuzz
from faults.count import Count

fuzz.fuzz_parsers = lambda inputs, seed, twin=False: ({"a": inputs}, ["twin: ValueError"])
(row,) = fuzz.measure(Count(short=True))
assert row.failed and row.lost == 1
"""


def test_a_parser_that_trips_is_counted():
    told = subprocess.run(
        [sys.executable, "-c", NOTED_FAULT.replace("BENCH", repr(str(ROOT / "bench")))], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr


def test_a_twin_that_loses_something_now_and_then_is_tried_until_it_has():
    told = subprocess.run(
        [sys.executable, "-c", LATE_TWIN.replace("BENCH", repr(str(ROOT / "bench")))], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr


def test_the_bill_of_materials_names_every_pinned_package_with_its_hashes():
    told = subprocess.run([sys.executable, str(ROOT / "scripts/sbom")], capture_output=True, text=True, check=True)
    bill = json.loads(told.stdout)
    pins = [line for line in (ROOT / "requirements/runtime.txt").read_text().splitlines() if "==" in line]
    assert bill["bomFormat"] == "CycloneDX" and len(bill["components"]) == len(pins) > 20
    assert all(one["hashes"] and one["purl"].startswith("pkg:pypi/") for one in bill["components"])
    assert "://" not in told.stdout


def test_each_attack_and_each_way_in_names_tests_that_exist():
    listed = tomllib.loads((ROOT / "tests/attacks/attacks.toml").read_text("utf-8"))
    assert len(listed["attack"]) == 40 and len(listed["way_in"]) > 30
    for test in (test for row in (*listed["attack"], *listed["way_in"]) for test in row["tests"]):
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), test
