"""Cuts pieces out of a function over the complexity limit, until it and every new function are within the limit."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, count
from keyword import kwlist

from afresh.code.complexity import MAX_COMPLEXITY, FunctionNode
from afresh.code.complexity_settings import explain_exempt_function
from afresh.code.config_files import ProjectConfiguration
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.blocks import StatementBlock, combine_traits, count_paragraph_breaks, find_blocks, split_paragraphs
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

MAX_PARAMETERS = 4
MIN_BLOCK_LINES = 5
MIN_BLOCK_DECISIONS = 2
MAX_BLOCK_SHARE = 0.75
"""A piece with more of the function's lines is the function under another name."""
MAX_TAIL_BREAKS = 1
MAX_CUTS = 4
MAX_ALTERNATIVES = 3
BEAM_WIDTH = 3
MAX_CUTS_TRIED = 6
PRICE_OF_A_CUT = 2.0
SHAPE_PRICES = {ExtractionShape.CALL: 0.0, ExtractionShape.RETURN: 0.0, ExtractionShape.CONTINUE: 1.0, ExtractionShape.MAYBE: 3.0}
CHANGING_METHODS = frozenset("add append appendleft clear extend insert pop popleft remove setdefault sort update write".split())  # noqa: SIM905
COMPOUND_NODES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
NAME_PLACEHOLDER = "NAME"
"""Placeholder for the name of a new function, which the model chooses; the second is NAME2."""
TEXT_TO_LEAVE_ALONE = re.compile(r"generated (?:\w+ )?by\b|\bdo not (?:edit|modify)\b", re.IGNORECASE)
PATH_TO_LEAVE_ALONE = re.compile(r"(?:^|/)(?:_?vendor(?:ed)?|extern|third_?party)/|_pb2(?:_grpc)?\.py$")
HEAD_CHARACTERS = 1_000
NAMING_COMMENT = re.compile(r"#\s*([A-Za-z][a-z]+(?: [a-z]+){1,4})[.:]?\s*")


@dataclass(frozen=True, eq=False)
class ProjectFacts:
    """Facts of the rest of the project that a change to one file depends on."""

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The project's Python files by path."""
    configuration: ProjectConfiguration = field(default_factory=lambda: ProjectConfiguration((), {}))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the code: a new method with one of these names might override something."""
        return frozenset[str]().union(*map(collect_words, self.texts.values()))


NO_PROJECT = ProjectFacts()
"""For a file without a project."""


@lru_cache(maxsize=4096)
def collect_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A piece of a function that could become a function."""

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
    if fault := find_fault(source, extracted, parameters):
        return fault
    price = 0.6 * len(parameters) + 2.0 * max(0, len(parameters) - 3) + 3.0 * ("self" in parameters)
    price += 0.5 * len(extracted.results) + SHAPE_PRICES[extracted.shape]
    price += 2.0 * len(find_changed_locals(extracted)) + count_paragraph_breaks(block, source)
    price += 0.0 if block.whole else 0.5 if len(block.statements) == 1 else 1.0
    price -= 1.0 if NAMING_COMMENT.fullmatch(source.line(block.first_line).strip()) else 0.0
    return Cut(extracted, where, price)


def find_fault(source: PythonSource, extracted: Extraction, parameters: Sequence[str]) -> str:
    """Why a reviewer would not take the piece as a function; empty if nothing is wrong with it."""
    block, results = extracted.block, extracted.results
    if len(parameters) > MAX_PARAMETERS:
        return f"pieces need more than {MAX_PARAMETERS} parameters"
    if len(results) > 1:
        return "pieces give back more than one result"
    if any(isinstance(node, FunctionNode | ast.ClassDef) for node in block.statements):
        return "pieces define functions"
    prepared = [name for name in extracted.parameters if begins_elsewhere(extracted, name)]
    if len(find_changed_locals(extracted)) + len(results) > 1:
        return "pieces change several variables of the function"
    if {*prepared} & {*results}:
        return "pieces are apart from where their result begins"
    if raises_again(block):
        return "pieces raise what a handler outside has caught"
    if not begins_thought(source, extracted) or not ends_thought(source, block):
        return "pieces begin or end in the middle of a thought"
    if does_several_things(source, extracted):
        return "pieces do several things"
    return ""


