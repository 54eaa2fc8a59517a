"""The types of a new function's parameters and result. Where a type checker would lose what a test before the piece has shown,
there is none."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from afresh.code.complexity import FunctionNode
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.blocks import StatementBlock
from afresh.code.refactoring.data_flow import DefiniteAssignment
from afresh.code.refactoring.infer_types import TypeReader
from afresh.code.refactoring.name_usage import collect_bound_names, list_parameters
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape
from afresh.code.refactoring.type_texts import is_optional, strip_none

MIN_TYPED_FUNCTIONS = 2


@dataclass(frozen=True, slots=True)
class SignatureTypes:
    parameters: tuple[tuple[str, str | None], ...]
    result: str | None
    unknown: str = ""
    """What a typed function lacks: the reason why the piece is not offered."""

    def of(self, name: str) -> str | None:
        return dict(self.parameters).get(name)


def find_signature_types(extraction: Extraction, source: PythonSource, bound: str) -> SignatureTypes:
    """Return the types for the new function; `bound` is the parameter that needs none."""
    function = extraction.host.function
    if not needs_types(function.node, source):
        return SignatureTypes((), None)
    reader = PieceTypes(extraction, TypeReader(source, extraction.host))
    names = [name for name in extraction.parameters if name != bound]
    parameters = tuple((name, reader.of_parameter(name)) for name in names)
    result = reader.of_result()
    missing = [name for name, kind in parameters if kind is None]
    unknown = f"the type of {missing[0]}" if missing else "" if result else "the type of the result"
    if not unknown and (attribute := next(reader.narrowed_attributes(), "")):
        unknown = f"a test of {attribute} outside"
    return SignatureTypes(parameters, result, unknown)


def is_typed(node: FunctionNode) -> bool:
    """Whether all parameters have types, and the result too unless nothing is returned."""
    parameters = [arg for arg in list_parameters(node) if arg.arg not in ("self", "cls")]
    typed = all(arg.annotation is not None for arg in parameters)
    return typed and (node.returns is not None or (bool(parameters) and node.name == "__init__"))


def needs_types(node: FunctionNode, source: PythonSource) -> bool:
    """Whether a function made from this one must have types: it has some itself, or most functions of the file are typed."""
    outer = [one for one in source.functions if not one.enclosing]
    typed = sum(is_typed(one.node) for one in outer)
    some = node.returns is not None or any(arg.annotation is not None for arg in list_parameters(node))
    return some or (len(outer) >= MIN_TYPED_FUNCTIONS and 2 * typed > len(outer))


@dataclass(frozen=True)
class PieceTypes:
    extraction: Extraction
    reader: TypeReader

    @property
    def block(self) -> StatementBlock:
        return self.extraction.block

    def of_parameter(self, name: str) -> str | None:
        """Return the type that the name has where the piece begins."""
        kind = self.reader.of_name(name)
        if kind is None or not is_optional(kind):
            return self._visible(kind)
        if not self._is_decided_before(name):
            return self._visible(kind)
        return (
            self._visible(strip_none(kind)) if any(_excludes_none(test, wanted, name) for test, wanted in self._tests) else None
        )

    def _visible(self, kind: str | None) -> str | None:
        """Return the type if its names mean the same outside the enclosing functions."""
        around = self.extraction.host.function.enclosing
        hidden = {name for node in around for name in collect_bound_names(node.body)} | collect_bound_names(
            self.extraction.host.node.body
        )
        words = {node.id for node in ast.walk(_parse_type(kind)) if isinstance(node, ast.Name)} if kind else set[str]()
        return None if words & hidden else kind

    def _is_decided_before(self, name: str) -> bool:
        """Whether a test or an assignment before the piece may have narrowed the type."""
        first = self.block.first_line
        for node in self.extraction.host.nodes:
            if getattr(node, "lineno", first) >= first:
                continue
            tests = [node.test] if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp) else []
            if any(isinstance(one, ast.Name) and one.id == name for test in tests for one in ast.walk(test)):
                return True
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                return True
        return False

    def of_result(self) -> str | None:
        extraction, host = self.extraction, self.extraction.host
        declared = self.reader.text(host.node.returns) if host.node.returns is not None else None
        if extraction.shape is ExtractionShape.RETURN:
            return None if host.is_generator else self._visible(declared or self._none_if_plain())
        if extraction.shape is ExtractionShape.MAYBE:
            return self._visible(self.reader.optional(declared)) if declared else None
        if extraction.yields:
            return None if extraction.results else self._visible(declared)
        if not extraction.results:
            return "None"
        kinds = [self._visible(self.of_value_after(name)) for name in extraction.results]
        if None in kinds:
            return None
        return kinds[0] if len(kinds) == 1 else self.reader.generic("tuple", ", ".join(filter(None, kinds)))

    def _none_if_plain(self) -> str | None:
        """Return None as the result of a constructor, whose own result has no type."""
        return "None" if self.extraction.host.node.name == "__init__" else None

    def of_value_after(self, name: str) -> str | None:
        """Return the type of a result. A union that the piece always decides is not known precisely."""
        kind = self.reader.of_name(name)
        if kind is None or not is_optional(kind):
            return kind
        values = [self.reader.of(value) for value in self._values_of(name)]
        decided = bool(values) and None not in values and len(set(values)) == 1
        surely = DefiniteAssignment().block(self.block.statements, frozenset()) or frozenset()
        return values[0] if decided and name in surely else kind if name not in self.extraction.parameters else None

    def _values_of(self, name: str) -> list[ast.expr]:
        nodes = [node for statement in self.block.statements for node in ast.walk(statement)]
        assigned = [node for node in nodes if isinstance(node, ast.Assign)]
        return [node.value for node in assigned if any(isinstance(one, ast.Name) and one.id == name for one in node.targets)]

    @cached_property
    def _tests(self) -> list[tuple[ast.expr, bool]]:
        """The tests that have been made when the piece begins, each with its outcome."""
        return list(_tests_before(self.extraction.host.node.body, self.block.statements[0]))

    def narrowed_attributes(self) -> Iterator[str]:
        """Yield attributes that the piece uses after a test outside has shown what they are."""
        shown = {text for test, _ in self._tests for text in _narrowing_attributes(test)}
        for statement in self.block.statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node) in shown:
                    yield ast.unparse(node)


def _parse_type(kind: str) -> ast.AST:
    try:
        return ast.parse(kind, mode="eval")
    except SyntaxError:
        return ast.Constant(None)


def _tests_before(statements: list[ast.stmt], target: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield tests on the way to a statement: of the branches around it, and of earlier branches that leave or assign."""
    for statement in statements:
        if statement is target:
            return
        inside = any(node is target for node in ast.walk(statement))
        if isinstance(statement, ast.If):
            if not inside:
                yield from [(statement.test, False)] if _leaves_or_replaces(statement) else []
            elif any(node is target for one in statement.body for node in ast.walk(one)):
                yield statement.test, True
            else:
                yield statement.test, False
        elif isinstance(statement, ast.Assert) or (isinstance(statement, ast.While) and inside):
            yield statement.test, True
        if inside:
            for body in _bodies(statement):
                if any(node is target for one in body for node in ast.walk(one)):
                    yield from _tests_before(body, target)
            return


