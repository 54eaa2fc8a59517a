"""Which files are tried with the tests of the base, after changes of tests that were asked for."""

import pytest

from afresh.core.change import Change
from afresh.core.licences.licence_for_tests import EDITS, LicensedChange, Weakening, WeakeningWay
from afresh.verification.judge_test_changes import ChangedTests


def change(path: str, name: str) -> ChangedTests:
    return ChangedTests(((Weakening(path, WeakeningWay.ALTER, "altered", name), LicensedChange(EDITS, path)),))


@pytest.mark.parametrize(
    ("path", "name", "tried"),
    [
        ("tests/test_a.py", "test_one", False),
        ("tests/test_a.py", "TestA.test_one", False),
        ("tests/test_a.py", "TestA._all_parameters", True),
        ("tests/test_a.py", "helper", True),
        ("tests/conftest.py", "symlinks_supported", True),
        ("tests/unit/conftest.py", "helper", False),
    ],
)
def test_a_file_is_tried_as_delivered_if_others_use_what_was_changed(path: str, name: str, tried: bool) -> None:
    assert change(path, name).is_tried_as_delivered(Change("tests/test_a.py", "modified", 1, 1, "")) is tried
