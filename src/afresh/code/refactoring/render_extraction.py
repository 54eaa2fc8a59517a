"""Renders a new function, the call that replaces the block, and the edits for both."""

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from afresh.code.complexity import FunctionNode, list_statement_bodies
from afresh.code.python_source import PythonFunction, PythonSource, find_lines_inside_strings
from afresh.code.refactoring.blocks import combine_traits, find_first_line
from afresh.code.refactoring.data_flow import DefiniteAssignment
from afresh.code.refactoring.name_usage import list_parameters, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape


@dataclass(frozen=True, slots=True)
class NewFunctionPlacement:
    """Where the new function goes and how it is called."""

    line: int
    """It is inserted before this line."""
    indent: str
    prefix: str = ""
    """`self.` or `cls.` for a method."""
    bound: str = ""
    """The first parameter of a method."""
    after: bool = False
    classmethod: bool = False


def place_helper(extraction: Extraction, source: PythonSource) -> NewFunctionPlacement | None:
    host, function = extraction.host, extraction.host.function
    owner, first = function.owner, find_instance_parameter(function)
    decorators = _list_decorators(function.node)
    steady = len(host.bindings.get(first, [])) == 1
    if owner is not None and first in extraction.parameters and steady:
        if any("Protocol" in ast.unparse(base) for base in owner.bases):
            return None
        line = _line_after_function(owner.body, function.node)
        return NewFunctionPlacement(
            line, read_indent(source, find_first_line(function.node)), first + ".", first, True, "classmethod" in decorators
        )
    if function.around and combine_traits(extraction.block.statements).in_class:
        return None
    anchor = function.around[0] if function.around else function.node
    line = _line_before_definition(source, anchor)
    return NewFunctionPlacement(line, read_indent(source, find_first_line(anchor)))


MAX_LINE_CHARACTERS = 79
INSTANCE_NAMES = ("self", "cls", "mcs", "mcls", "metacls")


@lru_cache(maxsize=256)
def find_instance_parameter(function: PythonFunction) -> str:
    """Return `self` or `cls` of a method; empty for a function of a class that gets something else first."""
    node, owner = function.node, function.owner
    positional = [*node.args.posonlyargs, *node.args.args]
    first = positional[0].arg if positional else ""
    if owner is None or first not in INSTANCE_NAMES or node.name == "__new__" or _is_called_in_class_body(owner, node.name):
        return ""
    decorators = _list_decorators(node)
    return "" if "staticmethod" in decorators or (first == "cls" and "classmethod" not in decorators) else first


def _list_decorators(node: FunctionNode) -> set[str]:
    return {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}


def _is_called_in_class_body(owner: ast.ClassDef, name: str) -> bool:
    """Whether the class itself calls the function, or decorates with it, while there is no instance yet."""
    for node in walk_own_scope(owner.body):
        decorators = getattr(node, "decorator_list", [])
        called = [node.func, *node.args] if isinstance(node, ast.Call) else []
        wrapped = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WRAPPING_FUNCTIONS
        if any(isinstance(decorator, ast.Name) and decorator.id == name for decorator in [*decorators, *called]) and not wrapped:
            return True
    return False


WRAPPING_FUNCTIONS = ("property", "cached_property", "classmethod", "abstractmethod")
"""Functions that make a method of a function."""


def _line_after_function(siblings: list[ast.stmt], node: FunctionNode) -> int:
    """Return the line after the function and the setters or overloads that share its name."""
    last = node
    for sibling in siblings[siblings.index(node) + 1 :]:
        if not isinstance(sibling, FunctionNode) or sibling.name != node.name:
            break
        last = sibling
    return (last.end_lineno or last.lineno) + 1


@lru_cache(maxsize=256)
def _line_before_definition(source: PythonSource, anchor: ast.stmt) -> int:
    """Return the line above the definition, its comments, and its overloads."""
    siblings = next(found for found in _all_statement_lists(source.tree) if anchor in found)
    for sibling in reversed(siblings[: siblings.index(anchor)]):
        if not isinstance(sibling, FunctionNode) or sibling.name != getattr(anchor, "name", ""):
            break
        anchor = sibling
    line = find_first_line(anchor)
    indent = read_indent(source, line)
    while line > 1 and source.line(line - 1).startswith(indent + "#"):
        line -= 1
    return line


def _all_statement_lists(tree: ast.Module) -> list[list[ast.stmt]]:
    found, pending = [tree.body], list(tree.body)
    while pending:
        inner = [body for body in list_statement_bodies(pending.pop()) if body]
        found.extend(inner)
        pending.extend(statement for body in inner for statement in body)
    return found


def detect_function_indent(extraction: Extraction, source: PythonSource) -> str:
    """Return one level of indentation, as the function itself uses it."""
    node = extraction.host.node
    outer, inner = read_indent(source, find_first_line(node)), read_indent(source, node.body[-1].lineno)
    return inner[len(outer) :] if node.body[-1].lineno > node.lineno and inner.startswith(outer) else "    "


