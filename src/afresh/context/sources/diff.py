"""Which difference a review is about, and what is known of its files: told by the words of the order, read from git."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from afresh.context.section import SectionDraft, draft_always_section
from afresh.core.change import Change, find_added_lines, group_by_folder, group_consecutive
from afresh.core.context_item import Diff, Item, Note, diff_from_change
from afresh.core.line_region import Region
from afresh.core.recognise_test_files import is_in_test_folder, is_test_code
from afresh.core.state import State
from afresh.core.text import format_count
from afresh.core.tokens import TokenCounter
from afresh.core.truncate import find_longest_fitting, join_first, truncate_text
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.workspace import GitHistory

MAX_DIFF_LINES = 400  # of one file
MAX_COMMITS = 6

COMMIT_RANGE = re.compile(r"(?<![\w./-])([\w./~^-]*[\w~^])(\.{2,3})([\w./~^-]*[\w~^])")
COMMIT_OR_BRANCH = re.compile(
    r"(?<![\w./-])(HEAD(?:[~^]\d*)+|[0-9a-f]{7,40}|(?<=branch )[\w./-]*\w|(?<=branch [`'\"])[\w./-]*\w)(?![\w./-])"
)
LAST_COMMITS = re.compile(r"\b(?:last|latest|most recent) (?:(\d+|two|three|four|five) )?(?:commits?|changes?)\b", re.IGNORECASE)
NUMBER_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5}
MIN_LAST_LOOK_LINES, MAX_LAST_LOOK_LINES = 12, 160
MAX_LISTED_FILES = 8
MAX_LAST_LOOK_TOKENS = 1_500
LAST_LOOK_FRAME_TOKENS = 20
"""Lines of the last look before `complete`, in all and of one file; files that are only named there; and tokens that are kept
free, since a whole may count for more than its parts."""
NO_CODE = re.compile(r"(\.(md|rst|txt|ya?ml|toml|json|xml|csv|cfg|ini|lock|po)|(^|/)[A-Z]+)$")
MAIN_BRANCHES = ("main", "master", "trunk", "origin/main", "origin/master")


@dataclass(frozen=True, slots=True)
class ReviewedDiff:
    before: str
    after: str
    said: str
    """As people would call it."""


def find_reviewed_diff(goal: str, base: str, past: GitHistory) -> ReviewedDiff | None:
    """A range, the last commits, a commit or a branch that the order names; None when it names none. HEAD is where the task
    began, wherever the user's checkout is by now."""
    commit = partial(_resolve_commit, base=base, past=past)
    for match in COMMIT_RANGE.finditer(goal):
        one, other = commit(match[1]), commit(match[3])
        if one and other:
            return ReviewedDiff(past.fork(one, other) or one if match[2] == "..." else one, other, match[0])
    if match := LAST_COMMITS.search(goal):
        many = NUMBER_WORDS.get(match[1] or "", 0) or int(match[1] or 1)
        if before := commit(f"HEAD~{many}"):
            return ReviewedDiff(before, base, f"the last {many} commits" if many > 1 else "the last commit")
    for match in COMMIT_OR_BRANCH.finditer(goal):
        if found := commit(match[1]):
            return _find_diff_of_name(match, found, base, past)
    return None


def _resolve_commit(name: str, base: str, past: GitHistory) -> str:
    return past.commit(re.sub(r"^HEAD\b", base, name)) if base else ""


def _find_diff_of_name(match: re.Match[str], found: str, base: str, past: GitHistory) -> ReviewedDiff | None:
    """A commit against the one before it; a branch against where it left the main one."""
    if re.fullmatch(r"HEAD.*|[0-9a-f]{7,40}", match[1]):
        before = past.commit(f"{found}~1")
        return ReviewedDiff(before, found, f"commit {match[1]}") if before else None
    trunk = next((commit for name in MAIN_BRANCHES if name != match[1] and (commit := past.commit(name))), base)
    start = past.fork(trunk, found)
    return ReviewedDiff(start, found, f"branch {match[1]}") if start and start != found else None


def gather_review_diff(state: State, past: GitHistory | None, wanted: frozenset[str]) -> list[Item]:
    if past is None or not wanted & {"diff", "history"}:
        return []
    found = find_reviewed_diff(state.task.goal, state.workspace.base, past)
    changes = past.changes(found.before, found.after) if found else ()
    looks = list(_list_diff_items(changes, found.said, MAX_DIFF_LINES)) if found and "diff" in wanted else []
    return [*looks, *(_list_commit_items(state, past, changes) if "history" in wanted else ())]


def _list_diff_items(changes: Sequence[Change], said: str, most: int) -> Iterator[Diff]:
    """File by file, without the lines that git puts above: code of the product, then of tests, then what is no code."""
    for change in sorted(changes, key=_rank_file):
        lines = change.patch.splitlines()
        first = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
        more = len(lines) - first - most
        kept = [*lines[first : first + most], f"… {more} more lines"] if more > 1 else lines[first:]
        text = "\n".join(kept) or change.kind
        yield Diff("diff", change.path, change.added, change.removed, text, change=change.kind, commits=said)


