import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.context.excerpt_ranking import (
    IMPORT_NAMES,
    LAST_TOUCHED_RANK,
    MAX_CORE_LINES,
    MAX_UNUSED_READ_STEPS,
    is_asked_for,
    is_current,
    rank_excerpt,
    select_next_test_excerpts,
    select_protected_excerpts,
)
from afresh.context.file_chunks import cut_excerpt
from afresh.context.relevance import list_called_names
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.wanted_lines import (
    MIN_SPLIT_LINES,
    find_import_lines,
    round_to_definition,
    select_wanted_parts,
    widen_changed_lines,
)
from afresh.core.change import Change, find_added_lines
from afresh.core.context_item import Excerpt, Item, SourceLine, render_lines
from afresh.core.line_region import Region
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.memory.gathered_context import GatheredContext
from afresh.policy.phase_limits import is_last_look
from afresh.ports.workspace import FileTree, read_text

MAX_NAMED_FILES = 3  # files that the goal names, shown without being asked for
MAX_SHORT_FILE_LINES = 120  # such a file is gathered whole
MAX_IDLE_STEPS = 8  # lines that no step has come back to for so long are left out, unless the work speaks of them
MAX_IMPORT_LINES = 30  # more imports of the file in work are not shown

MAX_FINISHED_LINES = 2
"""Of a change that belongs to a finished item of the plan, besides the lines around it."""
PROSE_SUFFIXES = (".md", ".rst", ".txt")


def separate_overlapping_definitions(looks: Sequence[Item], regions: Sequence[Region]) -> tuple[list[Item], list[Region]]:
    """Definitions that are shown unasked, unless a part of one is shown under Files: a short one is then shown whole there, so
    that no line is shown twice; of a long one the model has what it asked for."""
    kept, begun = list[Item](), list[Region]()
    for look in looks:
        region = look.region if isinstance(look, Excerpt) else None
        if not region or not any(one.path == region.path and one.meets(region.start, region.end) for one in regions):
            kept.append(look)
        elif region.end - region.start < MAX_CORE_LINES:
            begun.append(region)
    return kept, begun


def gather_excerpts(
    state: State,
    files: FileTree,
    changes: Sequence[Change],
    told: Sequence[Region],
    tests: Collection[str],
) -> Iterator[Excerpt]:
    """Current text of the lines that the model has read, written or been told of: as they are, never as they were. What no step
    has come back to for a while is left out, unless the work speaks of it. Tests that are next come in small parts, since there
    may be room for some."""
    regions, patches = (*told, *state.memory.regions), {change.path: change.patch for change in changes}
    called, oldest = list_called_names(state), -1 if is_last_look(state) else state.work.step - MAX_IDLE_STEPS
    fresh = [*told, *[region for region in state.memory.regions if region.step > oldest]]
    for path in dict.fromkeys(region.path for region in regions):
        lines, changed = (read_text(files, path) or "").splitlines(), find_added_lines(patches.get(path, ""))
        spans = [_select_region_lines(lines, region, changed, state) for region in regions if region.path == path]
        wanted = [span for found in spans for span in found]
        borders = [
            *[(region.start, region.end) for region in regions if region.path == path and _is_border(region, state)],
            *widen_changed_lines(changed),
            *(_split_paragraphs(lines) if path in tests else ()),
        ]
        for span in select_wanted_parts(lines, wanted, borders):
            view = cut_excerpt(path, lines, span, changed)
            if called.intersection(view.names) or any(one.path == path and one.meets(*span) for one in fresh):
                yield view


def is_finished_change(region: Region, state: State) -> bool:
    """Whether it was made for items of the plan that are done, while others are open."""
    plan = state.work.plan
    if not region.changed or not any(item.done for item in plan) or all(item.done for item in plan):
        return False
    return region.step <= state.work.plan_step and region.step < state.work.step


def _select_region_lines(
    lines: Sequence[str], region: Region, changed: Collection[int], state: State
) -> Sequence[tuple[int, int]]:
    """Of a change its lines with a few beside them, or the place where some were deleted; of a finished one the last lines, since
    the next item may be added after them, as to a changelog or to tests. What was read as it was asked for, but for a few lines
    that complete a definition."""
    if region.changed:
        inside = sorted(one for one in changed if region.start <= one <= region.end)
        inside = inside[-MAX_FINISHED_LINES:] if is_finished_change(region, state) else inside
        return widen_changed_lines(inside) or [(region.start, region.end)]
    return [round_to_definition(lines, (region.start, region.end)) if region.step else (region.start, region.end)]


def _is_border(region: Region, state: State) -> bool:
    """Whether it is shown or left out by itself: what the last step has read, and what it was told of."""
    return not region.changed and region.step in (0, state.work.step)