def find_changed_locals(extracted: Extraction) -> list[str]:
    """Collections that the function makes and the piece fills."""
    changed = set[str]()
    for node in (node for statement in extracted.block.statements for node in ast.walk(statement)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in CHANGING_METHODS:
                changed.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                changed.add(name)
            case _:
                pass
    return [name for name in extracted.parameters if name in changed and begins_elsewhere(extracted, name)]


def begins_elsewhere(extracted: Extraction, name: str) -> bool:
    """Whether the variable was given a first value before the piece, such as 0 or an empty list."""
    before = [node for node in extracted.host.nodes if getattr(node, "lineno", 0) < extracted.block.first_line]
    values = [
        node.value
        for node in before
        if (isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets))
        or (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name)
    ]
    first = (ast.Constant, ast.List, ast.Dict, ast.Set)
    return any(
        isinstance(value, first) or (isinstance(value, ast.Call) and not (value.args or value.keywords)) for value in values
    )


def begins_thought(source: PythonSource, extracted: Extraction) -> bool:
    """Whether the piece begins its list, a paragraph or a compound statement, or sets a variable that only it uses."""
    block, first = extracted.block, extracted.block.statements[0]
    if block.start == 0 or block.first_line < first.lineno or not source.line(block.first_line - 1).strip():
        return True
    before = block.place.statements[block.start - 1]
    if isinstance(first, COMPOUND_NODES):
        return not isinstance(before, COMPOUND_NODES) or (len(block.statements) == 1 and not isinstance(first, ast.If))
    targets = first.targets if isinstance(first, ast.Assign) else [first.target] if isinstance(first, ast.AnnAssign) else []
    names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return bool(names) and not names & {*extracted.parameters}


def ends_thought(source: PythonSource, block: StatementBlock) -> bool:
    following = "" if block.at_end else source.line(block.last_line + 1).strip()
    if not following or following.startswith("#"):
        return True
    last, after = block.statements[-1], block.place.statements[block.stop]
    if not isinstance(last, COMPOUND_NODES):
        return False
    return not isinstance(after, COMPOUND_NODES) or (len(block.statements) == 1 and not isinstance(last, ast.If))


def does_several_things(source: PythonSource, extracted: Extraction) -> bool:
    """Whether it has paragraphs that have nothing to do with its result, or hands back what it was given."""
    block = extracted.block
    if extracted.shape is ExtractionShape.RETURN:
        values = [node.value for node in combine_traits(block.statements).returns if node.value]
        returned = {node.id for value in values for node in getattr(value, "elts", [value]) if isinstance(node, ast.Name)}
        return bool(returned & {*extracted.parameters} - {*extracted.host.arguments}) or (
            not block.whole and count_paragraph_breaks(block, source) > MAX_TAIL_BREAKS
        )
    names = {*extracted.results, *find_changed_locals(extracted)}
    paragraphs = [] if block.whole else split_paragraphs(block, source)
    mentioned = (
        {node.id for stmt in paragraph for node in ast.walk(stmt) if isinstance(node, ast.Name)} for paragraph in paragraphs
    )
    return len(paragraphs) > 1 and any(names.isdisjoint(words) for words in mentioned)


def raises_again(block: StatementBlock) -> bool:
    """Whether it raises what a handler outside has caught."""
    nodes = [node for statement in block.statements for node in ast.walk(statement)]
    handlers = [range(node.lineno, (node.end_lineno or 0) + 1) for node in nodes if isinstance(node, ast.ExceptHandler)]
    again = [node.lineno for node in nodes if isinstance(node, ast.Raise) and node.exc is None]
    return any(not any(line in handler for handler in handlers) for line in again)


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
    turn = [python_function for python_function in source.functions if python_function.name == function.name].index(function)
    return next(
        iter([python_function for python_function in result.functions if python_function.name == function.name][turn:]), None
    )


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
