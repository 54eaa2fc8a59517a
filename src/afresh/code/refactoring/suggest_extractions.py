"""Cuts pieces out of a function over the complexity limit, until it and every new function are within the limit."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, count
from keyword import kwlist

from afresh.code.complexity import MAX_COMPLEXITY, FunctionNode
from afresh.code.complexity_settings import explain_exempt_function
from afresh.code.config_files import ProjectConfiguration
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.blocks import StatementBlock, count_paragraph_breaks, find_blocks
from afresh.code.refactoring.call_stack import find_frame_sensitive_names
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.name_usage import list_header_parts
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape, explain_obstacle, plan_extraction
from afresh.code.refactoring.render_extraction import NewFunctionPlacement, place_helper, render_call, render_helper
from afresh.code.refactoring.text_edits import (
    BUILTIN_NAMES,
    LineSplice,
    TextEdit,
    apply_edits,
    apply_splices,
    edits_from_splices,
    find_splices,
    is_sound_result,
)
from afresh.core.archived_block import block_id_from_text

MAX_PARAMETERS = 5
MAX_RESULTS = 2
MIN_BLOCK_LINES = 4
MIN_BLOCK_DECISIONS = 2
MAX_BLOCK_SHARE = 0.75
"""A piece with more of the function's lines is the function under another name."""
MAX_CUTS = 8
BEAM_WIDTH = 2
MAX_CUTS_TRIED = 4
MAX_ALTERNATIVES = 3
PRICE_OF_A_CUT = 2.0
PRICE_OF_A_DEFINITION = 5.0
"""A piece that defines a function would only be a place where that is made."""
SHAPE_PRICES = {ExtractionShape.CALL: 0.0, ExtractionShape.RETURN: 0.0, ExtractionShape.CONTINUE: 1.0, ExtractionShape.MAYBE: 3.0}
RESULT_PRICES = (0.0, 0.5, 3.0)
NAME_PLACEHOLDER = "NAME"
"""Stands for the name of a new function, which the model chooses; the second is NAME2."""
TEXT_TO_LEAVE_ALONE = re.compile(r"generated (?:\w+ )?by\b|\bdo not (?:edit|modify)\b", re.IGNORECASE)
PATH_TO_LEAVE_ALONE = re.compile(r"(?:^|/)(?:_?vendor(?:ed)?|extern|third_?party)/|_pb2(?:_grpc)?\.py$")
HEAD_CHARACTERS = 1_000
NAMING_COMMENT = re.compile(r"#\s*([A-Za-z][a-z]+(?: [a-z]+){1,4})[.:]?\s*")


@dataclass(frozen=True, eq=False)
class ProjectFacts:
    """What a change to one file must know about the rest of the project."""

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The project's Python files by path."""
    configuration: ProjectConfiguration = field(default_factory=lambda: ProjectConfiguration((), {}))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the code: a new method with one of these names might override something."""
        return frozenset[str]().union(*map(collect_words, self.texts.values()))


NO_PROJECT = ProjectFacts()
"""For a file on its own."""


@lru_cache(maxsize=4096)
def collect_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A piece of a function that may become a function of its own."""

    extracted: Extraction
    where: NewFunctionPlacement
    price: float
    """How far it is from a whole branch with a small interface, which is 0; a comment that names the piece takes 1 off."""

    @property
    def gain(self) -> int:
        return self.extracted.block.cost - (self.extracted.shape is ExtractionShape.MAYBE)

    @property
    def lines(self) -> frozenset[str]:
        texts = map(ast.unparse, self.extracted.block.statements)
        return frozenset(line.strip() for text in texts for line in text.splitlines())

    def overlaps(self, lines: frozenset[str]) -> bool:
        """Whether it has more than half of the lines, or the lines more than half of it."""
        return bool(lines) and 2 * len(self.lines & lines) > min(len(self.lines), len(lines))

    def rank(self, complexity: int) -> float:
        return 2.0 * max(0, complexity - self.gain - MAX_COMPLEXITY) + self.price


