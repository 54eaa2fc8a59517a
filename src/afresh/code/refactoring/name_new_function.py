"""Names for new functions, made of words that the code uses itself; each with its distance from what a reviewer would choose."""

import ast
import keyword
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from afresh.code.complexity import FunctionNode, list_statement_bodies
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.blocks import combine_traits, count_paragraph_breaks
from afresh.code.refactoring.identifier_words import (
    VERBS,
    find_call_verb,
    find_case_words,
    find_comment_words,
    find_noun,
    is_specific_name,
    read_function_name,
    split_identifier,
)
from afresh.code.refactoring.name_usage import NameSet, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape

VAGUE_VERBS = ("call", "handle", "process", "run", "use")
PREDICATE_PREFIXES = ("is", "has", "can", "should", "was", "are")
MAX_NAME_CHARACTERS = 34
MAX_NAME_WORDS = 6
COLLECTING_METHODS = {"append", "add", "extend", "insert", "update", "setdefault", "appendleft"}
INCIDENTAL_VERBS = frozenset(
    """
    call copy count format get handle insert join list lookup map match pop print process replace set sort split start stop
    strip sum test
    """.split()  # noqa: SIM905
)
"""Verbs of calls that are steps on the way, not what a block is for."""


def propose_names(extraction: Extraction, source: PythonSource) -> Iterator[tuple[str, float]]:
    """Candidate names, best first. None at all where the code has no word for what the block does."""
    seen: set[str] = set()
    for words, distance in sorted(_proposals(extraction, source), key=lambda proposal: proposal[1]):
        words = [word for word in words if word]
        fits = len(words) > 1 and len(words) <= MAX_NAME_WORDS and all(one != other for one, other in pairwise(words))
        name = spell_name(words, source) if fits else ""
        if fits and name not in seen and len(name) <= MAX_NAME_CHARACTERS and name.isidentifier() and not keyword.iskeyword(name):
            seen.add(name)
            yield name, distance + 0.5 * max(0, len(words) - 4)


def spell_name(words: list[str], source: PythonSource) -> str:
    """As the file spells its own functions."""
    names = [one.node.name.strip("_") for one in source.functions]
    camel = sum(name != name.lower() and "_" not in name and name[:1].islower() for name in names)
    snake = sum("_" in name for name in names)
    if camel > 2 * snake and camel > 2:
        words = [words[0], *(word.capitalize() for word in "_".join(words[1:]).split("_"))]
        return "_" + "".join(words)
    return "_" + "_".join(words).strip("_")


def _proposals(extraction: Extraction, source: PythonSource) -> Iterator[tuple[list[str], float]]:
    """A comment above the block is its author's own name for it; then what comes out of it, its case, and what it is about."""
    block, returns = extraction.block, extraction.shape is ExtractionShape.RETURN
    first = split_identifier(extraction.host.node.name)[:1]
    effect, host = "" if returns else _main_verb(block.statements), next((word for word in first if word in VERBS), "")
    subject, case = _words_from_first_decision(extraction), _words_from_condition(extraction)
    yield _words_from_comment(extraction, source), 0.0
    if _only_checks(extraction):
        yield (["check", *subject] if is_specific_name(subject) else []), 1.0
    yield from _names_from_results(extraction)
    if is_specific_name(case):
        verb = host or effect
        vague = 4.0 if verb in VAGUE_VERBS else 1.0 if verb else 2.5
        yield [verb or "handle", *case], vague + 3.0 * (case[0] == "without") + bool(extraction.results)
    if extraction.results or extraction.shape is ExtractionShape.MAYBE or count_paragraph_breaks(block, source):
        return
    long = max(0, block.lines - 15) * 0.15
    if not returns:
        yield _filled_words(extraction), 1.5 + long
    decisions = sum(bool(list_statement_bodies(statement)) for statement in block.statements)
    if (effect or host) and is_specific_name(subject) and decisions == 1:
        yield [effect or host, *subject], (2.5 if effect else 4.5) + long


def _names_from_results(extraction: Extraction) -> Iterator[tuple[list[str], float]]:
    results = extraction.results
    last = extraction.block.statements[-1]
    if extraction.shape is ExtractionShape.RETURN and isinstance(last, ast.Return) and isinstance(last.value, ast.Name):
        results = (last.value.id,) if last.value.id not in extraction.parameters else ()
    words = [split_identifier(name) for name in results]
    if words and all(map(is_specific_name, words)):
        made = _making_verb(extraction, frozenset(results))
        aside = 5.0 * _has_other_effects(extraction.block.statements, frozenset(results))
        joined = [word for each in words for word in ("and", *each)][1:]
        named = len(words) == 1 and words[0][0] in PREDICATE_PREFIXES
        yield (joined if named else [made or "find", *joined]), aside + (1.0 if made or named else 5.0)


