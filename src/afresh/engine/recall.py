"""Gather what a window may show: the state, and looks at the tree and the archive as they are now. Reads only."""

import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.domain.amend import Corrections
from afresh.domain.change import find_added_lines, group_consecutive
from afresh.domain.fact import Item, Region
from afresh.domain.memory import GatheredContext, assemble_gathered_context
from afresh.domain.state import State
from afresh.domain.text import to_one_line
from afresh.domain.window import Tier
from afresh.engine.agent import Runtime
from afresh.engine.consult import gather_lessons
from afresh.engine.excerpt import split_into_chunks, render_file_excerpt, extract_function_source, title_excerpt
from afresh.engine.instructions import InstructionsAllowance, select_instruction_chain, render_instructions
from afresh.engine.measured import gather_measured_coverage, drop_guessed_coverage
from afresh.engine.recollect import recall_project_facts
from afresh.engine.reviewed import find_reviewed_regions, gather_review_diff
from afresh.engine.verify.citations import find_citations
from afresh.engine.whole import MAP_FILE_LINE
from afresh.errors import ModelMistake
from afresh.ports import FileTree

MAX_LAST_OUTPUT_CHARACTERS = 12_000
"""No window of ours has room for more of one output; the rest is a recall away."""
MAX_FAILING_TEST_SOURCES = 3
MAX_NAMED_FILES = 3
MAX_SHORT_FILE_LINES = 120
PROSE_BEGINNING_LINES = 12
MAX_IMPORT_SCAN_LINES = 60
"""Failing tests and files of the goal that are shown unasked; lines of such a file if it is short, of a long text its first, and
of long code those among which its imports are looked for."""
IMPORT_LINE = re.compile(r"(?:from|import|use|using|package|#include)\b|const .*\brequire\(")
PROSE_SUFFIXES = (".md", ".rst", ".txt")
MIN_SPLIT_LINES = 6
LINES_AROUND_CHANGE = 3
"""Lines for which a definition is not taken apart, and lines beside a changed one that go with it."""
MAX_CITED_CHARACTERS = 90
EXCERPT_PLACE = re.compile(r"(.+?):(\d+)-(\d+) ")
MAX_NEARBY_FILES = 6
"""Files of the source tree that are shown unasked."""


def gather_context(state: State, agent: Runtime) -> GatheredContext:
    changes = (
        {change.path: change.patch for change in agent.workspace.changes(state.opened, state.snapshot)} if state.changed else {}
    )
    edits = Corrections(tuple(agent.lore.edits()))
    named, sections = select_file_regions(agent.files, find_files_in_goal(state.task.goal)), _select_wanted_sections(state, agent)
    compared = find_reviewed_regions(state, agent.past) if "diff" in sections else []
    seen = agent.insight.looks(state, agent.files, sections, [*compared, *list_written_regions(changes)])
    counted = list(gather_measured_coverage(state, agent.store.read)) if "coverage" in sections else []
    tests = [look.subject for look in seen if look.kind == "beside"]
    named += select_file_regions(agent.files, tests)
    unread, begun = separate_overlapping_definitions(drop_guessed_coverage(seen, counted), (*named, *state.regions))
    looks = [
        *gather_instructions(state, agent),
        *[replace(look, text=edits.scrub(look.text)) for look in gather_lessons(state, agent)],
        *unread,
        *gather_review_diff(state, agent.past, sections),
        *counted,
        *gather_excerpts(state, agent.files, changes, [*named, *begun], tests),
        *gather_file_beginnings(state, agent.files, [*named, *begun]),
        *(gather_nearby_files(agent.files, seen, [*named, *begun, *state.regions]) if not state.changed else ()),
        *gather_failing_tests(state, agent.files),
        *(gather_cited_lines(state, agent.files) if state.task.report else ()),
        *[Item("change", path, patch) for path, patch in changes.items()],
        *gather_last_outputs(state, agent, edits),
        *recall_project_facts(state, agent.lore, edits),
    ]
    return assemble_gathered_context(state, looks, agent.store.read, agent.recollection)


def _select_wanted_sections(state: State, agent: Runtime) -> frozenset[str]:
    """Sections that the layout has a place for."""
    return frozenset(share.section for share in agent.template.at(state.phase).shares if share.tier is not Tier.NEVER)


def list_written_regions(changes: dict[str, str]) -> Iterator[Region]:
    """Just the lines that the task has written."""
    for path, patch in changes.items():
        yield from (Region(path, start, end, 0, changed=True) for start, end in group_consecutive(find_added_lines(patch)))


