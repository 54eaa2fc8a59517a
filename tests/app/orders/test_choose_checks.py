"""What is said of a command that was tried is what happened."""

import pytest

from afresh.app.orders.choose_checks import describe_check_trial
from afresh.app.test_commands.try_commands import CommandTrial, TrialNote

TRIAL = CommandTrial("npm test", "package.json", holds=True, ran=True, tests=12, seconds=10.2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "runs: 12 tests pass"),
        ({"tests": 1}, "runs: 1 test passes"),
        ({"tests": 0}, "runs: exit 0"),
        ({"skipped": 4}, "runs: 8 of 12 tests pass, 4 are skipped"),
        ({"exit": 1, "failed": 1}, "runs: 1 of 12 tests fails"),
        ({"exit": 1, "failed": 3}, "runs: 3 of 12 tests fail"),
        ({"exit": 1}, "runs: not all 12 tests pass"),
        ({"exit": 124, "note": TrialNote.CUT_OFF}, "did not finish in 10 s: not tried to the end"),
        ({"ran": False}, "12 tests found, not run yet"),
    ],
)
def test_the_words_are_by_what_happened(change: dict[str, object], said: str) -> None:
    from dataclasses import replace

    assert describe_check_trial(replace(TRIAL, **change)) == said  # type: ignore[arg-type]