@dataclass(frozen=True, slots=True)
class Suggestion:
    id: str
    text: str
    """A line that says what it does, a line with its edits as JSON, and a line with the default names."""
    path: str
    function: str
    before: int
    after: int
    names: tuple[str, ...]
    """Default names of the new functions: none is a word of the file yet."""
    score: float = 0.0
    """Distance from what a reviewer would write; lower is better."""

    @property
    def head(self) -> str:
        return self.text.partition("\n")[0]

    def applied(self, text: str) -> str | None:
        """Return the text after the edits, with the default names; None if they do not fit."""
        edits = json.loads(self.text.split("\n")[1])
        return apply_edits(text, [TextEdit(edit["old"], edit["new"]) for edit in edits])


@dataclass(frozen=True, slots=True, eq=False)
class PlanState:
    """The file after some cuts in one function."""

    source: PythonSource
    function: PythonFunction
    cuts: tuple[Cut, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def price(self) -> float:
        return sum(cut.price + PRICE_OF_A_CUT for cut in self.cuts)

    @property
    def is_complete(self) -> bool:
        return self.function.complexity <= MAX_COMPLEXITY

    @property
    def rank(self) -> float:
        return 2.0 * max(0, self.function.complexity - MAX_COMPLEXITY) + self.price


def suggest_refactorings(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> Iterator[Suggestion]:
    """Yield sets of cuts that bring the function within the limit together, the best first; each of the others does without one
    of the best set's pieces. A function that can't be brought there gets none.
    """
    if explain_exempt(source, function, project):
        return
    best = search_plan(source, function, project)
    without = sorted(best.cuts, key=lambda cut: cut.gain, reverse=True)[:MAX_ALTERNATIVES] if best.is_complete else []
    seen: set[str] = set()
    for plan in chain([best], (search_plan(source, function, project, cut.lines) for cut in without)):
        if plan.is_complete and plan.source.text not in seen and is_sound_result(source, plan.source):
            seen.add(plan.source.text)
            yield make_suggestion(source, function, plan)


def explain_exempt(source: PythonSource, function: PythonFunction, project: ProjectFacts) -> str:
    """Return why the function is not to be changed, whatever could be done."""
    if PATH_TO_LEAVE_ALONE.search(source.path) or TEXT_TO_LEAVE_ALONE.search(source.text[:HEAD_CHARACTERS]):
        return "the file is vendored or generated"
    return explain_exempt_function(project.configuration, source.path, function.complexity)


def explain_missing_suggestion(source: PythonSource, function: PythonFunction, project: ProjectFacts = NO_PROJECT) -> str:
    if exempt := explain_exempt(source, function, project):
        return exempt
    if (best := search_plan(source, function, project)).cuts:
        return f"the cuts that were found leave it at {best.function.complexity}"
    obstacles = Counter[str]()
    for block, judged in judge_blocks(source, function, project):
        if isinstance(judged, str):
            obstacles[judged] += block.cost
    return next((reason for reason, _ in obstacles.most_common(1)), "no piece of it is large enough to be a function")


@lru_cache(maxsize=256)
def search_plan(
    source: PythonSource, function: PythonFunction, project: ProjectFacts, without: frozenset[str] = frozenset()
) -> PlanState:
    """Return the best set of cuts, or the best that was found where none reaches the limit. `without` are the statements of a
    piece that is not to be cut out.
    """
    beam = [PlanState(source, function)]
    best, seen = beam[0], {source.text}
    for _ in range(MAX_CUTS):
        options = [(state, cut) for state in beam for cut in _find_plan_cuts(state, project, without)]
        options.sort(key=lambda option: option[0].price + option[1].rank(option[0].function.complexity))
        following: list[PlanState] = []
        for state, cut in options[:MAX_CUTS_TRIED]:
            after = apply_cut(state, cut, project)
            if after is not None and after.source.text not in seen and after.function.complexity < state.function.complexity:
                if after.is_complete:
                    return after
                seen.add(after.source.text)
                following.append(after)
        beam = sorted(following, key=lambda state: state.rank)[:BEAM_WIDTH]
        if not beam:
            return best
        best = min([best, *beam], key=lambda state: state.rank) if best.cuts else beam[0]
    return best


def _find_plan_cuts(state: PlanState, project: ProjectFacts, without: frozenset[str]) -> Iterator[Cut]:
    """Yield the cuts in the function and in its nested functions, whose decisions count for it, too."""
    for function in state.source.functions:
        if function is state.function or state.function.node in function.around:
            for _, cut in judge_blocks(state.source, function, project):
                if isinstance(cut, Cut) and not cut.overlaps(without):
                    yield cut


def judge_blocks(
    source: PythonSource, function: PythonFunction, project: ProjectFacts
) -> Iterator[tuple[StatementBlock, Cut | str]]:
    """Yield each block of the function as a cut, or with the reason why it can't be one. Blocks that are too small or too large
    for a function are left out.
    """
    node = function.node
    most = MAX_BLOCK_SHARE * ((node.end_lineno or node.lineno) - node.lineno + 1)
    host = FunctionFlow(function, find_frame_sensitive_names(source, function, project.texts))
    for block in find_blocks(function, source):
        if MIN_BLOCK_LINES <= block.lines <= most and MIN_BLOCK_DECISIONS <= block.cost < MAX_COMPLEXITY:
            yield block, _judge_block(source, host, block)


def _judge_block(source: PythonSource, host: FunctionFlow, block: StatementBlock) -> Cut | str:
    extracted = plan_extraction(host, block)
    if extracted is None:
        return explain_obstacle(host, block)
    where = place_helper(extracted, source)
    if where is None:
        return "pieces use names of their class"
    parameters = [name for name in extracted.parameters if name != where.bound]
    if len(parameters) > MAX_PARAMETERS:
        return f"pieces need more than {MAX_PARAMETERS} parameters"
    if len(extracted.results) > MAX_RESULTS:
        return f"pieces give back more than {MAX_RESULTS} results"
    price = 0.6 * len(parameters) + 2.0 * max(0, len(parameters) - 3) + 3.0 * ("self" in parameters)
    price += RESULT_PRICES[min(len(extracted.results), MAX_RESULTS)] + SHAPE_PRICES[extracted.shape]
    price += PRICE_OF_A_DEFINITION * any(isinstance(node, FunctionNode | ast.ClassDef) for node in block.statements)
    price -= 1.0 if NAMING_COMMENT.fullmatch(source.line(block.first_line).strip()) else 0.0
    return Cut(extracted, where, price + _measure_raggedness(block, source))


def _measure_raggedness(block: StatementBlock, source: PythonSource) -> float:
    """Return 0 for a whole branch, little for a paragraph or one statement, and much for an arbitrary run of lines."""
    breaks = 0.5 * count_paragraph_breaks(block, source)
    if block.whole:
        return breaks
    begins = block.start == 0 or block.first_line < block.statements[0].lineno or not source.line(block.first_line - 1).strip()
    ends = block.at_end or not source.line(block.last_line + 1).strip()
    weight = 0.5 if len(block.statements) == 1 else 2.0
    return weight * ((not begins) + (not ends)) + 2 * breaks


def apply_cut(state: PlanState, cut: Cut, project: ProjectFacts) -> PlanState | None:
    """Return the file after the cut, under the default name."""
    source, extracted, where = state.source, cut.extracted, cut.where
    taken = collect_words(source.text) | (project.words if where.bound else frozenset())
    name = next(name for name in _propose_names(source, cut) if name not in taken)
    helper, block = render_helper(extracted, source, name, where), extracted.block
    apart = [""] if where.indent else ["", ""]
    lines = [*apart, *helper] if where.after else [*helper, *apart]
    call = LineSplice(block.first_line, block.last_line + 1, tuple(render_call(extracted, source, name, where)))
    result = parse_python(source.path, apply_splices(source, [call, LineSplice(where.line, where.line, tuple(lines))]))
    again = find_counterpart(source, state.function, result) if result else None
    return PlanState(result, again, (*state.cuts, cut), (*state.names, name)) if result and again else None


def find_counterpart(source: PythonSource, function: PythonFunction, result: PythonSource) -> PythonFunction | None:
    """Return the same function after a change. Overloads and property setters share a name, so its position is used."""
    turn = [one for one in source.functions if one.name == function.name].index(function)
    return next(iter([one for one in result.functions if one.name == function.name][turn:]), None)


def _propose_names(source: PythonSource, cut: Cut) -> Iterator[str]:
    """Yield names: that of a comment above the piece, then the function's name with the first word of the piece's test. A method
    of a class with bases gets no name from a comment, because a base class may have such a method.
    """
    extracted, function = cut.extracted, cut.extracted.host.function
    comment = NAMING_COMMENT.fullmatch(source.line(extracted.block.first_line).strip())
    if comment and not (cut.where.bound and function.owner and function.owner.bases):
        words = [word for word in comment[1].lower().split() if word not in ("a", "an", "the")]
        yield "_" + "_".join(words)
    stem = function.node.name.strip("_").lower()
    known = {*BUILTIN_NAMES, *kwlist, "self", "cls", *stem.split("_")}
    found = (word.strip("_").lower() for word in re.findall(r"[^\W\d]\w+", _read_test(extracted.block)) if word not in known)
    stem = f"_{stem}_{next((word for word in found if word), 'part')}"
    yield from chain([stem], (f"{stem}_{number}" for number in count(2)))


def _read_test(block: StatementBlock) -> str:
    """Return the text of what decides whether the branch is run if it is a whole one, then of its own first decision."""
    parent = block.place.parent
    if isinstance(parent, ast.If) and block.whole and parent.body is block.place.statements:
        return ast.unparse(parent.test)
    if isinstance(parent, ast.match_case) and block.whole:
        return ast.unparse(parent.pattern)
    inner = (node for node in block.statements if isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While | ast.Match))
    return " ".join(ast.unparse(part) for node in inner for part in list_header_parts(node))


def make_suggestion(source: PythonSource, function: PythonFunction, plan: PlanState) -> Suggestion:
    edits = edits_from_splices(source, find_splices(source, plan.source))
    pieces = [_describe_cut(cut, number, source if number == 1 else None) for number, cut in enumerate(plan.cuts, 1)]
    before, after = function.complexity, plan.function.complexity
    head = f"extract {', '.join(pieces)}: complexity {before} -> {after}"
    listed = [{"path": source.path, "old": edit.old, "new": edit.new} for edit in edits]
    text = f"{head}\n{json.dumps(listed, ensure_ascii=False)}\n{' '.join(plan.names)}"
    return Suggestion(
        block_id_from_text(text)[:12], text, source.path, function.name, before, after, plan.names, round(plan.price, 1)
    )


def _describe_cut(cut: Cut, number: int, source: PythonSource | None) -> str:
    """`12 lines of f in src/a.py (from `if x:`) into NAME(a, b) -> c`; the function and its file once."""
    extracted = cut.extracted
    opening = ast.unparse(extracted.block.statements[0]).partition("\n")[0][:60]
    results = ", ".join(extracted.results) or ("return" if extracted.shape is ExtractionShape.RETURN else "None")
    place = f" of {extracted.host.function.name} in {source.path}" if source else ""
    name = f"{cut.where.prefix}{NAME_PLACEHOLDER}{number if number > 1 else ''}"
    return f"{extracted.block.lines} lines{place} (from `{opening}`) into {name}({', '.join(extracted.parameters)}) -> {results}"
