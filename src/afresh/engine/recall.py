"""Gather what a window may show: the state, and looks at the tree and the archive as they are now. Reads only."""

import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afresh.domain.amend import Edits
from afresh.domain.change import new_lines, runs
from afresh.domain.fact import Look, Region
from afresh.domain.memory import Memory, gathered
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.window import Tier
from afresh.engine.agent import Agent
from afresh.engine.consult import consult
from afresh.engine.excerpt import chunks, excerpt, function_source, title
from afresh.engine.instructions import Allowance, chain_for, rendered
from afresh.engine.measured import measured, uncounted
from afresh.engine.recollect import recollected
from afresh.engine.reviewed import about, reviewed
from afresh.engine.verify.citations import citations
from afresh.engine.whole import LISTED
from afresh.errors import ModelMistake
from afresh.ports import Files

OUTPUT_CHARACTERS = 12_000
"""No window of ours has room for more of one output; the rest is a recall away."""
FAILING_SOURCES = 3
NAMED_FILES = 3
NAMED_LINES = 120
BEGINNING = 12
IMPORTS = 60
"""Failing tests and files of the goal that are shown unasked; lines of such a file if it is short, of a long text its first, and
of long code those among which its imports are looked for."""
IMPORT = re.compile(r"(?:from|import|use|using|package|#include)\b|const .*\brequire\(")
PROSE = (".md", ".rst", ".txt")
SLIGHT = 6
NEAR = 3
"""Lines for which a definition is not taken apart, and lines beside a changed one that go with it."""
CITED_CHARACTERS = 90
PLACE = re.compile(r"(.+?):(\d+)-(\d+) ")
NEARBY = 6
"""Files of the source tree that are shown unasked."""


def recall(state: State, agent: Agent) -> Memory:
    changes = (
        {change.path: change.patch for change in agent.workspace.changes(state.opened, state.snapshot)} if state.changed else {}
    )
    edits = Edits(tuple(agent.lore.edits()))
    named, sections = told_of(agent.files, named_in(state.task.goal)), wanted(state, agent)
    compared = about(state, agent.past) if "diff" in sections else []
    seen = agent.insight.looks(state, agent.files, sections, [*compared, *done(changes)])
    counted = list(measured(state, agent.store.read)) if "coverage" in sections else []
    tests = [look.subject for look in seen if look.kind == "beside"]
    named += told_of(agent.files, tests)
    unread, begun = told_apart(uncounted(seen, counted), (*named, *state.regions))
    looks = [
        *instructed(state, agent),
        *[replace(look, text=edits.scrub(look.text)) for look in consult(state, agent)],
        *unread,
        *reviewed(state, agent.past, sections),
        *counted,
        *excerpts(state, agent.files, changes, [*named, *begun], tests),
        *beginnings(state, agent.files, [*named, *begun]),
        *(nearby(agent.files, seen, [*named, *begun, *state.regions]) if not state.changed else ()),
        *failing_tests(state, agent.files),
        *(cited_lines(state, agent.files) if state.task.report else ()),
        *[Look("change", path, patch) for path, patch in changes.items()],
        *last_outputs(state, agent, edits),
        *recollected(state, agent.lore, edits),
    ]
    return gathered(state, looks, agent.store.read, agent.recollection)


def wanted(state: State, agent: Agent) -> frozenset[str]:
    """Sections that the layout has a place for."""
    return frozenset(share.section for share in agent.template.at(state.phase).shares if share.tier is not Tier.NEVER)


def done(changes: dict[str, str]) -> Iterator[Region]:
    """Just the lines that the task has written."""
    for path, patch in changes.items():
        yield from (Region(path, start, end, 0, changed=True) for start, end in runs(new_lines(patch)))


def told_apart(looks: Sequence[Look], regions: Sequence[Region]) -> tuple[list[Look], list[Region]]:
    """Definitions that are shown unasked, unless a part of one stands under Files: there it is then shown whole, so that no line
    stands twice."""
    kept, begun = list[Look](), list[Region]()
    for look in looks:
        place = PLACE.match(look.subject) if look.kind in ("target", "similar", "fixture") else None
        region = Region(place[1], int(place[2]), int(place[3]), 0) if place else None
        if region and any(one.path == region.path and one.meets(region.start, region.end) for one in regions):
            begun.append(region)
        else:
            kept.append(look)
    return kept, begun


