"""Instructions as a window shows them: own files whole or not at all, those of other tools in part where there is no room, and
every line with its place. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from afresh.context.section import SectionDraft, draft_always_section
from afresh.core.context_item import Note
from afresh.core.instructions import InstructionChain, InstructionFile, InstructionPart
from afresh.core.state import State
from afresh.core.states.ceiling_state import compute_highest_ceiling
from afresh.core.text import escape_hidden
from afresh.core.tokens import EstimatingCounter
from afresh.core.truncate import to_one_line
from afresh.errors import OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.knowledge import InstructionReader
from afresh.runtime import Runtime

INSTRUCTIONS_TITLE = "Project instructions (the task takes precedence)"
MENTIONED_PATH = re.compile(r"(?<![\w.-])(?:[\w.-]+(?:/[\w.-]+)+/?|[\w-]+\.\w+)")
"""Only where a word begins: from each letter on, a very long word would be read again."""
RULE_WORDS = re.compile(
    r"\b(?:never|always|must|mustn't|don't|do not|avoid|prefer|only|should|instead|forbidden|required?)\b", re.IGNORECASE
)
INSTRUCTIONS_COUNTER = EstimatingCounter()
"""Not the one that is learnt from the provider: what fits when the task is ordered fits later too, and stays the same bytes."""
MAX_HEADING_DEPTH = 6
MAX_INDEX_CHARACTERS = 80
"""Headings, and characters of one in an index."""


@dataclass(frozen=True, slots=True)
class InstructionsAllowance:
    """What instructions may take: a share of the ordered limit of a call; what is never cut the same share of the highest."""

    ordered: int
    share: float
    highest: int = 0

    @property
    def cap(self) -> int:
        return int(self.ordered * self.share)

    @property
    def most(self) -> int:
        return int(max(self.ordered, self.highest) * self.share)


@dataclass(frozen=True, slots=True)
class InstructionLine:
    """A line as the model sees it, and the lines that it comes from; none for one that names a file."""

    text: str
    file: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class RenderedInstructions:
    chain: InstructionChain
    allowance: InstructionsAllowance
    lines: tuple[InstructionLine, ...] = ()
    tokens: int = 0
    partial: tuple[str, ...] = ()
    """Files of which a part is only named."""

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


PartGroup = tuple[InstructionPart, ...]
"""Parts of a file that are shown or named together."""


@dataclass(frozen=True, slots=True)
class InstructionForm:
    """How one source is shown: its groups, and which of them whole. None at all: by its name."""

    source: InstructionFile
    groups: tuple[PartGroup, ...] = ()
    whole: frozenset[int] = frozenset()

    @property
    def complete(self) -> bool:
        return len(self.whole) == len(self.groups) > 0


def select_instruction_chain(state: State, instructions: InstructionReader, folders: Sequence[str] = ()) -> InstructionChain:
    """By the paths that the work is about: named by goal or user, changed, or looked at; and by further folders."""
    named = [
        path.removeprefix("./").rstrip("/")
        for text in (state.task.goal, *state.dialogue.words)
        for path in MENTIONED_PATH.findall(text)
    ]
    touched = (*state.workspace.changed, *(region.path for region in state.memory.regions), *folders)
    return instructions.chain((state.task.judged_as, state.task.type), named, touched)


@lru_cache(maxsize=16)
def render_instructions(chain: InstructionChain, allowance: InstructionsAllowance) -> RenderedInstructions:
    """What must be whole first, then files of other tools as far as there is room, the most special before others. OverCeiling
    when what must be in is over the allowance."""
    forms = _admit_sources(chain, allowance)
    for at in reversed(range(len(forms))):
        if not forms[at].source.own:
            forms = _expand_source(forms, at, allowance.cap)
    complete = {form.source.file for form in forms if form.complete}
    partial = tuple(source.file for source in chain.sources if source.file not in complete)
    return RenderedInstructions(chain, allowance, _list_instruction_lines(forms), count_instruction_tokens(forms), partial)


def _admit_sources(chain: InstructionChain, allowance: InstructionsAllowance) -> list[InstructionForm]:
    """Own files whole, others by name; where there is no room for every name, the most general share a line."""
    others, forms = [source for source in chain.sources if not source.own], list[InstructionForm]()
    for count in range(len(others) + 1):
        crowd, left = others[:count], [source for source in chain.sources if source not in others[:count]]
        shared = (
            [InstructionForm(InstructionFile(f"{count} more files, such as {crowd[-1].file}", crowd[-1].level, own=False))]
            if crowd
            else []
        )
        forms = [*shared, *(build_whole_form(source) if source.own else InstructionForm(source) for source in left)]
        if count_instruction_tokens(forms) <= allowance.cap:
            return forms
    if count_instruction_tokens(forms) <= allowance.most:
        return forms
    raise _build_too_long_error(forms, allowance)


def _expand_source(forms: Sequence[InstructionForm], at: int, cap: int) -> list[InstructionForm]:
    """Whole if it fits; otherwise an index of as many headings as fit, and of that what still has room, the strictest first."""

    def fits(form: InstructionForm) -> bool:
        return count_instruction_tokens([*forms[:at], form, *forms[at + 1 :]]) <= cap

    source = forms[at].source
    indexes = (InstructionForm(source, _group_parts(source.parts, depth)) for depth in range(MAX_HEADING_DEPTH, -1, -1))
    best = next((form for form in (build_whole_form(source), *indexes) if fits(form)), forms[at])
    for number in sorted(range(len(best.groups)), key=lambda number: -_measure_strictness(best.groups[number])):
        if fits(fuller := replace(best, whole=best.whole | {number})):
            best = fuller
    return [*forms[:at], best, *forms[at + 1 :]]


def _measure_strictness(group: PartGroup) -> float:
    """Words that make a rule, for the length of the text: a description is found by reading code, a rule is not."""
    text = "\n".join(line.text for part in group for line in part.lines)
    return len(RULE_WORDS.findall(text)) / (len(text) + 1)


def build_whole_form(source: InstructionFile) -> InstructionForm:
    groups = _group_parts(source.parts, MAX_HEADING_DEPTH)
    return InstructionForm(source, groups, frozenset(range(len(groups))))


def _group_parts(parts: Sequence[InstructionPart], depth: int) -> tuple[PartGroup, ...]:
    """Each begins with a heading of at most that depth; what stands below it goes with it."""
    groups: list[PartGroup] = []
    for part in parts:
        if groups and part.depth > depth:
            groups[-1] = (*groups[-1], part)
        else:
            groups.append((part,))
    return tuple(groups)


def count_instruction_tokens(forms: Sequence[InstructionForm]) -> int:
    """Of the section, with its heading."""
    text = "\n".join(line.text for line in _list_instruction_lines(forms))
    return INSTRUCTIONS_COUNTER(f"## {INSTRUCTIONS_TITLE}\n{text}") + 2 if text else 0


def _list_instruction_lines(forms: Sequence[InstructionForm]) -> tuple[InstructionLine, ...]:
    return tuple(line for form in forms for line in _render_form(form))


def _render_form(form: InstructionForm) -> Iterator[InstructionLine]:
    source = form.source
    yield InstructionLine(_render_label(form), source.file)
    for number, group in enumerate(form.groups):
        if number in form.whole:
            yield from (line for part in group for line in _render_part(part, source.file))
        elif source.tracked:
            title = to_one_line(group[0].title or group[0].lines[0].text, MAX_INDEX_CHARACTERS)
            yield InstructionLine(f"… {group[0].first}-{group[-1].last} {title}", source.file, group[0].first, group[-1].last)


def _render_label(form: InstructionForm) -> str:
    """Where the lines below it come from, and where they hold."""
    source = form.source
    holds = f", for {source.folder}" if source.folder else ""
    holds += f", not in {', '.join(source.elsewhere)}" if source.elsewhere else ""
    if form.complete:
        return f"[{source.file}{holds}]"
    if not form.groups:
        return f"[{source.file}{holds}, not shown{': `read` it' if source.tracked else ''}]"
    rest = "`read` the lines you need" if source.tracked else "the rest is not in your tree"
    return f"[{source.file}{holds}, in part: {rest}]"


def _render_part(part: InstructionPart, file: str) -> Iterator[InstructionLine]:
    """As it stands, but nothing in it can be taken for a section of the window, and nothing is hidden."""
    besides = f" (in {', '.join(part.elsewhere)}: see there)" if part.elsewhere else ""
    head, *rest = part.lines
    for number, line in enumerate((head, *rest)):
        text = escape_hidden(line.text).rstrip()
        if number == 0 and part.depth:
            text = f"{'#' * min(MAX_HEADING_DEPTH, part.depth + 2)} {escape_hidden(part.title)}{besides}"
        elif text.startswith("#"):
            text = f" {text}"
        yield InstructionLine(text + (besides if number == 0 and not part.depth else ""), file, line.number, line.number)


def _build_too_long_error(forms: Sequence[InstructionForm], allowance: InstructionsAllowance) -> OverCeiling:
    """Names the largest file."""
    largest = max(forms, key=lambda form: count_instruction_tokens([form]))
    file, others, needed = largest.source.file, len(forms) - 1, count_instruction_tokens(forms)
    over, cap, limit = needed - allowance.most, allowance.most, max(allowance.ordered, allowance.highest)
    besides = f" with {others} other{'s' if others > 1 else ''}" if others else ""
    evidence = f"{file}{besides} needs {needed:,} tokens, {over:,} over the {cap:,} that instructions may take"
    budget = ceil(needed / allowance.share / 100) * 100
    return OverCeiling(
        f"{evidence} ({allowance.share:.0%} of the limit of {limit:,} tokens a call), and they are never cut. "
        f"Nothing was sent. Shorten {file} (`afresh context instructions` shows what counts), or allow larger calls.",
        evidence,
        f"shorten {file}, or --set max_budget={budget}",
        budget - limit,
        budget,
    )


def gather_instructions(state: State, runtime: Runtime) -> Iterator[Note]:
    """The rules that people have laid down for such work, read anew for every call. OverCeiling if they don't fit."""
    if runtime.knowledge.instructions:
        ordered, highest = state.task.budget, compute_highest_ceiling(state.task, runtime.model.window)
        chain, allowance = (
            select_instruction_chain(state, runtime.knowledge.instructions),
            InstructionsAllowance(ordered, runtime.settings.template.instructions, highest),
        )
        tree = runtime.files.paths() if any(not source.own for source in chain.sources) else ()
        sources = tuple(replace(source, tracked=source.own or source.file in tree) for source in chain.sources)
        if text := render_instructions(replace(chain, sources=sources), allowance).text:
            yield Note("instructions", ", ".join(source.file for source in sources), text)


def draft_instructions(memory: GatheredContext) -> SectionDraft:
    return draft_always_section("instructions", INSTRUCTIONS_TITLE, [look.text for look in memory.notes("instructions")])
