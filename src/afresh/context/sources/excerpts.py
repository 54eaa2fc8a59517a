import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.context.excerpt_ranking import (
    IMPORT_NAMES,
    rank_excerpt,
    select_next_test_excerpts,
    select_protected_excerpts,
    was_touched_last,
)
from afresh.context.file_chunks import cut_excerpt, split_into_chunks
from afresh.context.relevance import list_called_names, list_focus_words
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.wanted_lines import (
    find_import_lines,
    round_to_definition,
    select_wanted_parts,
    split_at_wanted_lines,
    widen_changed_lines,
)
from afresh.core.change import Change, find_added_lines
from afresh.core.context_item import Excerpt, Item, RepoMap, SourceLine, render_lines
from afresh.core.context_policy import FilePolicy
from afresh.core.line_region import Region
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.errors import ModelMistake
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.workspace import FileTree

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
    """Current text of the lines that the model has read, written or been told of: as they are, never as they were. What no step
    has come back to for a while is left out, unless the work speaks of it. Tests that are next come in small parts, since there
    may be room for some."""
    regions, patches = (*told, *state.memory.regions), {change.path: change.patch for change in changes}
    called, oldest = list_called_names(state), state.work.step - policy.max_idle_steps
    fresh = [*told, *[region for region in state.memory.regions if region.step > oldest]]
    for path in dict.fromkeys(region.path for region in regions):
        lines, changed = (try_read_file(files, path) or "").splitlines(), find_added_lines(patches.get(path, ""))
        wanted = [_select_region_lines(lines, region, policy) for region in regions if region.path == path]
        borders = [
            *[(region.start, region.end) for region in regions if region.path == path and _is_border(region, state)],
            *widen_changed_lines(changed, policy),
            *(_split_paragraphs(lines, policy) if path in tests else ()),
        ]
        for span in select_wanted_parts(lines, wanted, borders, policy):
            view = cut_excerpt("file", path, lines, span, changed)
            if called.intersection(view.names) or any(one.path == path and one.meets(*span) for one in fresh):
                yield view


def _select_region_lines(lines: Sequence[str], region: Region, policy: FilePolicy) -> tuple[int, int]:
    """A change with a few lines beside it; what was read as it was asked for, but for a few lines that complete a definition."""
    if region.changed:
        return region.start - policy.lines_around_change, region.end + policy.lines_around_change
    return round_to_definition(lines, (region.start, region.end), policy) if region.step else (region.start, region.end)


def _is_border(region: Region, state: State) -> bool:
    """Whether it is shown or left out by itself: what the last step has read, and what it was told of."""
    return not region.changed and region.step in (0, state.work.step)


def gather_imports(state: State, files: FileTree, seen: Sequence[Item], policy: FilePolicy) -> Iterator[Excerpt]:
    """What the file imports that was changed last, and the one that was read last: whoever edits it may need one more."""
    shown = {(one.path, number) for one in seen if isinstance(one, Excerpt) for number in one.key[1]}
    newest = [
        next((one.path for one in reversed(state.memory.regions) if one.changed is changed), "") for changed in (True, False)
    ]
    for path in dict.fromkeys(filter(None, newest)):
        lines = (try_read_file(files, path) or "").splitlines()
        first, last = find_import_lines(lines, policy) or (1, 0)
        unseen = [number for number in range(first, last + 1) if (path, number) not in shown]
        if 0 < len(unseen) <= policy.max_import_lines:
            yield Excerpt(
                "file", path, unseen[0], unseen[-1], IMPORT_NAMES, tuple(SourceLine(one, lines[one - 1]) for one in unseen)
            )


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


def _split_paragraphs(lines: Sequence[str], policy: FilePolicy) -> list[tuple[int, int]]:
    """Parts that begin after a blank line, none too short to be told apart."""
    begins = [1]
    for number in range(2, len(lines) + 1):
        if lines[number - 1].strip() and not lines[number - 2].strip() and number - begins[-1] >= policy.min_split_lines:
            begins.append(number)
    return [(first, then - 1) for first, then in pairwise([*begins, len(lines) + 1])]


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
    return find_import_lines(lines, policy)


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
            asked=was_touched_last(view, state, memory.policy.excerpts),
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