def instructed(state: State, agent: Agent, ceiling: int = 0) -> Iterator[Look]:
    """The rules that people have laid down for such work, read anew for every call. OverCeiling if they don't fit."""
    if agent.instructions:
        chain, allowance = chain_for(state, agent.instructions), Allowance(ceiling or state.budget, agent.template.instructions)
        tree = agent.files.paths() if any(not source.own for source in chain.sources) else ()
        sources = tuple(replace(source, tracked=source.own or source.file in tree) for source in chain.sources)
        if text := rendered(replace(chain, sources=sources), allowance).text:
            yield Look("instructions", ", ".join(source.file for source in sources), text)


def excerpts(
    state: State, files: Files, changes: dict[str, str], told: Sequence[Region], tests: Collection[str] = ()
) -> Iterator[Look]:
    """Current text of the definitions that the model has seen, written or been told of: as they are, never as they were. Tests
    that are next come in small parts, since there may be room for some."""
    regions = (*told, *state.regions)
    for path in dict.fromkeys(region.path for region in regions):
        lines, changed = (readable(files, path) or "").splitlines(), new_lines(changes.get(path, ""))
        touched = [region for region in regions if region.path == path]
        asked = [(region.start, region.end) for region in touched if region.step == state.step and not region.changed]
        wanted = [*asked, *around(changed), *[(region.start, region.end) for region in told if region.path == path]]
        wanted += paragraphs(lines) if path in tests else []
        for start, end in (part for chunk in chunks(lines) for part in parted(chunk, wanted)):
            if any(region.meets(start, end) for region in touched):
                yield Look("file", f"{path}:{start}-{end} {title(lines, start, end)}", excerpt(lines, start, end, changed))


def beginnings(state: State, files: Files, told: Sequence[Region]) -> Iterator[Look]:
    """How long code begins that the goal names: for room that nothing else asks for."""
    for path in named_in(state.task.goal):
        lines = (readable(files, path) or "").splitlines()
        known = [region for region in (*told, *state.regions) if region.path == path]
        wanted = [(region.start, region.end) for region in known]
        for start, end in (part for chunk in chunks(lines[:NAMED_LINES]) for part in parted(chunk, wanted)):
            if len(lines) > NAMED_LINES and not path.endswith(PROSE) and not any(region.meets(start, end) for region in known):
                yield Look(
                    "beginning", f"{path}:{start}-{end} {title(lines, start, end)}", excerpt(lines, start, end, frozenset())
                )


def nearby(files: Files, seen: Sequence[Look], told: Sequence[Region]) -> Iterator[Look]:
    """Short files that the source tree names first, until something is changed, without what is shown of them elsewhere: whoever
    is given their names alone spends the first step on reading them. For room that nothing else asks for."""
    places = [place for look in seen if (place := PLACE.match(look.subject))]
    known = [*told, *[Region(place[1], int(place[2]), int(place[3]), 0) for place in places]]
    tree = "\n".join(look.text for look in seen if look.kind == "outline")
    for path in [path for path, length in LISTED.findall(tree) if int(length) <= NAMED_LINES][:NEARBY]:
        lines = (readable(files, path) or "").splitlines()
        seen_lines = {line for one in known if one.path == path for line in range(one.start, one.end + 1)}
        for start, end in (part for chunk in chunks(lines) for part in besides(chunk, seen_lines, lines)):
            yield Look("beginning", f"{path}:{start}-{end} {title(lines, start, end)}", excerpt(lines, start, end, frozenset()))