def _making_verb(extraction: Extraction, results: NameSet) -> str:
    """How the results come about; empty where nothing tells."""
    if any(isinstance(statement, FunctionNode) for statement in extraction.block.statements):
        return "make"
    nodes = list(walk_own_scope(extraction.block.statements))
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    filled = [call.func.value for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in COLLECTING_METHODS]
    filled += [node.value for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    if results & set(extraction.parameters):
        return "update"
    if any(isinstance(one, ast.Name) and one.id in results for one in filled):
        return "collect"
    values = [node.value for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    verbs = {find_call_verb(value) for value in values if isinstance(value, ast.Call)} - INCIDENTAL_VERBS - {""}
    if len(verbs) == 1 and len(results) == 1:
        return verbs.pop()
    decides = isinstance(extraction.block.statements[-1], ast.If | ast.Match) and len(extraction.block.statements) <= 2
    return "choose" if decides else "compute" if any(isinstance(node, ast.For | ast.While) for node in nodes) else ""


def _main_verb(statements: Sequence[ast.stmt]) -> str:
    """The verb that the block's call statements share, or that most of them have."""
    calls = [node.value for node in walk_own_scope(statements) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    if calls and all(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls):
        return "print"
    named = ("add" if read_function_name(call) in COLLECTING_METHODS else find_call_verb(call) for call in calls)
    verbs = Counter(verb for verb in named if verb and verb not in INCIDENTAL_VERBS)
    if not verbs or not calls:
        return ""
    verb, times = verbs.most_common(1)[0]
    return verb if times * 2 >= len(calls) else ""


def _has_other_effects(statements: Sequence[ast.stmt], results: NameSet) -> bool:
    """Whether the block also does something to others than its results."""
    for node in walk_own_scope(statements):
        of: ast.AST | None = node if isinstance(node, ast.Yield | ast.YieldFrom) else None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            of = node.value.func.value if isinstance(node.value.func, ast.Attribute) else node.value.func
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            of = node.value
        if of is not None and not (isinstance(of, ast.Name) and of.id in results):
            return True
    return False


def _words_from_comment(extraction: Extraction, source: PythonSource) -> list[str]:
    """A comment above the block is its author's own name for it, unless it speaks of the first lines only."""
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
    """The case that a branch's body deals with."""
    block, parent = extraction.block, extraction.block.place.parent
    if not block.whole or block.place.statements is not getattr(parent, "body", None):
        return []
    if isinstance(parent, ast.If):
        return find_case_words(parent.test)
    if isinstance(parent, ast.match_case):
        return split_identifier(ast.unparse(parent.pattern).split("(")[0])[-2:]
    return []


def _filled_words(extraction: Extraction) -> list[str]:
    """The one thing that the block assigns to."""
    each = {tuple(find_noun(target)): target for target in _find_filled_targets(extraction)}
    [(words, target), *more] = each.items() or [((), None)]
    if more or not is_specific_name(list(words)):
        return []
    keyed = isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant)
    return ["update" if keyed else "set", *words]


def _find_filled_targets(extraction: Extraction) -> list[ast.expr]:
    """Attributes and items that the block assigns to."""
    found = [node.targets for node in walk_own_scope(extraction.block.statements) if isinstance(node, ast.Assign)]
    return [target for targets in found for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]


def _only_checks(extraction: Extraction) -> bool:
    """Nothing comes back, and what it does is raise."""
    held = combine_traits(extraction.block.statements)
    calls = any(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in walk_own_scope(extraction.block.statements)
    )
    return not extraction.results and held.raises and not held.returns and not _find_filled_targets(extraction) and not calls


def _words_from_first_decision(extraction: Extraction) -> list[str]:
    """What the first decision of the block is about."""
    for statement in extraction.block.statements:
        words: list[str] = []
        if isinstance(statement, ast.If | ast.While):
            words = [word for word in find_case_words(statement.test) if word != "without"]
        elif isinstance(statement, ast.For | ast.AsyncFor):
            words = find_noun(statement.iter)
        elif isinstance(statement, ast.Match):
            words = find_noun(statement.subject)
        elif isinstance(statement, FunctionNode):
            return []
        if is_specific_name(words):
            return words
    return []
