"""The text of a new function, of the call that replaces the block, and the edits that make them so."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import FunctionNode, bodies
from afresh.insight.reshape.assigned import Assigned
from afresh.insight.reshape.blocks import first_line
from afresh.insight.reshape.extraction import Extraction, Shape
from afresh.insight.reshape.names import bound_in
from afresh.insight.reshape.traits import traits
from afresh.insight.source import Source, inside_strings

SHORT_LINE = 88
LONG_LINE = 130


@dataclass(frozen=True, slots=True)
class Home:
    """Where the new function goes and how it is called."""

    line: int
    """It is put before this line."""
    indent: str
    prefix: str = ""
    """`self.` or `cls.` for a method."""
    bound: str = ""
    """The first argument of a method."""
    after: bool = False
    classmethod: bool = False


def home(extraction: Extraction, source: Source) -> Home | None:
    host, function = extraction.host, extraction.host.function
    owner, first = function.owner, host.arguments[0] if host.arguments else ""
    decorators = {ast.unparse(decorator).split(".")[-1] for decorator in function.node.decorator_list}
    unbound = (
        "staticmethod" in decorators or function.node.name == "__new__" or (first == "cls" and "classmethod" not in decorators)
    )
    steady = len(host.bindings.get(first, [])) == 1 and not unbound
    if owner is not None and first in extraction.parameters and steady:
        if any("Protocol" in ast.unparse(base) for base in owner.bases):
            return None
        line = _after(owner.body, function.node)
        return Home(line, indent_of(source, first_line(function.node)), first + ".", first, True, "classmethod" in decorators)
    if function.around and traits(extraction.block.statements).in_class:
        return None
    anchor = function.around[0] if function.around else function.node
    line = _before(source, anchor)
    return Home(line, indent_of(source, first_line(anchor)))


def _after(siblings: list[ast.stmt], node: FunctionNode) -> int:
    """Behind the function and the setters or overloads that share its name."""
    last = node
    for sibling in siblings[siblings.index(node) + 1 :]:
        if not isinstance(sibling, FunctionNode) or sibling.name != node.name:
            break
        last = sibling
    return (last.end_lineno or last.lineno) + 1


@lru_cache(maxsize=256)
def _before(source: Source, anchor: ast.stmt) -> int:
    """Above the definition, its comments, and its overloads."""
    siblings = next(found for found in _lists(source.tree) if anchor in found)
    for sibling in reversed(siblings[: siblings.index(anchor)]):
        if not isinstance(sibling, FunctionNode) or sibling.name != getattr(anchor, "name", ""):
            break
        anchor = sibling
    line = first_line(anchor)
    indent = indent_of(source, line)
    while line > 1 and source.line(line - 1).startswith(indent + "#"):
        line -= 1
    return line


def _lists(tree: ast.Module) -> list[list[ast.stmt]]:
    found, pending = [tree.body], list(tree.body)
    while pending:
        inner = [body for body in bodies(pending.pop()) if body]
        found.extend(inner)
        pending.extend(statement for body in inner for statement in body)
    return found


def indent_of(source: Source, line: int) -> str:
    text = source.line(line)
    return text[: len(text) - len(text.lstrip())]


def unit_of(extraction: Extraction, source: Source) -> str:
    """One level of indentation, as the function itself has it."""
    node = extraction.host.node
    outer, inner = indent_of(source, first_line(node)), indent_of(source, node.body[-1].lineno)
    return inner[len(outer) :] if node.body[-1].lineno > node.lineno and inner.startswith(outer) else "    "


def call_lines(extraction: Extraction, source: Source, name: str, where: Home) -> list[str]:
    indent, unit = indent_of(source, extraction.block.statements[0].lineno), unit_of(extraction, source)
    arguments = [parameter for parameter in extraction.parameters if parameter != where.bound]
    call = ("await " if extraction.waits else "yield from " if extraction.yields else "") + where.prefix + name
    if extraction.shape is Shape.MAYBE:
        found = _free_name(extraction)
        head = fitted(f"{indent}{found} = {call}", arguments, "", unit, source)
        return [*head, f"{indent}if {found} is not None:", f"{indent}{unit}return {found}"]
    if extraction.shape is Shape.RETURN and not _ends_plainly(extraction):
        return fitted(f"{indent}return {call}", arguments, "", unit, source)
    target = f"{', '.join(extraction.results)} = " if extraction.results else ""
    return fitted(f"{indent}{target}{call}", arguments, "", unit, source)


def _ends_plainly(extraction: Extraction) -> bool:
    """The function ends here anyway, and nothing is returned."""
    block = extraction.block
    plain = all(node.value is None for node in traits(block.statements).returns)
    return block.at_end and block.place.ends_function and plain


def _free_name(extraction: Extraction) -> str:
    taken = extraction.host.names | {node.id for node in extraction.host.nodes if isinstance(node, ast.Name)}
    return next(name for name in ("found", "result", "outcome", "answer", "early_result") if name not in taken)


def helper_lines(extraction: Extraction, source: Source, name: str, where: Home) -> list[str]:
    unit = unit_of(extraction, source)
    head = f"{where.indent}{'async ' if extraction.waits else ''}def {name}"
    typed = [typed_parameter(extraction, parameter, where) for parameter in extraction.parameters if parameter != where.bound]
    lines = [f"{where.indent}@classmethod"] if where.classmethod else []
    lines += fitted(head, [where.bound, *typed] if where.bound else typed, f"{_returns(extraction, where)}:", unit, source)
    lines += _moved(extraction, source, where.indent + unit)
    if extraction.results and Assigned().block(extraction.block.statements, frozenset()) is not None:
        lines.append(f"{where.indent}{unit}return {', '.join(extraction.results)}")
    return lines


def _moved(extraction: Extraction, source: Source, indent: str) -> list[str]:
    """The block's own lines at their new depth; what stands inside a string is not touched."""
    block, strings = extraction.block, inside_strings(source.text)
    old = indent_of(source, block.statements[0].lineno)
    jumps = {(jump.lineno, jump.col_offset) for jump in traits(block.statements).jumps}
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