def _rank_file(change: Change) -> tuple[bool, bool, str]:
    path = change.path
    return bool(NO_CODE.search(path)), is_test_code(path) or is_in_test_folder(path), path


def _list_commit_items(state: State, past: GitHistory, changes: Sequence[Change]) -> Iterator[Note]:
    paths = [change.path for change in changes] or re.findall(r"[\w./-]*\w\.\w+", state.task.goal)
    commits = past.log(state.workspace.base, paths, MAX_COMMITS) if state.workspace.base and paths else ()
    if commits:
        yield Note("history", ", ".join(paths[:3]), "\n".join(f"{one.id} {one.day} {one.subject[:100]}" for one in commits))


def find_reviewed_regions(state: State, past: GitHistory | None) -> list[Region]:
    """Lines of the tree that the reviewed difference has written, if it leads to the tree as it was when the task began."""
    found = find_reviewed_diff(state.task.goal, state.workspace.base, past) if past else None
    if not past or not found or found.after != state.workspace.base:
        return []
    return [region for change in past.changes(found.before, found.after) for region in _list_added_regions(change)]


def _list_added_regions(change: Change) -> Iterator[Region]:
    """Runs of lines that it added."""
    return (Region(change.path, start, end, 0) for start, end in group_consecutive(find_added_lines(change.patch)))


def list_written_regions(changes: Sequence[Change]) -> Iterator[Region]:
    """Just the lines that the task has written."""
    return (replace(region, changed=True) for change in changes for region in _list_added_regions(change))


LAST_LOOK_KIND = "last look"


def gather_last_look(changes: Sequence[Change]) -> Iterator[Diff]:
    """All that the task has changed, the product before its tests."""
    yield from (replace(diff, kind=LAST_LOOK_KIND) for diff in _list_diff_items(changes, "", MAX_LAST_LOOK_LINES))


def render_last_look(memory: GatheredContext, room: int, counter: TokenCounter) -> str:
    """The lines of the difference that fit, file by file; of the rest how much there is. For where only `complete` may be left:
    the text of the changes further up is older, or only a receipt."""
    diffs = memory.diffs(LAST_LOOK_KIND)
    whole = [diff.patch.split("\n") for diff in diffs]
    total = sum(map(len, whole))

    def render(count: int) -> str:
        parts, left = ["## All changes so far" if count >= total else "## Changes so far, in part"], list[str]()
        for diff, lines in zip(diffs, whole, strict=True):
            more = len(lines) - max(0, count)
            if count > 0:
                parts += [diff.subject, *lines[:count], *([f"… {format_count(more, 'more line')}"] if more > 0 else [])]
            else:
                left.append(diff.subject)
            count -= len(lines)
        rest = [f"left out, without room: {join_first(left, MAX_LISTED_FILES)}"] if left else []
        return "\n".join([*parts, *rest])

    most = min(room, MAX_LAST_LOOK_TOKENS) - LAST_LOOK_FRAME_TOKENS
    return find_longest_fitting(render, max(1, min(total, MIN_LAST_LOOK_LINES)), total, lambda text: counter(text) <= most) or ""


MAX_CHANGED_FILES = 24
MAX_LATEST_FILES = 8
"""With more changed files the prompt lists so many of them, changed last, and counts the others by folder."""
MAX_PATH_CHARACTERS = 160


def find_latest_changes(state: State, changes: Sequence[Change]) -> list[Change]:
    """All of a few; of many those that the last steps changed, the newest first, or the first by name."""
    if len(changes) <= MAX_CHANGED_FILES:
        return list(changes)
    by_path = {change.path: change for change in changes}
    newest = [region.path for region in sorted(state.memory.regions, key=lambda one: -one.step) if region.changed]
    latest = [by_path[path] for path in dict.fromkeys(newest) if path in by_path]
    return (latest or list(changes))[:MAX_LATEST_FILES]


def gather_changed_files(latest: Sequence[Change], changes: Sequence[Change]) -> Iterator[Diff | Note]:
    yield from map(diff_from_change, latest)
    if len(latest) < len(changes):
        yield Note("changes", f"{len(changes):,} files", "\n".join(f"- {line}" for line in group_by_folder(changes)))


def draft_changes(memory: GatheredContext) -> SectionDraft:
    """Which files; their text is in the excerpts, so that no line stands twice. Bounded, since it is never cut."""
    files = [f"- {truncate_text(diff.subject, MAX_PATH_CHARACTERS)}" for diff in memory.diffs("change")]
    folders = memory.notes("changes")
    if not folders:
        return draft_always_section("changes", "Changes so far", files)
    head = f"{folders[0].subject}; `read` @changes lists all, `search` with path @changes finds some. Changed last:"
    return draft_always_section("changes", "Changes so far", [head, *files, "By folder:", folders[0].text])
