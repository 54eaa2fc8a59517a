"""How far a test run is, from what it has printed so far."""

import pytest

from afresh.outputs.count_finished_tests import FinishedTestCounter, FinishedTests

PYTEST = b"." * 70 + b"F. [ 50%]\n" + b"." * 71 + b"s [100%]\n=== 2 failed, 142 passed in 3.21s ===\n"
LONG_PYTEST = b"collected 3 items\n\ntests/test_a.py .F                [ 66%]\ntests/test_b.py .      [100%]\n"
VERBOSE = (
    b"collected 3 items\n\nt.py::test_a PASSED   [ 33%]\nt.py::test_b[x y] FAILED [ 66%]\nt.py::test_c SKIPPED (why) [100%]\n"
)
UNITTEST = b"test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... FAIL\n\n=====\nRan 2 tests in 0.1s\n"
CARGO = b"running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n"
TAP = b"TAP version 13\n1..2\nok 1 - one\nnot ok 2 - two\n"


def counted(output: bytes, size: int) -> list[FinishedTests]:
    told: list[FinishedTests] = []
    hear = FinishedTestCounter(told.append)
    for start in range(0, len(output), size):
        hear(output[start : start + size])
    return told


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("output", "last"),
    [
        (PYTEST, FinishedTests(144, 0, 100)),
        (LONG_PYTEST, FinishedTests(3, 3, 100)),
        (VERBOSE, FinishedTests(3, 3)),
        (UNITTEST, FinishedTests(2)),
        (CARGO, FinishedTests(2, 2)),
        (TAP, FinishedTests(2, 2)),
    ],
    ids=["pytest -q", "pytest", "pytest -v", "unittest -v", "cargo", "tap"],
)
def test_tests_are_counted_however_the_output_arrives(output: bytes, last: FinishedTests, size: int) -> None:
    told = counted(output, size)
    assert told[-1] == last
    assert [one.done for one in told] == sorted(one.done for one in told), "it never goes back"


@pytest.mark.parametrize(
    "output", [b"Compiling x v0.1\nwarning: unused\n", b"yz" * 50_000, b"\xff\xfe\x00"], ids=["text", "long", "bytes"]
)
def test_other_output_counts_nothing(output: bytes) -> None:
    assert counted(output, 100) == []