def besides(chunk: tuple[int, int], known: Container[int], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """What is left of a part of a file when known lines are taken out of it, unless that is blank."""
    run = list[int]()
    for number in (*range(chunk[0], chunk[1] + 1), 0):
        if number and number not in known:
            run.append(number)
            continue
        if any(lines[one - 1].strip() for one in run):
            yield run[0], run[-1]
        run = []


def parted(chunk: tuple[int, int], wanted: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lines that are wanted for themselves apart from the rest of their definition: there may be room for them alone."""
    start, end = chunk
    inside = [(first, last) for first, last in wanted if start <= last and first <= end]
    edges = {*[first for first, _ in inside], *[last + 1 for _, last in inside]}
    cuts = [start, *sorted(edge for edge in edges if start + SLIGHT <= edge <= end + 1 - SLIGHT), end + 1]
    return [(first, then - 1) for first, then in pairwise(cuts)]


def paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Parts that begin after a blank line, none too short to be told apart."""
    begins = [1]
    for number in range(2, len(lines) + 1):
        if lines[number - 1].strip() and not lines[number - 2].strip() and number - begins[-1] >= SLIGHT:
            begins.append(number)
    return [(first, then - 1) for first, then in pairwise([*begins, len(lines) + 1])]


def around(changed: frozenset[int]) -> list[tuple[int, int]]:
    """Changed lines with a few beside them."""
    runs: list[tuple[int, int]] = []
    for number in sorted(changed):
        if runs and number - NEAR <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number + NEAR
        else:
            runs.append((number - NEAR, number + NEAR))
    return runs


def told_of(files: Files, paths: Sequence[str]) -> list[Region]:
    """Files that somebody names, as far as anybody would read them first: whole if they are short; of a long one its imports or
    how it begins, since what matters in it is seldom there."""
    named = [(path, text.splitlines()) for path in paths if (text := readable(files, path)) is not None]
    return [Region(path, *part, 0) for path, lines in named[:NAMED_FILES] if (part := beginning(path, lines))]


def named_in(goal: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[\w./-]*\w\.\w+", goal)))


def beginning(path: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """The first and the last line of it that are shown unasked."""
    if len(lines) <= NAMED_LINES:
        return 1, len(lines)
    if path.endswith(PROSE):
        return 1, BEGINNING
    found = [number for number, line in enumerate(lines[:IMPORTS], 1) if IMPORT.match(line)]
    return (found[0], found[-1] + continued(lines[found[-1] - 1 :])) if found else None


def continued(lines: Sequence[str]) -> int:
    """Lines after the first that belong to it, by its open brackets."""
    depth = 0
    for number, line in enumerate(lines[:IMPORTS]):
        depth += sum(line.count(sign) for sign in "({[") - sum(line.count(sign) for sign in ")}]")
        if depth <= 0:
            return number
    return 0


def failing_tests(state: State, files: Files) -> Iterator[Look]:
    """Source of tests that fail now, so that nobody has to ask for it."""
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    failures = [failure.test for run in runs for failure in run.failures if "::" in failure.test]
    for test in failures[:FAILING_SOURCES]:
        path, *names = test.split("[")[0].split("::")
        text = readable(files, path)
        if text is not None and (source := function_source(text, names)):
            yield Look("test", test, source)


def cited_lines(state: State, files: Files) -> Iterator[Look]:
    """What stands in each place that the report cites: whoever wrote it is to hold it against that once more."""
    text = readable(files, state.task.report) if state.task.report in (paths := files.paths()) else None
    for one in citations(text or "", paths):
        lines = (readable(files, one.path) or "").splitlines()[one.first - 1 : one.last] if one.path in paths else []
        if lines:
            yield Look("cited", str(one), one_line(lines[0], CITED_CHARACTERS))


def last_outputs(state: State, agent: Agent, edits: Edits) -> Iterator[Look]:
    """The last step's output in full, as far as it could ever fit: the builder decides how much is shown."""
    for seen in state.recent[-1].observations if state.recent else ():
        if seen.block and seen.size > len(seen.text):
            text = edits.scrub(agent.store.read(seen.block))
            yield Look("output", seen.block, both_ends(text, f"`recall` {seen.block[:8]}"))


def both_ends(text: str, source: str) -> str:
    """How a command ended is what it printed last."""
    if len(text) <= OUTPUT_CHARACTERS:
        return text
    tail = OUTPUT_CHARACTERS // 3
    gone = f"[… {len(text) - OUTPUT_CHARACTERS:,} of {len(text):,} characters left out: {source}]"
    return f"{text[: OUTPUT_CHARACTERS - tail]}\n{gone}\n{text[-tail:]}"


def readable(files: Files, path: str) -> str | None:
    try:
        return files.read(path)
    except ModelMistake:
        return None
