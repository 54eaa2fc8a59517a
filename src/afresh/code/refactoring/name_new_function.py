"""Proposes names for new functions from words of the code, each with its distance from what a reviewer would choose."""

import ast
import keyword
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from afresh.code.complexity import FunctionNode, LoopNode, list_statement_bodies
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.blocks import combine_traits, count_paragraph_breaks
from afresh.code.refactoring.identifier_words import (
    INCIDENTAL_VERBS,
    PREDICATE_PREFIXES,
    VERBS,
    find_call_verb,
    find_case_words,
    find_comment_words,
    find_noun,
    is_specific_name,
    make_singular,
    read_function_name,
    split_identifier,
)
from afresh.code.refactoring.name_usage import NameSet, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape

VAGUE_VERBS = ("call", "handle", "process", "run", "use")
"""Verbs that say less than no verb at all."""
MAX_NAME_CHARACTERS = 34
MAX_NAME_WORDS = 6


def propose_names(extraction: Extraction, source: PythonSource) -> Iterator[tuple[str, float]]:
    """Yield candidate names, the best first; none if the code has no word for what the block does."""
    seen: set[str] = set()
    for words, distance in sorted(_proposals(extraction, source), key=lambda proposal: proposal[1]):
        words = [word for word in words if word]
        fits = len(words) > 1 and len(words) <= MAX_NAME_WORDS and all(one != other for one, other in pairwise(words))
        name = "_" + "_".join(words).strip("_")
        if fits and name not in seen and len(name) <= MAX_NAME_CHARACTERS and name.isidentifier() and not keyword.iskeyword(name):
            seen.add(name)
            yield name, distance + 0.5 * max(0, len(words) - 4)


def _proposals(extraction: Extraction, source: PythonSource) -> Iterator[tuple[list[str], float]]:
    first, *_ = (*split_identifier(extraction.host.node.name), "")
    verb = first if first in VERBS else ""
    comment, case = _words_from_comment(extraction, source), _words_from_condition(extraction)
    subject = _words_from_first_decision(extraction)
    returns, long = extraction.shape is ExtractionShape.RETURN, max(0, extraction.block.lines - 15) * 0.15
    effect = "" if returns else find_main_verb(extraction.block.statements)
    if comment:
        said = comment[0] in VERBS or {effect, verb} & set(comment)
        yield (comment, 0.0) if said else ([effect or verb or "handle", *comment], 1.5)
    if _only_checks(extraction):
        yield _words_for_check(extraction, subject, count_paragraph_breaks(extraction.block, source)), 1.0
    yield from _names_from_results(extraction)
    if case and is_specific_name(case):
        own = verb or (effect if extraction.block.lines <= 25 else "")
        vague = 4.0 if own in VAGUE_VERBS else 1.0 if own else 2.5
        yield [own or "handle", *case], vague + 3.0 * (case[0] == "without") + bool(extraction.results)
    if extraction.results or extraction.shape is ExtractionShape.MAYBE or count_paragraph_breaks(extraction.block, source):
        return
    if (filled := _filled_words(extraction)) and not returns:
        checking = verb in ("check", "validate", "verify") and is_specific_name(subject)
        yield [verb, *subject] if checking else filled, 1.5 + long + 4.0 * ("and" in filled and not checking)
    if loop := _loop_words(extraction, effect, verb):
        yield loop, 2.0 + long
    if returned := _words_from_return(extraction):
        yield returned, 2.0
    one = sum(bool(list_statement_bodies(statement)) for statement in extraction.block.statements) == 1
    if one and is_specific_name(subject) and (effect or verb) and not returns:
        yield [effect or verb, *subject], (2.5 if effect else 4.5) + long


def _names_from_results(extraction: Extraction) -> Iterator[tuple[list[str], float]]:
    words = [split_identifier(name) for name in extraction.results]
    if not words or not all(map(is_specific_name, words)):
        return
    if len(words) == 1 and words[0][0] in PREDICATE_PREFIXES:
        yield words[0], 0.5
        return
    made = find_making_verb(extraction, frozenset(extraction.results))
    aside = 5.0 * has_other_effects(extraction.block.statements, frozenset(extraction.results))
    yield [made or "find", *_join_with_and(words)], aside + (1.0 if made else 5.0)


