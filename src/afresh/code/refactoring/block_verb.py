"""What a block does, as one verb: told by its calls and by how its result comes about."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from afresh.code.complexity import FunctionNode, LoopNode
from afresh.code.refactoring.identifier_words import find_call_verb, find_noun, is_specific_name, read_function_name
from afresh.code.refactoring.name_usage import NameSet, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction

COLLECTING_METHODS = {"append", "add", "extend", "insert", "update", "setdefault", "appendleft"}
INCIDENTAL_VERBS = frozenset(
    """
    call copy count format get handle insert join list lookup map match pop print process replace set sort split start stop
    strip sum test
    """.split()  # noqa: SIM905
)
"""Verbs of calls that are steps on the way, not what a block is for."""


def find_main_verb(statements: Sequence[ast.stmt]) -> str:
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


def find_filled_collection(statements: Sequence[ast.stmt]) -> list[str]:
    """The one collection that the block's calls add to, in words."""
    calls = [node.value for node in walk_own_scope(statements) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    adding = [call.func.value for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in COLLECTING_METHODS]
    each = list(dict.fromkeys(tuple(find_noun(value)) for value in adding))
    return list(each[0]) if len(each) == 1 and is_specific_name(list(each[0])) else []


def has_other_effects(statements: Sequence[ast.stmt], results: NameSet) -> bool:
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


def find_making_verb(extraction: Extraction, results: NameSet) -> str:
    """How the results come about; empty where nothing tells."""
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
        return _choose_changing_verb(values, results)
    return _choose_selecting_verb(block.statements, nodes)


def _choose_changing_verb(values: list[ast.expr], results: NameSet) -> str:
    """A value made of itself is put into order; one that is replaced is decided upon."""
    own = [any(isinstance(node, ast.Name) and node.id in results for node in ast.walk(value)) for value in values]
    return "normalize" if own and all(own) else "resolve"


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
