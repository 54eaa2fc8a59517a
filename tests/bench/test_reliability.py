"""The counts of docs/reliability.md come from these scripts; each finds a fault that was put in on purpose."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_parser_of_foreign_text_trips_over_damaged_inputs():
    fuzz = runpy.run_path(str(ROOT / "bench/fuzz.py"))
    counts, faults = fuzz["fuzz_parsers"](1_600, seed=7)
    assert faults == [] and min(counts.values()) >= 200


def test_the_fuzzer_finds_a_parser_with_a_fault():
    fuzz = runpy.run_path(str(ROOT / "bench/fuzz.py"))
    faults = fuzz["fuzz_parsers"](1_800, seed=7, twin=True)[1]
    assert faults and all(fault.startswith("twin: ValueError") for fault in faults)


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