def _join_with_and(names: Iterable[Sequence[str]]) -> list[str]:
    return [word for words in names for word in ("and", *words)][1:]


def _words_from_comment(extraction: Extraction, source: PythonSource) -> list[str]:
    """Return the words of the comment above the block, unless it describes only the first lines."""
    block = extraction.block
    first = block.statements[0].lineno
    lines = [source.line(number).strip() for number in range(block.first_line, first)]
    if not lines or not all(line.startswith("#") for line in lines):
        return []
    indent = block.statements[0].col_offset
    for before, after in pairwise(block.statements):
        between = [source.line(number) for number in range((before.end_lineno or 0) + 1, after.lineno)]
        if any(not line.strip() or line[indent:].startswith("#") for line in between):
            return []
    return find_comment_words(" ".join(line.lstrip("#: ") for line in lines))


def _words_from_condition(extraction: Extraction) -> list[str]:
    """Return the words of the case that a branch handles."""
    block, parent = extraction.block, extraction.block.place.parent
    if not block.whole or block.place.statements is not getattr(parent, "body", None):
        return []
    if isinstance(parent, ast.If):
        return find_case_words(parent.test)
    if isinstance(parent, ast.match_case):
        return split_identifier(ast.unparse(parent.pattern).split("(")[0])[-2:]
    return []


def _filled_words(extraction: Extraction) -> list[str]:
    """Return the words of what the block assigns to, if it is one or two things."""
    targets = {ast.unparse(target): target for target in _find_filled_targets(extraction)}
    each = [find_noun(target) for target in targets.values()]
    distinct = list(dict.fromkeys(map(tuple, each)))
    if not 1 <= len(distinct) <= 2 or not all(is_specific_name(list(words)) for words in distinct):
        return []
    keyed = any(isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Constant) for one in targets.values())
    return ["update" if keyed else "set", *_join_with_and(distinct)]


def _find_filled_targets(extraction: Extraction) -> list[ast.expr]:
    """Return the attributes and items that the block assigns to."""
    found = [node.targets for node in walk_own_scope(extraction.block.statements) if isinstance(node, ast.Assign)]
    return [target for targets in found for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]


def _words_from_return(extraction: Extraction) -> list[str]:
    """Return the words of what a block returns at its end, if the block created it."""
    last = extraction.block.statements[-1]
    value = last.value if isinstance(last, ast.Return) and extraction.shape is ExtractionShape.RETURN else None
    words = find_noun(value) if isinstance(value, ast.Name) and value.id not in extraction.parameters else []
    return (
        [find_making_verb(extraction, frozenset({ast.unparse(value)})) or "make", *words]
        if value and is_specific_name(words)
        else []
    )


def _only_checks(extraction: Extraction) -> bool:
    """Whether the block returns nothing and only raises."""
    held, calls = combine_traits(extraction.block.statements), _list_call_statements(extraction.block.statements)
    return not extraction.results and held.raises and not held.returns and not _find_filled_targets(extraction) and not calls


def _words_for_check(extraction: Extraction, subject: list[str], parted: int) -> list[str]:
    """Return words for a single check by its subject, or `check arguments` for several on the function's own arguments."""
    arguments = [name for name in extraction.parameters if name not in ("self", "cls")]
    if len(extraction.block.statements) > 1 and len(arguments) > 1 and set(arguments) <= set(extraction.host.arguments):
        return ["check", "arguments"]
    decisions = sum(bool(list_statement_bodies(statement)) for statement in extraction.block.statements)
    return ["check", *subject] if is_specific_name(subject) and decisions == 1 and not parted else []