def render_call(extraction: Extraction, source: PythonSource, name: str, where: NewFunctionPlacement) -> list[str]:
    indent, unit = read_indent(source, extraction.block.statements[0].lineno), detect_function_indent(extraction, source)
    arguments = [parameter for parameter in extraction.parameters if parameter != where.bound]
    call = ("await " if extraction.waits else "yield from " if extraction.yields else "") + where.prefix + name
    if extraction.shape is ExtractionShape.MAYBE:
        found = _free_name(extraction)
        head = wrap_arguments(f"{indent}{found} = {call}", arguments, unit)
        return [*head, f"{indent}if {found} is not None:", f"{indent}{unit}return {found}"]
    if extraction.shape is ExtractionShape.RETURN and not _ends_plainly(extraction):
        return wrap_arguments(f"{indent}return {call}", arguments, unit)
    target = f"{', '.join(extraction.results)} = " if extraction.results else ""
    return wrap_arguments(f"{indent}{target}{call}", arguments, unit)


def _ends_plainly(extraction: Extraction) -> bool:
    """Whether the function ends after the block anyway, and nothing is returned."""
    block = extraction.block
    plain = all(node.value is None for node in combine_traits(block.statements).returns)
    return block.at_end and block.place.ends_function and plain


def _free_name(extraction: Extraction) -> str:
    taken = extraction.host.names | {node.id for node in extraction.host.nodes if isinstance(node, ast.Name)}
    return next(name for name in ("found", "result", "outcome", "answer", "early_result") if name not in taken)


def render_helper(extraction: Extraction, source: PythonSource, name: str, where: NewFunctionPlacement) -> list[str]:
    unit, (types, result) = detect_function_indent(extraction, source), find_types(extraction, source)
    head = f"{where.indent}{'async ' if extraction.waits else ''}def {name}"
    listed = [
        f"{parameter}: {types[parameter]}" if parameter in types else parameter
        for parameter in extraction.parameters
        if parameter != where.bound
    ]
    lines = [f"{where.indent}@classmethod"] if where.classmethod else []
    lines += wrap_arguments(head, [where.bound, *listed] if where.bound else listed, unit, f" -> {result}:" if result else ":")
    lines += _render_moved_body(extraction, source, where.indent + unit)
    if extraction.results and DefiniteAssignment().block(extraction.block.statements, frozenset()) is not None:
        lines.append(f"{where.indent}{unit}return {', '.join(extraction.results)}")
    return lines


def find_types(extraction: Extraction, source: PythonSource) -> tuple[dict[str, str], str]:
    """Return the types of names that annotations state, if the function has annotations, and the type of what the new function
    returns. What may be None is left out, because a check before the piece may have excluded it.
    """
    host, node = extraction.host, extraction.host.node
    if not (node.returns or any(arg.annotation for arg in list_parameters(node))) or host.function.enclosing:
        return {}, ""
    plain = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    stated = {arg.arg: arg.annotation for arg in plain if len(host.bindings.get(arg.arg, [])) == 1}
    stated |= {
        assign.target.id: assign.annotation
        for assign in host.nodes
        if isinstance(assign, ast.AnnAssign) and isinstance(assign.target, ast.Name)
    }
    texts = {name: " ".join((ast.get_source_segment(source.text, kind) or "").split()) for name, kind in stated.items() if kind}
    types = {name: text for name, text in texts.items() if text and not re.search(r"\bNone\b|\bOptional\b", text)}
    if extraction.yields or extraction.shape is ExtractionShape.RETURN:
        return types, " ".join((ast.get_source_segment(source.text, node.returns) or "").split()) if node.returns else ""
    if extraction.results or extraction.shape is ExtractionShape.MAYBE:
        return types, types.get(extraction.results[0], "") if extraction.results else ""
    return types, "None"


def _render_moved_body(extraction: Extraction, source: PythonSource, indent: str) -> list[str]:
    """Return the block's lines at their new depth; lines inside strings are not changed."""
    block, strings = extraction.block, find_lines_inside_strings(source.text)
    old = read_indent(source, block.statements[0].lineno)
    jumps = {(jump.lineno, jump.col_offset) for jump in combine_traits(block.statements).jumps}
    back = " ".join(["return", ", ".join(extraction.results)]).strip()
    lines: list[str] = []
    for number in range(block.first_line, block.last_line + 1):
        line = source.line(number).rstrip("\r\n")
        for column in sorted((column for row, column in jumps if row == number), reverse=True):
            raw = line.encode()
            line = (raw[:column] + back.encode() + raw[column + len("continue") :]).decode()
        if number not in strings:
            line = indent + line[len(old) :] if line.startswith(old) else indent + line.lstrip() if line.strip() else ""
        lines.append(line)
    return lines


def wrap_arguments(head: str, arguments: list[str], unit: str, tail: str = "") -> list[str]:
    """Return `head(arguments)tail`, with one argument a line if one line would be too long for any project."""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line) <= MAX_LINE_CHARACTERS or not arguments:
        return [line]
    indent = head[: len(head) - len(head.lstrip())]
    return [f"{head}(", *(f"{indent}{unit}{argument}," for argument in arguments), f"{indent}){tail}"]


def read_indent(source: PythonSource, line: int) -> str:
    text = source.line(line)
    return text[: len(text) - len(text.lstrip())]
