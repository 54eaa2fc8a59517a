"""Proposes names for new functions where the code says what a piece does. A piece without such words gets no name."""

import ast
import keyword
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from afresh.code.complexity import FunctionNode, LoopNode, list_statement_bodies
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.alike_code import count_alike_branches
from afresh.code.refactoring.blocks import combine_traits
from afresh.code.refactoring.identifier_words import (
    CONVERTING_TYPES,
    PREDICATE_PREFIXES,
    VAGUE_VERBS,
    VERBS,
    WEAK_WORDS,
    find_call_verb,
    find_comment_words,
    find_noun,
    find_tested_case,
    is_specific_name,
    make_singular,
    only_selects,
    split_identifier,
)
from afresh.code.refactoring.name_usage import NameSet, collect_bound_names, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape

MAX_NAME_CHARACTERS = 34
MAX_NAME_WORDS = 6
MAX_LINES_OF_A_COMMENT = 30
"""A comment above more lines than this hardly describes them all."""
MIN_DISPATCHED_CASES = 3
"""A function with so many branches that ask the same question only chooses which case to handle."""
EFFECT_VERBS = ("close", "display", "emit", "log", "notify", "open", "print", "report", "save", "send", "show", "warn", "write")
"""What gives back a value and does nothing else does not do this, whatever the comment above it says."""
COLLECTING_METHODS = {"append", "add", "extend", "insert", "update", "setdefault", "appendleft"}


def propose_names(extraction: Extraction, source: PythonSource) -> Iterator[tuple[str, float]]:
    """Yield candidate names, the best first, each with its distance from what a reviewer would choose."""
    seen: set[str] = set()
    for words, distance in sorted(_proposals(extraction, source), key=lambda proposal: proposal[1]):
        words = [word for word in words if word]
        fits = 1 < len(words) <= MAX_NAME_WORDS and all(one != other for one, other in pairwise(words))
        name = "_" + "_".join(words).strip("_")
        if fits and name not in seen and len(name) <= MAX_NAME_CHARACTERS and name.isidentifier() and not keyword.iskeyword(name):
            seen.add(name)
            yield name, distance + 0.5 * max(0, len(words) - 4)


def _proposals(extraction: Extraction, source: PythonSource) -> Iterator[tuple[list[str], float]]:
    """Yield words by evidence: a comment that says it, the one result, the case of a branch, an element of the function's loop,
    what is checked.
    """
    yield _words_from_comment(extraction, source), 0.0
    results = _result_names(extraction)
    aside = has_other_effects(extraction.block.statements, frozenset(results)) or _grow_later(extraction, results)
    if results and not aside:
        yield _words_from_results(extraction, results), 1.0 + 2.0 * (len(results) - 1)
    if not extraction.results and extraction.shape is not ExtractionShape.MAYBE:
        yield _words_from_case(extraction), 1.5
        yield _words_from_element(extraction), 1.5
        if _only_checks(extraction):
            yield _words_for_check(extraction), 1.5


def _words_from_comment(extraction: Extraction, source: PythonSource) -> list[str]:
    """Return the words of the comment above the block, unless it describes only the first lines."""
    block = extraction.block
    first = block.statements[0].lineno
    lines = [source.line(number).strip() for number in range(block.first_line, first)]
    if not lines or not all(line.startswith("#") for line in lines) or block.lines > MAX_LINES_OF_A_COMMENT:
        return []
    if not _ends_paragraph(extraction, source):
        return []
    indent = block.statements[0].col_offset
    for before, after in pairwise(block.statements):
        between = [source.line(number) for number in range((before.end_lineno or 0) + 1, after.lineno)]
        if any(not line.strip() or line[indent:].startswith("#") for line in between):
            return []
    words = find_comment_words(" ".join(line.lstrip("#: ") for line in lines))
    return [] if words and words[0] in EFFECT_VERBS and extraction.results else words


def _ends_paragraph(extraction: Extraction, source: PythonSource) -> bool:
    """Whether the comment is about this and no more: one statement, or a blank line, a comment or nothing follows."""
    block = extraction.block
    following = source.line(block.last_line + 1).strip() if block.last_line < len(source.lines) else ""
    return len(block.statements) == 1 or block.at_end or not following or following.startswith("#")