def _loop_words(extraction: Extraction, effect: str, verb: str) -> list[str]:
    block = extraction.block
    parent = block.place.parent
    if isinstance(parent, ast.For | ast.AsyncFor) and block.whole:
        target = find_noun(parent.target) if isinstance(parent.target, ast.Name) else []
        words = target if is_specific_name(target) else make_singular(find_noun(parent.iter))
        return _words_for_loop_effect(extraction, effect or verb or "handle", words)
    loops = [statement for statement in block.statements if list_statement_bodies(statement)]
    alone = extraction.shape is not ExtractionShape.RETURN or len(block.statements) == 1
    if len(loops) == 1 and isinstance(loops[0], ast.For | ast.AsyncFor) and (effect or verb) and alone:
        return _words_for_loop_effect(extraction, effect or verb, find_noun(loops[0].iter))
    return []


def _words_for_loop_effect(extraction: Extraction, verb: str, words: list[str]) -> list[str]:
    """Return verb and words; if the filled collection differs from what is iterated over, both are named."""
    if not is_specific_name(words):
        return []
    filled = find_filled_collection(extraction.block.statements) if verb == "add" else []
    return [verb, *filled, "for", *words] if filled and filled != words else [verb, *words]


def _words_from_first_decision(extraction: Extraction) -> list[str]:
    """Return the words of the block's first decision."""
    for statement in extraction.block.statements:
        words: list[str] = []
        if isinstance(statement, ast.If | ast.While):
            words = _words_from_test(statement)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            words = find_noun(statement.iter)
        elif isinstance(statement, ast.Match):
            words = find_noun(statement.subject)
        elif isinstance(statement, FunctionNode):
            return []
        if is_specific_name(words):
            return words
    return []


def _words_from_test(statement: ast.If | ast.While) -> list[str]:
    """Return the words of a test: the case if there is one, otherwise the thing whose cases are distinguished."""
    test = statement.test
    if isinstance(test, ast.Compare) and (statement.orelse or not isinstance(test.ops[0], ast.Eq | ast.In | ast.Is)):
        return find_noun(test.left)
    return [word for word in find_case_words(test) if word != "without"]


COLLECTING_METHODS = {"append", "add", "extend", "insert", "update", "setdefault", "appendleft"}


def find_main_verb(statements: Sequence[ast.stmt]) -> str:
    """Return the verb that the block's call statements share, or that most of them have."""
    calls = _list_call_statements(statements)
    if calls and all(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls):
        return "print"
    named = ("add" if read_function_name(call) in COLLECTING_METHODS else find_call_verb(call) for call in calls)
    verbs = Counter(verb for verb in named if verb and verb not in INCIDENTAL_VERBS)
    if not verbs or not calls:
        return ""
    verb, times = verbs.most_common(1)[0]
    return verb if times * 2 >= len(calls) else ""


def _list_call_statements(statements: Sequence[ast.stmt]) -> list[ast.Call]:
    return [node.value for node in walk_own_scope(statements) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]


def find_filled_collection(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the words of the only collection that the block's calls add to."""
    calls = _list_call_statements(statements)
    adding = [call.func.value for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in COLLECTING_METHODS]
    each = list(dict.fromkeys(tuple(find_noun(value)) for value in adding))
    return list(each[0]) if len(each) == 1 and is_specific_name(list(each[0])) else []


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
    block = extraction.block
    nodes = list(walk_own_scope(block.statements))
    if any(isinstance(node, FunctionNode) for node in block.statements):
        return "make"
    if _is_collected(nodes, results):
        return "update" if results & set(extraction.parameters) else "collect"
    values = list(_iterate_assigned_values(nodes, results))
    verbs = {find_call_verb(value) for value in values if isinstance(value, ast.Call)} - INCIDENTAL_VERBS - {""}
    if len(verbs) == 1 and len(results) == 1:
        return verbs.pop()
    if any(isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in results for node in nodes):
        return "update" if results & set(extraction.parameters) else "compute"
    if results & set(extraction.parameters):
        return "resolve"
    return _choose_selecting_verb(block.statements, nodes)


def _choose_selecting_verb(statements: Sequence[ast.stmt], nodes: list[ast.AST]) -> str:
    if any(isinstance(node, LoopNode) for node in statements):
        return "find" if any(isinstance(node, ast.Break) for node in nodes) else "compute"
    if isinstance(statements[-1], ast.If | ast.Match) and len(statements) <= 2:
        return "choose"
    if any(isinstance(node, ast.Try) for node in statements):
        return "find"
    return ""


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
