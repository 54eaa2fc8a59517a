"""Faults on a fleet of workers: is each task done once, with the same result, and how soon does another worker take over?

    python bench/fleet.py [--faults 50] [--seed 1] [--hosts 3] [--lease 20] [--broken fencing|lock|takeover]

Needs PostgreSQL from the wheel in requirements/dev.txt. With root each host has a network of its own, so that cables can be cut;
otherwise this fault is left out, and it is said. `--keep FOLDER` keeps the logs.
"""

import argparse
import contextlib
import json
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from fleets.campaign import KINDS, CampaignTerms, open_campaign
from publish import write_results


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--lease", type=float, default=20.0)
    parser.add_argument("--broken", default="", choices=("", "fencing", "lock", "takeover"))
    parser.add_argument("--only", default="", help="kinds of faults, with commas")
    parser.add_argument("--keep", type=Path, help="a folder that does not exist yet, for logs and events")
    parser.add_argument("--last", type=float, default=600.0, help="seconds that the tasks may take after the last fault")
    given = parser.parse_args()
    kinds = tuple(given.only.split(",")) if given.only else KINDS
    with contextlib.ExitStack() as ends:
        made = given.keep or ends.enter_context(tempfile.TemporaryDirectory(prefix="afresh-fleet-"))
        Path(made).mkdir(exist_ok=True)
        Path(made).chmod(0o755)
        terms = CampaignTerms(
            Path(made), given.seed, given.faults, given.hosts, given.tasks, lease_seconds=given.lease, kinds=kinds,
            broken=given.broken, last_seconds=given.last,
        )  # fmt: skip
        campaign = open_campaign(terms)
        try:
            verdict = campaign.run()
        finally:
            campaign.close()
    late = [seconds - given.lease for seconds in verdict.takeovers]
    result = {
        "seed": given.seed,
        "faults": campaign.hit,
        "networks": campaign.networks is not None,
        "broken": given.broken,
        "lease_seconds": given.lease,
        "takeover_seconds_median": statistics.median(verdict.takeovers) if verdict.takeovers else None,
        "takeover_after_lease_worst": max(late) if late else None,
        "sound": verdict.sound,
        **asdict(verdict),
    }
    print(json.dumps(result, indent=1))
    if not given.broken:
        write_results("fleet", result)
    return 0 if verdict.sound != bool(given.broken) else 1


if __name__ == "__main__":
    sys.exit(main())