def _result_names(extraction: Extraction) -> tuple[str, ...]:
    """Return the variables that the piece makes: its results, or the one that it returns at its end."""
    last = extraction.block.statements[-1]
    if extraction.shape is ExtractionShape.RETURN and isinstance(last, ast.Return) and isinstance(last.value, ast.Name):
        made = collect_bound_names(extraction.block.statements) - set(extraction.parameters)
        only = len(combine_traits(extraction.block.statements).returns) == 1
        return (last.value.id,) if last.value.id in made and only else ()
    return extraction.results


def _grow_later(extraction: Extraction, results: tuple[str, ...]) -> bool:
    """Whether the function goes on to fill a result after the piece: then the piece makes only a part of it."""
    for node in extraction.host.nodes:
        filled = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COLLECTING_METHODS:
            filled = node.func.value
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            filled = node.value
        elif isinstance(node, ast.AugAssign):
            filled = node.target
        if isinstance(filled, ast.Name) and filled.id in results and filled.lineno > extraction.block.last_line:
            return True
    return False


def _words_from_results(extraction: Extraction, results: tuple[str, ...]) -> list[str]:
    words = [split_identifier(name) for name in results]
    if not all(map(_is_telling, words)):
        return []
    if len(words) == 1 and words[0][0] in PREDICATE_PREFIXES:
        given = results[0] in extraction.parameters
        return [] if given or combine_traits(extraction.block.statements).raises else words[0]
    verb = find_making_verb(extraction, frozenset(results))
    return [verb, *_join_with_and(words)] if verb and verb not in words[0] else []


def _is_telling(words: list[str]) -> bool:
    """Whether a variable's name says what it holds: a whole noun, or two words of which one is specific."""
    long = any(word not in WEAK_WORDS and len(word) > 3 and word.isalpha() for word in words)
    whole = not words[-1].isdigit() and not words[-1].endswith("ed")
    return long and whole and words[0] not in ("new", "old", "tmp", "temp")


def _join_with_and(names: Iterable[Sequence[str]]) -> list[str]:
    return [word for words in names for word in ("and", *words)][1:]


def _host_words(extraction: Extraction) -> tuple[str, list[str]]:
    """Return the verb of the function's own name and the rest of the name; a vague verb needs the rest."""
    words = split_identifier(extraction.host.node.name)
    first, rest = words[0] if words else "", words[1:]
    return (first, rest) if first in VERBS and (rest or first not in VAGUE_VERBS) else ("", rest)


def _words_from_case(extraction: Extraction) -> list[str]:
    """Return the function's verb with the case that a whole branch handles: `_visit_try_stmt` in `visit`."""
    block, parent = extraction.block, extraction.block.place.parent
    verb, rest = _host_words(extraction)
    if not block.whole or block.place.statements is not getattr(parent, "body", None):
        return []
    dispatched = count_alike_branches(extraction.host, block) >= MIN_DISPATCHED_CASES
    if dispatched and (words := split_identifier(extraction.host.node.name))[:1] and words[0] in VERBS:
        verb, rest = words[0], words[1:]
    if not verb or not (dispatched or _gives_the_result(extraction)):
        return []
    case: list[str] = []
    if isinstance(parent, ast.If):
        case = find_tested_case(parent.test)
    elif isinstance(parent, ast.match_case):
        case = split_identifier(ast.unparse(parent.pattern).split("(")[0])[-2:]
    return [verb, *case, *(word for word in rest if word not in case)] if is_specific_name(case) else []


def _gives_the_result(extraction: Extraction) -> bool:
    """Whether the function's own result comes from the piece, so that the function's verb says what the piece does, too."""
    returns = combine_traits(extraction.block.statements).returns
    return extraction.shape is ExtractionShape.RETURN and any(node.value is not None for node in returns)


def _words_from_element(extraction: Extraction) -> list[str]:
    """Return the function's verb with the loop's variable, if the function is named after what it iterates over."""
    block, parent = extraction.block, extraction.block.place.parent
    verb, rest = _host_words(extraction)
    if not verb or not block.whole or not isinstance(parent, ast.For | ast.AsyncFor) or not isinstance(parent.target, ast.Name):
        return []
    element = split_identifier(parent.target.id)
    return [verb, *element] if rest and make_singular(rest) == element != rest and is_specific_name(element) else []


def _only_checks(extraction: Extraction) -> bool:
    """Whether the block returns nothing, changes nothing and only raises."""
    held = combine_traits(extraction.block.statements)
    return held.raises and not held.returns and not has_other_effects(extraction.block.statements, frozenset())