def separate_overlapping_definitions(looks: Sequence[Item], regions: Sequence[Region]) -> tuple[list[Item], list[Region]]:
    """Definitions that are shown unasked, unless a part of one stands under Files: there it is then shown whole, so that no line
    stands twice."""
    kept, begun = list[Item](), list[Region]()
    for look in looks:
        place = EXCERPT_PLACE.match(look.subject) if look.kind in ("target", "similar", "fixture") else None
        region = Region(place[1], int(place[2]), int(place[3]), 0) if place else None
        if region and any(one.path == region.path and one.meets(region.start, region.end) for one in regions):
            begun.append(region)
        else:
            kept.append(look)
    return kept, begun


def gather_instructions(state: State, agent: Runtime, ceiling: int = 0) -> Iterator[Item]:
    """The rules that people have laid down for such work, read anew for every call. OverCeiling if they don't fit."""
    if agent.instructions:
        chain, allowance = (
            select_instruction_chain(state, agent.instructions),
            InstructionsAllowance(ceiling or state.budget, agent.template.instructions),
        )
        tree = agent.files.paths() if any(not source.own for source in chain.sources) else ()
        sources = tuple(replace(source, tracked=source.own or source.file in tree) for source in chain.sources)
        if text := render_instructions(replace(chain, sources=sources), allowance).text:
            yield Item("instructions", ", ".join(source.file for source in sources), text)


def gather_excerpts(
    state: State, files: FileTree, changes: dict[str, str], told: Sequence[Region], tests: Collection[str] = ()
) -> Iterator[Item]:
    """Current text of the definitions that the model has seen, written or been told of: as they are, never as they were. Tests
    that are next come in small parts, since there may be room for some."""
    regions = (*told, *state.regions)
    for path in dict.fromkeys(region.path for region in regions):
        lines, changed = (try_read_file(files, path) or "").splitlines(), find_added_lines(changes.get(path, ""))
        touched = [region for region in regions if region.path == path]
        asked = [(region.start, region.end) for region in touched if region.step == state.step and not region.changed]
        wanted = [*asked, *widen_changed_lines(changed), *[(region.start, region.end) for region in told if region.path == path]]
        wanted += _split_paragraphs(lines) if path in tests else []
        for start, end in (part for chunk in split_into_chunks(lines) for part in split_at_wanted_lines(chunk, wanted)):
            if any(region.meets(start, end) for region in touched):
                yield Item(
                    "file",
                    f"{path}:{start}-{end} {title_excerpt(lines, start, end)}",
                    render_file_excerpt(lines, start, end, changed),
                )


def gather_file_beginnings(state: State, files: FileTree, told: Sequence[Region]) -> Iterator[Item]:
    """How long code begins that the goal names: for room that nothing else asks for."""
    for path in find_files_in_goal(state.task.goal):
        lines = (try_read_file(files, path) or "").splitlines()
        known = [region for region in (*told, *state.regions) if region.path == path]
        wanted = [(region.start, region.end) for region in known]
        for start, end in (
            part for chunk in split_into_chunks(lines[:MAX_SHORT_FILE_LINES]) for part in split_at_wanted_lines(chunk, wanted)
        ):
            if (
                len(lines) > MAX_SHORT_FILE_LINES
                and not path.endswith(PROSE_SUFFIXES)
                and not any(region.meets(start, end) for region in known)
            ):
                yield Item(
                    "beginning",
                    f"{path}:{start}-{end} {title_excerpt(lines, start, end)}",
                    render_file_excerpt(lines, start, end, frozenset()),
                )


def gather_nearby_files(files: FileTree, seen: Sequence[Item], told: Sequence[Region]) -> Iterator[Item]:
    """Short files that the source tree names first, until something is changed, without what is shown of them elsewhere: whoever
    is given their names alone spends the first step on reading them. For room that nothing else asks for."""
    places = [place for look in seen if (place := EXCERPT_PLACE.match(look.subject))]
    known = [*told, *[Region(place[1], int(place[2]), int(place[3]), 0) for place in places]]
    tree = "\n".join(look.text for look in seen if look.kind == "outline")
    for path in [path for path, length in MAP_FILE_LINE.findall(tree) if int(length) <= MAX_SHORT_FILE_LINES][:MAX_NEARBY_FILES]:
        lines = (try_read_file(files, path) or "").splitlines()
        seen_lines = {line for one in known if one.path == path for line in range(one.start, one.end + 1)}
        for start, end in (part for chunk in split_into_chunks(lines) for part in _list_unseen_ranges(chunk, seen_lines, lines)):
            yield Item(
                "beginning",
                f"{path}:{start}-{end} {title_excerpt(lines, start, end)}",
                render_file_excerpt(lines, start, end, frozenset()),
            )


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