def gather_imports(state: State, files: FileTree, seen: Sequence[Item]) -> Iterator[Excerpt]:
    """What the file imports that was changed last, and the one that was read last: whoever edits it may need one more."""
    shown = {(one.path, number) for one in seen if isinstance(one, Excerpt) for number in one.key[1]}
    regions = [one for one in state.memory.regions if not is_finished_change(one, state)]
    newest = [next((one.path for one in reversed(regions) if one.changed is changed), "") for changed in (True, False)]
    for path in dict.fromkeys(filter(None, newest)):
        lines = (read_text(files, path) or "").splitlines()
        first, last = find_import_lines(lines) or (1, 0)
        unseen = [number for number in range(first, last + 1) if (path, number) not in shown]
        if 0 < len(unseen) <= MAX_IMPORT_LINES:
            yield Excerpt(
                "file", path, unseen[0], unseen[-1], IMPORT_NAMES, tuple(SourceLine(one, lines[one - 1]) for one in unseen)
            )


def _split_paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Parts that begin after a blank line, none too short to be told apart."""
    begins = [1]
    for number in range(2, len(lines) + 1):
        if lines[number - 1].strip() and not lines[number - 2].strip() and number - begins[-1] >= MIN_SPLIT_LINES:
            begins.append(number)
    return [(first, then - 1) for first, then in pairwise([*begins, len(lines) + 1])]


def select_file_regions(files: FileTree, paths: Sequence[str], short_only: bool = False) -> list[Region]:
    """Files that somebody names, as far as anybody would read them first: whole if they are short; of a long one its imports or
    how it begins, since what matters in it is seldom there. `short_only`: of a long one nothing."""
    named = [(path, text.splitlines()) for path in paths if (text := read_text(files, path)) is not None]
    named = [one for one in named if not short_only or len(one[1]) <= MAX_SHORT_FILE_LINES]
    chosen = [(path, _choose_shown_beginning(path, lines)) for path, lines in named[:MAX_NAMED_FILES]]
    return [Region(path, *part, 0) for path, part in chosen if part]


def find_files_in_goal(goal: str, files: FileTree) -> list[str]:
    """Files by their path, or by a name that only one has."""
    named = dict.fromkeys(re.findall(r"[\w./-]*\w\.\w+", goal))
    paths = files.paths() if named else ()
    by_name = {name: [path for path in paths if path == name or path.endswith(f"/{name}")] for name in named}
    return list(dict.fromkeys(found[0] for found in by_name.values() if len(found) == 1))


def _choose_shown_beginning(path: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """The first and the last line of it that are shown unasked."""
    if path.endswith(PROSE_SUFFIXES):
        return None
    if len(lines) <= MAX_SHORT_FILE_LINES:
        return 1, len(lines)
    return find_import_lines(lines)


STALE_REASON = "not touched lately, and nothing that the work speaks of"
EXCERPT_PIECE_PREFIX = "lines of "
"""What pieces are called in records."""


def draft_excerpts(memory: GatheredContext) -> SectionDraft:
    """Excerpts by path and line. What was touched last, or is spoken of, is given up last, before `complete` what was changed; a
    stub stands for the rest, and for what was not touched for long and is not spoken of."""
    views, kept, state = _list_seen_excerpts(memory), rank_worked_on_excerpts(memory), memory.state
    spoken = list_called_names(state, MAX_UNUSED_READ_STEPS) if views else frozenset[str]()
    looks = is_last_look(state)
    last = LAST_TOUCHED_RANK * 2 if looks else 0
    pieces, stale = list[SectionPiece](), list[SectionPiece]()
    for view in views:
        rank = rank_excerpt(view, state, spoken) + kept.get(view, 0) + (last if view.changed else 0)
        asked = view in kept or is_asked_for(view, state)
        piece = replace(_build_excerpt_piece(view, rank), stub=str(view.stub), asked=asked)
        current = asked or (looks and view.changed) or is_current(view, state, spoken)
        pieces.append(piece if current else piece.as_stub())
        stale += [] if current else [piece]
    title = "Files as of this message (+: changed by this task; where numbers jump, lines are not shown)"
    more = "… and more that you read or changed: `read` it"
    return SectionDraft("files", title, Tier.DEMAND, tuple(pieces), more, tuple(stale), STALE_REASON)


def _build_excerpt_piece(view: Excerpt, rank: int) -> SectionPiece:
    what = f"{EXCERPT_PIECE_PREFIX}{view.subject}"
    return SectionPiece(render_lines(view.body), what, rank, view.source, group=view.path, lines=view.body, item=view)


def _list_seen_excerpts(memory: GatheredContext) -> list[Excerpt]:
    return sorted(memory.excerpts("file"), key=lambda view: (view.path, view.first))


def rank_worked_on_excerpts(memory: GatheredContext) -> dict[Excerpt, int]:
    views, next_ = _list_seen_excerpts(memory), {note.subject for note in memory.notes("beside")}
    kept = select_protected_excerpts(views, memory.state, [note.text for note in memory.notes("test")])
    return select_next_test_excerpts([view for view in views if view not in kept], next_) | kept
