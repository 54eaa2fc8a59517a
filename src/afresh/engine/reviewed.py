"""Which difference a review is about, and what is known of its files: told by the words of the order, read from git."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from afresh.domain.change import Change, new_lines, runs
from afresh.domain.fact import Look, Region
from afresh.domain.state import State
from afresh.ports import Past

RANGE = re.compile(r"(?<![\w./-])([\w./~^-]*[\w~^])(\.{2,3})([\w./~^-]*[\w~^])")
NAME = re.compile(r"(?<![\w./-])(HEAD(?:[~^]\d*)+|[0-9a-f]{7,40}|(?<=branch )[\w./-]*\w|(?<=branch [`'\"])[\w./-]*\w)(?![\w./-])")
LAST = re.compile(r"\b(?:last|latest|most recent) (?:(\d+|two|three|four|five) )?(?:commits?|changes?)\b", re.IGNORECASE)
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
MAIN = ("main", "master", "trunk", "origin/main", "origin/master")
COMMITS = 6
LINES = 400
"""Commits that are told of, and lines of one file's difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    before: str
    after: str
    said: str
    """As people would call it."""


def difference(goal: str, base: str, past: Past) -> Difference | None:
    """A range, the last commits, a commit or a branch that the order names; None when it names none. HEAD is where the task
    began, wherever the user's checkout is by now."""
    commit = partial(resolved, base=base, past=past)
    for match in RANGE.finditer(goal):
        one, other = commit(match[1]), commit(match[3])
        if one and other:
            return Difference(past.fork(one, other) or one if match[2] == "..." else one, other, match[0])
    if match := LAST.search(goal):
        many = NUMBERS.get(match[1] or "", 0) or int(match[1] or 1)
        if before := commit(f"HEAD~{many}"):
            return Difference(before, base, f"the last {many} commits" if many > 1 else "the last commit")
    for match in NAME.finditer(goal):
        if found := commit(match[1]):
            return of_one(match, found, base, past)
    return None


def resolved(name: str, base: str, past: Past) -> str:
    return past.commit(re.sub(r"^HEAD\b", base, name)) if base else ""


def of_one(match: re.Match[str], found: str, base: str, past: Past) -> Difference | None:
    """A commit against the one before it; a branch against where it left the main one."""
    if re.fullmatch(r"HEAD.*|[0-9a-f]{7,40}", match[1]):
        before = past.commit(f"{found}~1")
        return Difference(before, found, f"commit {match[1]}") if before else None
    trunk = next((commit for name in MAIN if name != match[1] and (commit := past.commit(name))), base)
    start = past.fork(trunk, found)
    return Difference(start, found, f"branch {match[1]}") if start and start != found else None


def reviewed(state: State, past: Past | None, wanted: frozenset[str]) -> list[Look]:
    if past is None or not wanted & {"diff", "history"}:
        return []
    found = difference(state.task.goal, state.base, past)
    changes = past.changes(found.before, found.after) if found else ()
    looks = list(diffs(changes, found.said)) if found and "diff" in wanted else []
    return [*looks, *(history(state, past, changes) if "history" in wanted else ())]


def diffs(changes: Sequence[Change], said: str) -> Iterator[Look]:
    """File by file, the product before its tests, without the lines that git puts above."""
    for change in sorted(changes, key=lambda one: (bool(re.search(r"(^|/|_)tests?[/_.]|\.(md|rst|txt)$", one.path)), one.path)):
        lines = change.patch.splitlines()
        first = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
        kept, more = lines[first : first + LINES], len(lines) - first - LINES
        text = "\n".join([*kept, *([f"… {more} more lines"] if more > 0 else [])]) or change.kind
        yield Look("diff", f"{change.path} ({change.kind}, +{change.added} −{change.removed}, {said})", text)


def history(state: State, past: Past, changes: Sequence[Change]) -> Iterator[Look]:
    paths = [change.path for change in changes] or re.findall(r"[\w./-]*\w\.\w+", state.task.goal)
    commits = past.log(state.base, paths, COMMITS) if state.base and paths else ()
    if commits:
        yield Look("history", ", ".join(paths[:3]), "\n".join(f"{one.id} {one.day} {one.subject[:100]}" for one in commits))


def about(state: State, past: Past | None) -> list[Region]:
    """Lines of the tree that the reviewed difference has written, if it leads to the tree as it was when the task began."""
    found = difference(state.task.goal, state.base, past) if past else None
    if not past or not found or found.after != state.base:
        return []
    return [region for change in past.changes(found.before, found.after) for region in written(change)]


def written(change: Change) -> Iterator[Region]:
    """Runs of lines that it added."""
    return (Region(change.path, start, end, 0) for start, end in runs(new_lines(change.patch)))
