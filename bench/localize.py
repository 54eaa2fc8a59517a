"""Given only a commit's message, are the files that it changed among the first ten? Beside aider's map and plain BM25 over files.

    python bench/localize.py [NAME …] [--repos FOLDER] [--dev] [--commits N] [--envs FOLDER] [--json]

Every commit is asked of the tree before it, and history ends there too. NAME.git in FOLDER is a repository with its history; what
is missing there is cloned. With --dev: the repositories that the weights were found on, which no figure is reported from.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from environments import environment
from localizing.commits import Case, Repository, cases
from stores.player import Player

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "localize.json"
CONTESTANT = HERE / "localizing" / "contestant.py"
TOP, HISTORY = 10, 2_000
COMMITS, LARGE, COMMITS_OF_LARGE = 60, 2_000, 20
"""Commits of each repository, and of one with more files of code than `LARGE`: aider takes some ten seconds for each there."""
TEST = {
    "requests": "psf", "flask": "pallets", "pytest": "pytest-dev", "httpx": "encode", "sqlparse": "andialbrecht",
    "scrapy": "scrapy", "django": "django", "gin": "gin-gonic", "zod": "colinhacks",
}  # fmt: skip
DEV = {
    "click": "pallets", "boltons": "mahmoud", "jinja": "pallets", "attrs": "python-attrs", "marshmallow": "marshmallow-code",
    "aiohttp": "aio-libs", "celery": "celery", "sphinx": "sphinx-doc", "cobra": "spf13", "express": "expressjs",
}  # fmt: skip
PEERS = {"aider": ("aider_map", ["aider-chat==0.86.2"]), "BM25": ("plain_bm25", ["rank_bm25==0.2.2"])}
OURS, ALONE = "afresh", "afresh, no history"


@dataclass
class Checkout:
    """The code of one commit after the other in one folder: only what differs is written."""

    folder: Path
    repository: Repository
    held: dict[str, str] = field(default_factory=dict[str, str])

    def move(self, commit: str) -> tuple[list[str], list[str]]:
        """Paths that have changed, and those that are gone."""
        tree = self.repository.tree(commit)
        changed = [path for path, blob in tree.items() if self.held.get(path) != blob]
        gone = [path for path in self.held if path not in tree]
        for path in gone:
            (self.folder / path).unlink()
        for path in changed:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(self.repository.blob(tree[path]).encode())
        self.held = tree
        return changed, gone


@dataclass
class Tally:
    recalls: list[float] = field(default_factory=list[float])
    ranks: list[int] = field(default_factory=list[int])
    """Of the first wanted file, from 1; 0 when it is not among those asked for."""
    seconds: list[float] = field(default_factory=list[float])

    def add(self, found: Sequence[str], wanted: Sequence[str], seconds: float) -> None:
        self.recalls.append(len(set(found[:TOP]) & set(wanted)) / len(wanted))
        self.ranks.append(next((place for place, path in enumerate(found, 1) if path in wanted), 0))
        self.seconds.append(seconds)

    def figures(self) -> dict[str, float]:
        return {
            "recall": round(mean(self.recalls), 4),
            "hit": round(mean(recall > 0 for recall in self.recalls), 4),
            "mrr": round(mean(1 / rank if rank else 0.0 for rank in self.ranks), 4),
            "cpu_seconds": round(mean(self.seconds), 3),
        }


def localized(name: str, repository: Repository, players: dict[str, Player], most: int) -> dict[str, Any]:
    """All contestants on the same commits of one repository, the oldest first, in turns."""
    began = time.monotonic()
    large = len(repository.tree("HEAD")) > LARGE
    chosen = cases(repository, min(most, COMMITS_OF_LARGE) if large else most)
    tallies = {each: Tally() for each in (OURS, ALONE, *PEERS)}
    with tempfile.TemporaryDirectory() as place:
        checkout = Checkout(Path(place), repository)
        for player in players.values():
            player.ask("start", place)
        for case in reversed(chosen):
            answer(case, checkout, players, tallies)
    return {
        "repository": name,
        "files": len(checkout.held),
        "commits": len(chosen),
        "newest": chosen[0].commit.id,
        "oldest": chosen[-1].commit.id,
        "wanted": round(mean(len(case.wanted) for case in chosen), 2),
        "named": round(mean(case.named for case in chosen), 3),
        "seconds": round(time.monotonic() - began),
        "contestants": {each: tally.figures() for each, tally in tallies.items()},
        "missed": [[case.commit.id[:12], *(round(tally.recalls[-1 - number], 2) for tally in tallies.values())]
                   for number, case in enumerate(chosen) if tallies[OURS].recalls[-1 - number] < 1],
    }  # fmt: skip


def answer(case: Case, checkout: Checkout, players: dict[str, Player], tallies: dict[str, Tally]) -> None:
    changed, gone = checkout.move(case.before)
    history = [(past.message, past.paths, past.when) for past in checkout.repository.history(case.before, HISTORY)]
    for name, player in players.items():
        told = player.ask("rank", changed, gone, case.text, history if name == OURS else [], 3 * TOP)
        tallies[name].add(told["found"], case.wanted, told["seconds"])
    told = players[OURS].ask("rank", [], [], case.text, [], 3 * TOP)
    tallies[ALONE].add(told["found"], case.wanted, told["seconds"])


def repository_at(folder: Path, owner: str, name: str) -> Repository:
    place = folder / f"{name}.git"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", f"https://github.com/{owner}/{name}", str(place)], check=True)
    return Repository(place)


def table(rows: Sequence[dict[str, Any]]) -> str:
    names = list(rows[0]["contestants"])
    lines = [
        "| repository | files | commits | message names one | " + " | ".join(names) + " |",
        "|---|---:|---:|---:" + "|---:" * len(names) + "|",
    ]
    for row in rows:
        cells = [" / ".join(f"{row['contestants'][name][key]:.2f}" for key in ("recall", "hit", "mrr")) for name in names]
        about = f"| {row['repository']} | {row['files']:,} | {row['commits']} | {row['named']:.0%} | "
        lines.append(about + " | ".join(cells) + " |")
    return "\n".join([*lines, "", "Each: recall@10 / hit@10 / MRR."])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these repositories")
    parser.add_argument("--repos", type=Path, default=HERE.parent / "build" / "repositories")
    parser.add_argument("--dev", action="store_true", help="those that the weights were found on")
    parser.add_argument("--commits", type=int, default=COMMITS)
    parser.add_argument("--envs", type=Path, default=HERE.parent / "build" / "envs")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    known = DEV if given.dev else TEST
    chosen = given.names or list(known)
    began, rows = time.time(), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as place:
        pythons = {name: environment(given.envs, name.lower(), packages) for name, (_, packages) in PEERS.items()}
        players = {OURS: Player(sys.executable, "afresh_ranking", Path(place), CONTESTANT)}
        players |= {name: Player(pythons[name], module, Path(place), CONTESTANT) for name, (module, _) in PEERS.items()}
        versions = {name: player.ask("version") for name, player in players.items()}
        try:
            for name in chosen:
                repository = repository_at(given.repos, known[name], name)
                rows.append(localized(name, repository, players, given.commits))
                repository.close()
                print(table(rows[-1:]).splitlines()[2], f"{rows[-1]['seconds']} s", file=sys.stderr, flush=True)
        finally:
            for player in players.values():
                player.end()
    result = {
        "command": "python bench/localize.py" + " --dev" * given.dev,
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": versions,
        "seconds": round(time.time() - began),
        "repositories": rows,
    }
    if not given.dev and not given.names and given.commits == COMMITS:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1) if given.json else table(rows))


if __name__ == "__main__":
    main()
