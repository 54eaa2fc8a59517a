"""Goals with the files that they turned out to be about: commits of a repository, and orders written as people write them."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from afresh.core.recognise_test_files import is_test_code
from localizing.commits import CODE, LARGEST, TRAILER, Commit, Repository, Tree

GOALS = Path(__file__).with_name("goals.json")
FEWEST_WORDS, MOST_WANTED, MOST_CHANGED, BODY = 9, 6, 25, 3
"""Words of a subject that may name a capability; files of the product that a commit changes, and files in all; lines of its body
that belong to the goal."""
ELSEWHERE = re.compile(
    r"^(?:tests?|docs?|documents?|figures?|bench\w*|format|style|lint|typo|bump|release|changelog)\b", re.IGNORECASE
)
"""How subjects begin that are about something else than the product."""


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    goal: str
    before: str
    """The commit whose tree is asked."""
    wanted: tuple[str, ...]

    @property
    def held_out(self) -> bool:
        """By its name alone, so that it stays in its half when history grows."""
        return int(self.name[-1], 16) % 2 == 1


def tree(repository: Repository, commit: str) -> Tree:
    """All texts of a commit, not its code alone."""
    found: dict[str, str] = {}
    for line in repository.git("ls-tree", "-r", "-l", "-z", commit).split("\0")[:-1]:
        about, path = line.split("\t", 1)
        mode, _, blob, size = about.split()
        if mode.startswith("100") and int(size) <= LARGEST:
            found[path] = blob
    return Tree(repository, found)


def repository_at(place: Path) -> Repository:
    asked = subprocess.run(["git", "-C", str(place), "rev-parse", "--absolute-git-dir"], capture_output=True, text=True)
    if asked.returncode:
        raise SystemExit(f"{place} is no git repository: give the path of one")
    return Repository(Path(asked.stdout.strip()))


def from_history(repository: Repository, most: int, until: str = "HEAD") -> list[Case]:
    """The newest that fit, as many of either half. Of a clone without its history there are none."""
    halves: dict[bool, list[Case]] = {False: [], True: []}
    known = set(repository.git("rev-list", until, "--").split())
    for commit in repository.commits.values():
        if min(map(len, halves.values())) >= most:
            break
        if commit.id in known and (case := fitting(commit, repository)) and len(halves[case.held_out]) < most:
            halves[case.held_out].append(case)
    found = [*halves[False], *halves[True]]
    if min(map(len, halves.values())) < 2:
        shallow = repository.git("rev-parse", "--is-shallow-repository").strip() == "true"
        why = "a shallow clone: `git fetch --unshallow` brings it" if shallow else "too young, or its commits are of another kind"
        raise SystemExit(f"history is missing here: {len(repository.commits)} commits, {len(found)} of them fit ({why})")
    return found


def fitting(commit: Commit, repository: Repository) -> Case | None:
    """Not a merge, about the product, and changing one to six files of it that were there before."""
    subject, _, body = TRAILER.sub("", commit.message).strip().partition("\n")
    if len(commit.parents) != 1 or commit.parents[0] not in repository.commits or "[bot]" in commit.author:
        return None
    if len(subject.split()) < FEWEST_WORDS or ELSEWHERE.match(subject) or len(commit.changed) > MOST_CHANGED:
        return None
    known = repository.tree(commit.parents[0])
    inside = "src/" if any(path.startswith("src/") for path in known) else ""
    product = [path for path in commit.paths if path.endswith(CODE) and path.startswith(inside) and not is_test_code(path)]
    wanted = tuple(path for path in product if path in known)
    if not wanted or len(product) > MOST_WANTED:
        return None
    lines = [line for line in body.splitlines() if line.strip()][:BODY]
    return Case(commit.id[:12], "\n".join([subject, *lines]), commit.parents[0], wanted)


def from_orders(repository: Repository, until: str = "HEAD") -> list[Case]:
    """Asked of that tree, as far as what they are about is there; every second one is held out."""
    now = repository.git("rev-parse", until).strip()
    known, orders = tree(repository, now).blobs, json.loads(GOALS.read_text())
    return [
        Case(f"order-{number:x}", one["goal"], now, tuple(one["wanted"]))
        for number, one in enumerate(orders)
        if all(path in known for path in one["wanted"])
    ]