def split_at_wanted_lines(chunk: tuple[int, int], wanted: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lines that are wanted for themselves apart from the rest of their definition: there may be room for them alone."""
    start, end = chunk
    inside = [(first, last) for first, last in wanted if start <= last and first <= end]
    edges = {*[first for first, _ in inside], *[last + 1 for _, last in inside]}
    cuts = [start, *sorted(edge for edge in edges if start + MIN_SPLIT_LINES <= edge <= end + 1 - MIN_SPLIT_LINES), end + 1]
    return [(first, then - 1) for first, then in pairwise(cuts)]


def _split_paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Parts that begin after a blank line, none too short to be told apart."""
    begins = [1]
    for number in range(2, len(lines) + 1):
        if lines[number - 1].strip() and not lines[number - 2].strip() and number - begins[-1] >= MIN_SPLIT_LINES:
            begins.append(number)
    return [(first, then - 1) for first, then in pairwise([*begins, len(lines) + 1])]


def widen_changed_lines(changed: frozenset[int]) -> list[tuple[int, int]]:
    """Changed lines with a few beside them."""
    runs: list[tuple[int, int]] = []
    for number in sorted(changed):
        if runs and number - LINES_AROUND_CHANGE <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number + LINES_AROUND_CHANGE
        else:
            runs.append((number - LINES_AROUND_CHANGE, number + LINES_AROUND_CHANGE))
    return runs


def select_file_regions(files: FileTree, paths: Sequence[str]) -> list[Region]:
    """Files that somebody names, as far as anybody would read them first: whole if they are short; of a long one its imports or
    how it begins, since what matters in it is seldom there."""
    named = [(path, text.splitlines()) for path in paths if (text := try_read_file(files, path)) is not None]
    return [Region(path, *part, 0) for path, lines in named[:MAX_NAMED_FILES] if (part := _choose_shown_beginning(path, lines))]


def find_files_in_goal(goal: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[\w./-]*\w\.\w+", goal)))


def _choose_shown_beginning(path: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """The first and the last line of it that are shown unasked."""
    if len(lines) <= MAX_SHORT_FILE_LINES:
        return 1, len(lines)
    if path.endswith(PROSE_SUFFIXES):
        return 1, PROSE_BEGINNING_LINES
    found = [number for number, line in enumerate(lines[:MAX_IMPORT_SCAN_LINES], 1) if IMPORT_LINE.match(line)]
    return (found[0], found[-1] + _count_continuation_lines(lines[found[-1] - 1 :])) if found else None


def _count_continuation_lines(lines: Sequence[str]) -> int:
    """Lines after the first that belong to it, by its open brackets."""
    depth = 0
    for number, line in enumerate(lines[:MAX_IMPORT_SCAN_LINES]):
        depth += sum(line.count(sign) for sign in "({[") - sum(line.count(sign) for sign in ")}]")
        if depth <= 0:
            return number
    return 0


def gather_failing_tests(state: State, files: FileTree) -> Iterator[Item]:
    """Source of tests that fail now, so that nobody has to ask for it."""
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    failures = [failure.test for run in runs for failure in run.failures if "::" in failure.test]
    for test in failures[:MAX_FAILING_TEST_SOURCES]:
        path, *names = test.split("[")[0].split("::")
        text = try_read_file(files, path)
        if text is not None and (source := extract_function_source(text, names)):
            yield Item("test", test, source)


def gather_cited_lines(state: State, files: FileTree) -> Iterator[Item]:
    """What stands in each place that the report cites: whoever wrote it is to hold it against that once more."""
    text = try_read_file(files, state.task.report) if state.task.report in (paths := files.paths()) else None
    for one in find_citations(text or "", paths):
        lines = (try_read_file(files, one.path) or "").splitlines()[one.first - 1 : one.last] if one.path in paths else []
        if lines:
            yield Item("cited", str(one), to_one_line(lines[0], MAX_CITED_CHARACTERS))


def gather_last_outputs(state: State, agent: Runtime, edits: Corrections) -> Iterator[Item]:
    """The last step's output in full, as far as it could ever fit: the builder decides how much is shown."""
    for seen in state.recent[-1].observations if state.recent else ():
        if seen.block and seen.size > len(seen.text):
            text = edits.scrub(agent.store.read(seen.block))
            yield Item("output", seen.block, _truncate_middle(text, f"`recall` {seen.block[:8]}"))


def _truncate_middle(text: str, source: str) -> str:
    """How a command ended is what it printed last."""
    if len(text) <= MAX_LAST_OUTPUT_CHARACTERS:
        return text
    tail = MAX_LAST_OUTPUT_CHARACTERS // 3
    gone = f"[… {len(text) - MAX_LAST_OUTPUT_CHARACTERS:,} of {len(text):,} characters left out: {source}]"
    return f"{text[: MAX_LAST_OUTPUT_CHARACTERS - tail]}\n{gone}\n{text[-tail:]}"


def try_read_file(files: FileTree, path: str) -> str | None:
    try:
        return files.read(path)
    except ModelMistake:
        return None
