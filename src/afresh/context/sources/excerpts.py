import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.context.excerpt_ranking import rank_excerpt, select_next_test_excerpts, select_protected_excerpts, was_read_last
from afresh.context.file_chunks import cut_excerpt, split_into_chunks
from afresh.context.relevance import list_focus_words
from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.change import Change, find_added_lines
from afresh.core.context_item import Excerpt, Item, RepoMap, render_lines
from afresh.core.context_policy import FilePolicy
from afresh.core.line_region import Region
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.errors import ModelMistake
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.workspace import FileTree

IMPORT_LINE = re.compile(r"(?:from|import|use|using|package|#include)\b|const .*\brequire\(")
PROSE_SUFFIXES = (".md", ".rst", ".txt")


def separate_overlapping_definitions(looks: Sequence[Item], regions: Sequence[Region]) -> tuple[list[Item], list[Region]]:
    """Definitions that are shown unasked, unless a part of one stands under Files: there it is then shown whole, so that no line
    stands twice."""
    kept, begun = list[Item](), list[Region]()
    for look in looks:
        region = look.region if isinstance(look, Excerpt) else None
        if region and any(one.path == region.path and one.meets(region.start, region.end) for one in regions):
            begun.append(region)
        else:
            kept.append(look)
    return kept, begun


def gather_excerpts(
    state: State,
    files: FileTree,
    changes: Sequence[Change],
    told: Sequence[Region],
    tests: Collection[str],
    policy: FilePolicy,
) -> Iterator[Excerpt]:
    """Current text of the definitions that the model has seen, written or been told of: as they are, never as they were. Tests
    that are next come in small parts, since there may be room for some."""
    regions, patches = (*told, *state.memory.regions), {change.path: change.patch for change in changes}
    for path in dict.fromkeys(region.path for region in regions):
        lines, changed = (try_read_file(files, path) or "").splitlines(), find_added_lines(patches.get(path, ""))
        touched = [region for region in regions if region.path == path]
        asked = [(region.start, region.end) for region in touched if region.step == state.work.step and not region.changed]
        wanted = [
            *asked,
            *widen_changed_lines(changed, policy),
            *[(region.start, region.end) for region in told if region.path == path],
        ]
        wanted += _split_paragraphs(lines, policy) if path in tests else []
        for start, end in (part for chunk in split_into_chunks(lines) for part in split_at_wanted_lines(chunk, wanted, policy)):
            if any(region.meets(start, end) for region in touched):
                yield cut_excerpt("file", path, lines, (start, end), changed)


def gather_file_beginnings(state: State, files: FileTree, told: Sequence[Region], policy: FilePolicy) -> Iterator[Excerpt]:
    """How long code begins that the goal names: for room that nothing else asks for."""
    for path in find_files_in_goal(state.task.goal):
        lines = (try_read_file(files, path) or "").splitlines()
        known = [region for region in (*told, *state.memory.regions) if region.path == path]
        wanted = [(region.start, region.end) for region in known]
        for start, end in (
            part
            for chunk in split_into_chunks(lines[: policy.max_short_file_lines])
            for part in split_at_wanted_lines(chunk, wanted, policy)
        ):
            if (
                len(lines) > policy.max_short_file_lines
                and not path.endswith(PROSE_SUFFIXES)
                and not any(region.meets(start, end) for region in known)
            ):
                yield cut_excerpt("beginning", path, lines, (start, end))


def gather_nearby_files(files: FileTree, seen: Sequence[Item], told: Sequence[Region], policy: FilePolicy) -> Iterator[Excerpt]:
    """Short files that the source tree names first, until something is changed, without what is shown of them elsewhere: whoever
    is given their names alone spends the first step on reading them. For room that nothing else asks for."""
    known = [*told, *[look.region for look in seen if isinstance(look, Excerpt)]]
    listed = [one for look in seen if isinstance(look, RepoMap) for one in look.entries if one.path]
    for path in [one.path for one in listed if one.length <= policy.max_short_file_lines][: policy.max_nearby_files]:
        lines = (try_read_file(files, path) or "").splitlines()
        seen_lines = {line for one in known if one.path == path for line in range(one.start, one.end + 1)}
        for span in (part for chunk in split_into_chunks(lines) for part in _list_unseen_ranges(chunk, seen_lines, lines)):
            yield cut_excerpt("beginning", path, lines, span)


