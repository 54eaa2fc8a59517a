"""Real workers on a real PostgreSQL, and what happens to them: each task is done once, with the same result."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleets.campaign import Campaign, CampaignTerms, open_campaign

pytestmark = pytest.mark.journey

LEASE_SECONDS = 4.0


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "AFRESH_STORE"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # the campaign sets them; they are put back
    with tempfile.TemporaryDirectory(prefix="afresh-faults-") as made:
        Path(made).chmod(0o755)  # the server has a user of its own if the tests run as root
        yield Path(made)


def open_small(folder: Path, **more) -> Campaign:
    terms = CampaignTerms(folder, hosts=2, tasks=1, steps=1, lease_seconds=LEASE_SECONDS, networks=False, **more)
    return open_campaign(terms, lambda text: None)


def test_a_task_of_killed_and_stopped_workers_is_done_once(folder: Path) -> None:
    """The clocks of both are wrong. The first is killed in its call, the second is stopped in the same one until the first has
    started again and has taken over."""
    campaign = open_small(folder, call_seconds=2.0)
    try:
        for host, offset in zip(campaign.hosts, ("-86400", "3600"), strict=True):
            (folder / f"{host}.clock").write_text(offset)
        campaign.begin()
        campaign.take_from_two()
        verdict = campaign.end()
    finally:
        campaign.close()
    assert verdict.sound, verdict
    assert len(verdict.takeovers) == 2 and verdict.repeated_calls >= 1


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(2))
def test_random_faults_lose_and_repeat_nothing(folder: Path, seed: int) -> None:
    campaign = open_campaign(CampaignTerms(folder, seed=seed, faults=10, hosts=2, tasks=3, lease_seconds=LEASE_SECONDS), print)
    try:
        verdict = campaign.run()
    finally:
        campaign.close()
    assert verdict.sound, verdict


@pytest.mark.torture
@pytest.mark.parametrize("broken", ["lock", "takeover", "fencing"])
def test_the_harness_finds_what_is_broken(folder: Path, broken: str) -> None:
    terms = CampaignTerms(
        folder, faults=6, hosts=2, tasks=3, lease_seconds=LEASE_SECONDS, broken=broken, last_seconds=60, kinds=("kill", "stop")
    )
    campaign = open_campaign(terms, print)
    try:
        verdict = campaign.run()
    finally:
        campaign.close()
    assert not verdict.sound
