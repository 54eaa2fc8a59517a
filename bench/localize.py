"""Given only a commit's message, are the files that it changed among the first ten? With and without history, beside BM25.

    python bench/localize.py [NAME …] [--repos FOLDER] [--dev] [--commits N]

Every commit is asked of the tree before it, and history ends there too. NAME.git in FOLDER is a repository with its history; what
is missing there is cloned. With --dev: the repositories that the weights were found on, which no figure is reported from.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from statistics import mean
from typing import Any

from afresh.code.index.code_index import refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.code.ranking.query import RankingQuery
from afresh.code.ranking.score_files import score_files
from afresh.core.commit import NO_COMMIT_HISTORY, CommitFiles, CommitHistory
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from commits import TRAILER, Case, Repository, cases
from publish import write_results

TOP, HISTORY = 10, 2_000
COMMITS, LARGE, COMMITS_OF_LARGE = 60, 2_000, 20
"""Commits of each repository, and of one with more files of code than `LARGE`."""
TEST = {
    "requests": "psf", "flask": "pallets", "pytest": "pytest-dev", "httpx": "encode", "sqlparse": "andialbrecht",
    "scrapy": "scrapy", "django": "django", "gin": "gin-gonic", "zod": "colinhacks",
}  # fmt: skip
DEV = {
    "click": "pallets", "boltons": "mahmoud", "jinja": "pallets", "attrs": "python-attrs", "marshmallow": "marshmallow-code",
    "aiohttp": "aio-libs", "celery": "celery", "sphinx": "sphinx-doc", "cobra": "spf13", "express": "expressjs",
}  # fmt: skip
BM25_SATURATION, BM25_LENGTH = 1.5, 0.75


@dataclass
class CommitFolder:
    """Files of one commit after the other, straight from git's objects, as the port `Files`."""

    repository: Repository
    blobs: dict[str, str] = field(default_factory=dict[str, str])

    def read(self, path: str) -> str:
        return self.repository.blob(self.blobs[path])

    def write(self, path: str, text: str) -> None:
        raise PermissionError("a commit does not change")

    def paths(self) -> Sequence[str]:
        return sorted(self.blobs)

    def stamps(self) -> Mapping[str, str]:
        return self.blobs


@dataclass
class Okapi:
    """BM25 over whole files with their paths, in the words that we look up by. Words of a file are counted once."""

    files: CommitFolder
    counted: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def rank(self, text: str) -> list[str]:
        for path, blob in self.files.blobs.items():
            if f"{path} {blob}" not in self.counted:
                self.counted[f"{path} {blob}"] = Counter(list_words(f"{path}\n{self.files.read(path)}"))
        held = {path: self.counted[f"{path} {blob}"] for path, blob in self.files.blobs.items()}
        usual, scores = mean(words.total() for words in held.values()), Counter[str]()
        for word in list_words(text):
            having = [path for path, words in held.items() if word in words]
            rarity = log(1 + (len(held) - len(having) + 0.5) / (len(having) + 0.5))
            for path in having:
                times, size = held[path][word], held[path].total() / usual
                worth = times * (BM25_SATURATION + 1) / (times + BM25_SATURATION * (1 - BM25_LENGTH + BM25_LENGTH * size))
                scores[path] += rarity * worth
        return [path for path, _ in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]


def list_words(text: str) -> list[str]:
    return [stem_word(word) for word in drop_stop_words(split_words(text))]


@dataclass
class Tally:
    recalls: list[float] = field(default_factory=list[float])
    ranks: list[int] = field(default_factory=list[int])
    """Of the first wanted file, from 1; 0 when it is not among those asked for."""
    seconds: list[float] = field(default_factory=list[float])

    def add(self, found: Sequence[str], wanted: Sequence[str], seconds: float) -> None:
        self.recalls.append(len(set(found[:TOP]) & set(wanted)) / len(wanted))
        self.ranks.append(next((place for place, path in enumerate(found[: 3 * TOP], 1) if path in wanted), 0))
        self.seconds.append(seconds)

    def figures(self) -> dict[str, float]:
        return {
            "recall": round(mean(self.recalls), 4),
            "hit": round(mean(recall > 0 for recall in self.recalls), 4),
            "mrr": round(mean(1 / rank if rank else 0.0 for rank in self.ranks), 4),
            "cpu_seconds": round(mean(self.seconds), 3),
        }


def measure_repository(repository: Repository, most: int) -> dict[str, Any]:
    """The same commits for all, the oldest first."""
    large = len(repository.tree("HEAD")) > LARGE
    chosen = cases(repository, min(most, COMMITS_OF_LARGE) if large else most)
    files, tallies = CommitFolder(repository), {name: Tally() for name in ("afresh", "no_history", "bm25")}
    store, okapi = MemoryCodeStore(), Okapi(files)
    for case in reversed(chosen):
        files.blobs = repository.tree(case.before)
        code, history = refresh_code_index(files, "tree", store), read_history(repository, case)
        answers = {
            "afresh": lambda code=code, case=case, history=history: score_files(
                code, RankingQuery(case.text, (), history)
            ).best(),
            "no_history": lambda code=code, case=case: score_files(code, RankingQuery(case.text, (), NO_COMMIT_HISTORY)).best(),
            "bm25": lambda case=case: okapi.rank(case.text),
        }
        for name, answer in answers.items():
            began = time.process_time()
            found = answer()
            tallies[name].add(found, case.wanted, time.process_time() - began)
    return {
        "files": len(files.blobs),
        "commits": len(chosen),
        "newest": chosen[0].commit.id,
        "oldest": chosen[-1].commit.id,
        "named": round(mean(case.named for case in chosen), 3),
        **{name: tally.figures() for name, tally in tallies.items()},
    }


def read_history(repository: Repository, case: Case) -> CommitHistory:
    past = repository.history(case.before, HISTORY)
    return CommitHistory(case.before, tuple(CommitFiles(TRAILER.sub("", one.message), one.paths, one.when) for one in past))


def open_repository(folder: Path, owner: str, name: str) -> Repository:
    place = folder / f"{name}.git"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", f"https://github.com/{owner}/{name}", str(place)], check=True)
    return Repository(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only these repositories; nothing is written")
    parser.add_argument("--repos", type=Path, default=Path(__file__).parents[1] / "build" / "repositories")
    parser.add_argument("--dev", action="store_true", help="those that the weights were found on")
    parser.add_argument("--commits", type=int, default=COMMITS)
    given = parser.parse_args()
    known, rows = DEV if given.dev else TEST, dict[str, Any]()
    print("| repository | files | commits | afresh | no history | BM25 |\n|---|---:|---:|---:|---:|---:|")
    for name in given.names or known:
        repository = open_repository(given.repos, known.get(name, ""), name)
        rows[name] = row = measure_repository(repository, given.commits)
        repository.close()
        cells = [
            " / ".join(f"{row[who][key]:.2f}" for key in ("recall", "hit", "mrr")) for who in ("afresh", "no_history", "bm25")
        ]
        print(f"| {name} | {row['files']:,} | {row['commits']} | {' | '.join(cells)} |", flush=True)
    print("\nEach: recall@10 / hit@10 / MRR.", file=sys.stderr)
    if not given.dev and not given.names and given.commits == COMMITS:
        write_results("localize", {"repositories": rows})


if __name__ == "__main__":
    main()
