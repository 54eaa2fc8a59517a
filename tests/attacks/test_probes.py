"""A hundred attempts to get out, each played without the sandbox first: what does not succeed there proves nothing."""

import pytest
import run_probes as runner


@pytest.fixture(scope="module")
def played() -> frozenset[str]:
    """What succeeds on this machine, for this user, where nothing is confined."""
    return frozenset(name for name, came in runner.play("none").items() if came == runner.OUT)


def test_most_probes_succeed_without_a_sandbox(played: frozenset[str]) -> None:
    assert len(played) >= 60


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_what_succeeds_without_a_sandbox_fails_in_one(requires_sandbox, played: frozenset[str], level: str) -> None:
    requires_sandbox(level)
    """What Landlock does not hold is named, and nothing else is."""
    out = {name for name, came in runner.play(level).items() if came == runner.OUT}
    assert out == (runner.WEAKER & played if level == "landlock" else set())