def _words_for_check(extraction: Extraction) -> list[str]:
    """Return words for one check by its subject, or `check arguments` for several on the function's own arguments."""
    arguments = [name for name in extraction.parameters if name not in ("self", "cls")]
    decisions = [statement for statement in extraction.block.statements if list_statement_bodies(statement)]
    if len(decisions) > 1 and len(arguments) > 1 and set(arguments) <= set(extraction.host.arguments):
        return ["check", "arguments"] if len(decisions) == len(extraction.block.statements) else []
    subject = _subject_of(decisions[0]) if len(decisions) == 1 else []
    return ["check", *subject] if is_specific_name(subject) else []


def _subject_of(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.For | ast.AsyncFor):
        return find_noun(statement.iter)
    test = statement.test if isinstance(statement, ast.If) else None
    if test is None or not _is_used_again(statement, test):
        return []
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.Compare):
        return find_noun(test.left)
    return find_noun(test) if isinstance(test, ast.Name | ast.Attribute) else []


def _is_used_again(statement: ast.stmt, test: ast.expr) -> bool:
    """Whether what is tested is used after the test: else the test says when something is checked, not what."""
    tested = {id(node) for node in ast.walk(test)}
    about = {ast.unparse(node) for node in ast.walk(test) if isinstance(node, ast.Name | ast.Attribute)} - {"self", "cls"}
    rest = (node for node in ast.walk(statement) if isinstance(node, ast.Name | ast.Attribute) and id(node) not in tested)
    return any(ast.unparse(node) in about for node in rest)


def has_other_effects(statements: Sequence[ast.stmt], results: NameSet) -> bool:
    """Whether the block also changes something other than its results."""
    for node in walk_own_scope(statements):
        of: ast.AST | None = node if isinstance(node, ast.Yield | ast.YieldFrom) else None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            of = node.value.func.value if isinstance(node.value.func, ast.Attribute) else node.value.func
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            of = node.value
        if of is not None and not (isinstance(of, ast.Name) and of.id in results):
            return True
    return False


def find_making_verb(extraction: Extraction, results: NameSet) -> str:
    """Return the verb for how the results are made; empty if unclear."""
    statements = extraction.block.statements
    nodes = list(walk_own_scope(statements))
    if any(isinstance(node, FunctionNode) for node in statements):
        return ""
    given = results & set(extraction.parameters)
    if given:
        return "resolve" if given == results and _replaces_missing(statements, results) else ""
    if _is_collected(nodes, results):
        return "collect" if only_selects(nodes) else ""
    values = list(_iterate_assigned_values(nodes, results))
    verbs = {find_call_verb(value) if isinstance(value, ast.Call) else "" for value in values}
    if len(verbs) == 1 and "" not in verbs and len(results) == 1 and not verbs & VAGUE_VERBS:
        return verbs.pop()
    if any(isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in results for node in nodes):
        return "compute" if any(_is_number(value) for value in values) else ""
    return _choose_selecting_verb(statements, nodes)


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float) and not isinstance(value.value, bool)


def _replaces_missing(statements: Sequence[ast.stmt], results: NameSet) -> bool:
    """Whether the block does nothing unless the value is missing: `if x is None:` or `if not x:`."""
    if len(statements) != 1 or not isinstance(statements[0], ast.If) or statements[0].orelse:
        return False
    match statements[0].test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return name in results
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
            return name in results
        case _:
            return False


def _choose_selecting_verb(statements: Sequence[ast.stmt], nodes: list[ast.AST]) -> str:
    loops = [node for node in statements if isinstance(node, LoopNode)]
    if loops:
        return "find" if any(isinstance(node, ast.Break) for node in nodes) else ""
    if isinstance(statements[-1], ast.If | ast.Match) and len(statements) <= 2:
        return "choose" if only_selects(nodes, CONVERTING_TYPES) else ""
    return "find" if any(isinstance(node, ast.Try) for node in statements) and len(statements) <= 2 else ""


def _is_collected(nodes: Iterable[ast.AST], results: NameSet) -> bool:
    for node in nodes:
        filled = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COLLECTING_METHODS:
            filled = node.func.value
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            filled = node.value
        if isinstance(filled, ast.Name) and filled.id in results:
            return True
    return False


def _iterate_assigned_values(nodes: Iterable[ast.AST], results: NameSet) -> Iterator[ast.expr]:
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        value = getattr(node, "value", None)
        if value is not None and any(isinstance(target, ast.Name) and target.id in results for target in targets):
            yield value
