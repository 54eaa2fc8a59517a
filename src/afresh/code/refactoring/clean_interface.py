"""Judges what a piece takes and gives back: one way in, one way out, nothing changed behind the caller's back."""

import ast
from collections.abc import Iterator

from afresh.code.python_source import PythonSource
from afresh.code.refactoring.blocks import StatementBlock
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.infer_types import TypeReader
from afresh.code.refactoring.name_new_function import COLLECTING_METHODS
from afresh.code.refactoring.name_usage import collect_bound_names, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction

CHANGING_METHODS = COLLECTING_METHODS | {"clear", "discard", "pop", "popitem", "popleft", "remove", "reverse", "sort"}
PLAIN_TYPES = ("int", "float", "str", "bytes", "bool")
MAX_CHANGED_PARAMETERS = 1


def explain_unclean_interface(extracted: Extraction, source: PythonSource) -> str:
    """Return why a reviewer would not accept what goes in and out; empty if it is clean."""
    changed = set(_changed_names(extracted)) & set(extracted.parameters)
    if changed & set(extracted.results) or _adds_to_unknown(extracted, source):
        return "pieces change a variable in place and give it back"
    if extracted.results and changed - set(extracted.host.arguments):
        return "pieces give back a result and change another variable"
    if len(changed) > MAX_CHANGED_PARAMETERS:
        return "pieces change several variables of the function"
    if len(extracted.block.statements) > 1 and _returns_what_it_gets(extracted):
        return "pieces give back what they are given"
    if any(_is_made_for_the_piece(extracted, name) for name in changed):
        return "pieces fill a variable that they could give back"
    constant = any(is_constant_before(extracted.host, extracted.block, name) for name in extracted.parameters)
    return "pieces would be given a constant" if constant else ""


def _returns_what_it_gets(extracted: Extraction) -> bool:
    """Whether the piece ends with a return of the function's own variables: the end of the function, not of the piece."""
    last = extracted.block.statements[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    names = {node.id for node in ast.walk(last.value) if isinstance(node, ast.Name)}
    return not names & collect_bound_names(extracted.block.statements[:-1])


def _changed_names(extracted: Extraction) -> Iterator[str]:
    """Yield the variables that the piece changes in place."""
    for node in walk_own_scope(extracted.block.statements):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in CHANGING_METHODS:
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=(ast.Store() | ast.Del())):
                yield name
            case _:
                continue


def _adds_to_unknown(extracted: Extraction, source: PythonSource) -> bool:
    """Whether the piece uses `+=` on something that it is given and gives back, and that may be a list."""
    both, reader = set(extracted.parameters) & set(extracted.results), TypeReader(source, extracted.host)
    for node in walk_own_scope(extracted.block.statements):
        added = node.target.id if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else ""
        if added in both and reader.of_name(added) not in PLAIN_TYPES:
            return True
    return False


def _is_made_for_the_piece(extracted: Extraction, name: str) -> bool:
    """Whether the variable is an empty collection that is made before the piece, in the same loop or none."""
    host, block = extracted.host, extracted.block
    if name in host.arguments or len(host.bindings.get(name, [])) != 1:
        return False
    line = host.bindings[name][0]
    if any(loop.lineno > line for loop in host.loops_around(block)):
        return False
    made = [node.value for node in host.nodes if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno == line]
    between = (mention for mention in host.mentions(name) if line < mention < block.first_line)
    return any(_is_empty_collection(value) for value in made) and next(between, None) is None


def is_constant_before(host: FunctionFlow, block: StatementBlock, name: str) -> bool:
    """Whether the variable always has the same literal value when the block begins."""
    before = [line for line in host.bindings.get(name, []) if line < block.first_line]
    if name in host.arguments or len(before) != 1:
        return False
    for loop in host.loops_around(block):
        again = any(loop.lineno <= line <= (loop.end_lineno or 0) for line in host.bindings[name] if line != before[0])
        if before[0] <= loop.lineno and again:
            return False
    nodes = [node for node in host.nodes if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno == before[0]]
    return any(node.value is not None and _is_literal(node.value) for node in nodes)


def _is_literal(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_literal, value.elts))
    return isinstance(value.operand if isinstance(value, ast.UnaryOp) else value, ast.Constant)


def _is_empty_collection(value: ast.expr | None) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id=("list" | "dict" | "set" | "defaultdict" | "OrderedDict"))):
            return True
        case _:
            return False