def typed_parameter(extraction: Extraction, name: str, where: Home) -> str:
    """With the type that the function itself declares, if it means the same there."""
    annotation = extraction.host.annotations.get(name)
    if annotation is None or not _known_there(extraction, annotation, where):
        return name
    return f"{name}: {ast.unparse(annotation)}"


def _returns(extraction: Extraction, where: Home) -> str:
    host = extraction.host
    kinds = [host.annotations.get(name) for name in extraction.results]
    if host.node.returns is None or extraction.shape is Shape.MAYBE:
        return ""
    if extraction.shape is Shape.RETURN:
        kinds = [None if host.is_generator else host.node.returns]
    elif extraction.yields:
        kinds = [None if extraction.results else host.node.returns]
    elif not extraction.results:
        return " -> None"
    if len(kinds) != 1 or kinds[0] is None or not _known_there(extraction, kinds[0], where):
        return ""
    return f" -> {ast.unparse(kinds[0])}"


def _known_there(extraction: Extraction, annotation: ast.expr, where: Home) -> bool:
    around = extraction.host.function.around
    if not around or where.bound:
        return True
    hidden = {node.name for node in around} | {name for node in around for name in bound_in(node.body)}
    text = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    return not (text & hidden) and not any(isinstance(node, ast.Constant) for node in ast.walk(annotation))


def fitted(head: str, arguments: list[str], tail: str, unit: str, source: Source) -> list[str]:
    """`head(arguments)tail`, over several lines where it would be longer than the file's own lines are."""
    limit = widest(source)
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line) <= limit or not arguments:
        return [line]
    indent = head[: len(head) - len(head.lstrip())]
    inner = f"{indent}{unit}{', '.join(arguments)}"
    if len(inner) <= limit:
        return [f"{head}(", inner, f"{indent}){tail}"]
    return [f"{head}(", *(f"{indent}{unit}{argument}," for argument in arguments), f"{indent}){tail}"]


@lru_cache(maxsize=64)
def widest(source: Source) -> int:
    """The file's own habit: a few long strings do not make long lines the rule."""
    lengths = sorted(len(line.rstrip()) for line in source.lines)
    usual = lengths[int(len(lengths) * 0.98)] if lengths else 0
    return min(LONG_LINE, lengths[-1]) if usual > SHORT_LINE else SHORT_LINE