def _list_unseen_ranges(chunk: tuple[int, int], known: Container[int], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """What is left of a part of a file when known lines are taken out of it, unless that is blank."""
    run = list[int]()
    for number in (*range(chunk[0], chunk[1] + 1), 0):
        if number and number not in known:
            run.append(number)
            continue
        if any(lines[one - 1].strip() for one in run):
            yield run[0], run[-1]
        run = []


def split_at_wanted_lines(chunk: tuple[int, int], wanted: Sequence[tuple[int, int]], policy: FilePolicy) -> list[tuple[int, int]]:
    """Lines that are wanted for themselves apart from the rest of their definition: there may be room for them alone."""
    (start, end), least = chunk, policy.min_split_lines
    inside = [(first, last) for first, last in wanted if start <= last and first <= end]
    edges = {*[first for first, _ in inside], *[last + 1 for _, last in inside]}
    cuts = [start, *sorted(edge for edge in edges if start + least <= edge <= end + 1 - least), end + 1]
    return [(first, then - 1) for first, then in pairwise(cuts)]


def _split_paragraphs(lines: Sequence[str], policy: FilePolicy) -> list[tuple[int, int]]:
    """Parts that begin after a blank line, none too short to be told apart."""
    begins = [1]
    for number in range(2, len(lines) + 1):
        if lines[number - 1].strip() and not lines[number - 2].strip() and number - begins[-1] >= policy.min_split_lines:
            begins.append(number)
    return [(first, then - 1) for first, then in pairwise([*begins, len(lines) + 1])]


def widen_changed_lines(changed: frozenset[int], policy: FilePolicy) -> list[tuple[int, int]]:
    """Changed lines with a few beside them."""
    runs, around = list[tuple[int, int]](), policy.lines_around_change
    for number in sorted(changed):
        if runs and number - around <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number + around
        else:
            runs.append((number - around, number + around))
    return runs


def select_file_regions(files: FileTree, paths: Sequence[str], policy: FilePolicy) -> list[Region]:
    """Files that somebody names, as far as anybody would read them first: whole if they are short; of a long one its imports or
    how it begins, since what matters in it is seldom there."""
    named = [(path, text.splitlines()) for path in paths if (text := try_read_file(files, path)) is not None]
    chosen = [(path, _choose_shown_beginning(path, lines, policy)) for path, lines in named[: policy.max_named_files]]
    return [Region(path, *part, 0) for path, part in chosen if part]


def find_files_in_goal(goal: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[\w./-]*\w\.\w+", goal)))


def _choose_shown_beginning(path: str, lines: Sequence[str], policy: FilePolicy) -> tuple[int, int] | None:
    """The first and the last line of it that are shown unasked."""
    if len(lines) <= policy.max_short_file_lines:
        return 1, len(lines)
    if path.endswith(PROSE_SUFFIXES):
        return 1, policy.prose_beginning_lines
    most = policy.max_import_scan_lines
    found = [number for number, line in enumerate(lines[:most], 1) if IMPORT_LINE.match(line)]
    return (found[0], found[-1] + _count_continuation_lines(lines[found[-1] - 1 :][:most])) if found else None


def _count_continuation_lines(lines: Sequence[str]) -> int:
    """Lines after the first that belong to it, by its open brackets."""
    depth = 0
    for number, line in enumerate(lines):
        depth += sum(line.count(sign) for sign in "({[") - sum(line.count(sign) for sign in ")}]")
        if depth <= 0:
            return number
    return 0


def try_read_file(files: FileTree, path: str) -> str | None:
    try:
        return files.read(path)
    except ModelMistake:
        return None


EXCERPT_PIECE_PREFIX = "lines of "
"""What pieces are called in records."""


def draft_excerpts(memory: GatheredContext) -> SectionDraft:
    """Excerpts by path and line. What was touched last, or is spoken of, is given up last; a stub stands for the rest."""
    views, kept, state = _list_seen_excerpts(memory), rank_worked_on_excerpts(memory), memory.state
    spoken = list_focus_words(state) if views else frozenset[str]()
    pieces = [
        replace(
            _build_excerpt_piece(view, rank_excerpt(view, state, spoken, memory.policy.excerpts) + kept.get(view, 0)),
            stub=str(view.stub),
            asked=was_read_last(view, state),
        )
        for view in views
    ]
    title = "Files as they are now (+: changed by this task; …: lines not shown, `read` them)"
    return SectionDraft("files", title, Tier.DEMAND, tuple(pieces), "… more not shown")


def draft_file_beginnings(memory: GatheredContext) -> SectionDraft:
    """Of long files that the task names, and of short ones near it, for space that nothing else wants."""
    views = enumerate(memory.excerpts("beginning"))
    pieces = [replace(_build_excerpt_piece(view, rank), spare=True) for rank, view in views]
    return SectionDraft("beginning", "Nearby code", Tier.DEMAND, tuple(pieces))


def _build_excerpt_piece(view: Excerpt, rank: int) -> SectionPiece:
    what = f"{EXCERPT_PIECE_PREFIX}{view.subject}"
    return SectionPiece(render_lines(view.body), what, rank, view.source, group=view.path, lines=view.body, item=view)


def _list_seen_excerpts(memory: GatheredContext) -> list[Excerpt]:
    return sorted(memory.excerpts("file"), key=lambda view: (view.path, view.first))


def rank_worked_on_excerpts(memory: GatheredContext) -> dict[Excerpt, int]:
    views, next_ = _list_seen_excerpts(memory), {note.subject for note in memory.notes("beside")}
    policy = memory.policy.excerpts
    kept = select_protected_excerpts(views, memory.state, [note.text for note in memory.notes("test")], policy)
    return select_next_test_excerpts([view for view in views if view not in kept], next_, policy) | kept