def _leaves_or_replaces(node: ast.If) -> bool:
    """Whether the test is false afterwards: the branch never ends normally, or assigns what is tested."""
    if DefiniteAssignment().block(node.body, frozenset()) is None:
        return True
    asked = {ast.unparse(one) for one in ast.walk(node.test) if isinstance(one, ast.Name | ast.Attribute)}
    stored = [one for one in ast.walk(node) if isinstance(getattr(one, "ctx", None), ast.Store)]
    return any(ast.unparse(one) in asked for one in stored)


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    return found + [case.body for case in getattr(statement, "cases", [])]


def _excludes_none(test: ast.expr, wanted: bool, name: str) -> bool:
    """Whether the name is not None when the test has this outcome."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values) if wanted:
            return any(_excludes_none(value, True, name) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values) if not wanted:
            return any(_excludes_none(value, False, name) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _excludes_none(operand, not wanted, name)
        case ast.Name(id=found):
            return wanted and found == name
        case ast.Compare(left=ast.Name(id=found), ops=[operator], comparators=[ast.Constant(value=None)]):
            return found == name and isinstance(operator, ast.IsNot if wanted else ast.Is)
        case _:
            return False


def _narrowing_attributes(test: ast.expr) -> Iterator[str]:
    """Yield attributes about whose type the test says something: true, None, or an instance of a class."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _narrowing_attributes(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _narrowing_attributes(operand)
        case ast.Attribute():
            yield ast.unparse(test)
        case ast.Compare(left=ast.Attribute() as left, ops=[ast.Is() | ast.IsNot()]):
            yield ast.unparse(left)
        case ast.Call(func=ast.Name(id=("isinstance" | "hasattr" | "callable")), args=[ast.Attribute() as asked, *_]):
            yield ast.unparse(asked)
        case _:
            return
