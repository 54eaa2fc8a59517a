"""Infers the types of a function's variables where they are obvious: declared, or made by literals and known calls."""

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from afresh.code.complexity import FunctionNode
from afresh.code.python_source import PythonSource
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.name_usage import list_parameters
from afresh.code.refactoring.source_text import render_on_one_line
from afresh.code.refactoring.type_texts import (
    DICT_TYPES,
    ELEMENT_TYPES,
    PLAIN_CALLS,
    STR_METHODS,
    TUPLE_TYPES,
    find_common_type,
    is_optional,
    iterate_bound_values,
    split_type_arguments,
    take_tuple_part,
    type_of_operation,
)

UNDECIDED = "?"


@dataclass(frozen=True)
class TypeReader:
    """Answers with the text of a type, or None where it is not obvious."""

    source: PythonSource
    host: FunctionFlow
    assumed: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def of_name(self, name: str) -> str | None:
        """Return the type that all bindings of a variable agree on; `T | None` in the file's style if some are None."""
        declared = self.host.annotations.get(name)
        if declared is not None:
            return self.text(declared)
        if (packed := self._packed_argument(name)) is not None or name in self.host.arguments:
            return packed
        return self._agreed_type(name)

    def _agreed_type(self, name: str) -> str | None:
        """Return the type on which the bindings agree; those that use the variable itself are judged by the others."""
        if name in self.assumed:
            return self.assumed[name]
        self.assumed[name] = None
        for _ in range(2):
            found = [kind for kind in self._binding_types(name) if kind != UNDECIDED or self.assumed[name]]
            kinds = {one for one in found if one is not None}
            single = bool(found) and None not in found and len(kinds - {"None"}) == 1
            kind = next(iter(kinds - {"None"})) if single else None
            self.assumed[name] = self.optional(kind) if kind and "None" in kinds else kind
        return self.assumed[name]

    def _packed_argument(self, name: str) -> str | None:
        args = self.host.node.args
        if args.vararg is not None and args.vararg.arg == name and args.vararg.annotation is not None:
            return self.generic("tuple", f"{self.text(args.vararg.annotation)}, ...")
        if args.kwarg is not None and args.kwarg.arg == name and args.kwarg.annotation is not None:
            return self.generic("dict", f"str, {self.text(args.kwarg.annotation)}")
        return None

    def text(self, annotation: ast.expr) -> str:
        return render_on_one_line(self.source, annotation) or ast.unparse(annotation)

    def _binding_types(self, name: str) -> Iterator[str | None]:
        """Yield the type of each binding; None for one that is not understood."""
        understood = 0
        for node in self.host.nodes:
            pairs = list(iterate_bound_values(node, name))
            understood += len(pairs)
            for value, taken in pairs:
                again = any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))
                undecided = again and self.assumed.get(name) is None
                yield UNDECIDED if undecided else self._filled_type(name, value) or self._taken_type(value, taken)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                understood += 1
                yield from [] if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.BitOr) else [None]
        if understood < len(self.host.bindings.get(name, [])):
            yield None

    def _filled_type(self, name: str, value: ast.expr) -> str | None:
        """Return the type of an empty list by what is appended to it."""
        if not isinstance(value, ast.List) or value.elts:
            return None
        calls = [node for node in self.host.nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        own = [call for call in calls if isinstance(call.func.value, ast.Name) and call.func.value.id == name]  # type: ignore[attr-defined]
        adding = [call.args[0] for call in own if call.func.attr == "append" and len(call.args) == 1]  # type: ignore[attr-defined]
        element = find_common_type(map(self.of, adding)) if adding else None
        return self.generic("list", element) if element else None

    def _taken_type(self, value: ast.expr, taken: tuple[str | int, ...]) -> str | None:
        kind = self.of(value)
        for step in taken:
            kind = None if kind is None else self._element(kind, value) if step == "each" else take_tuple_part(kind, step)
            value = ast.Constant(None)
        return kind

    def _element(self, kind: str, value: ast.expr) -> str | None:
        """Return the type of an element when iterating."""
        if kind in ("str", "range"):
            return {"str": "str", "range": "int"}[kind]
        if (match := ELEMENT_TYPES.fullmatch(kind)) is not None:
            return match[1]
        if (match := DICT_TYPES.fullmatch(kind)) is not None:
            return split_type_arguments(match[1])[0]
        if (match := TUPLE_TYPES.fullmatch(kind)) is not None and match[1].endswith(", ..."):
            return match[1].removesuffix(", ...")
        return None

    def of(self, node: ast.expr) -> str | None:
        """Return the type of an expression."""
        match node:
            case ast.Constant(value=value):
                return "None" if value is None else type(value).__name__ if value is not ... else None
            case ast.JoinedStr():
                return "str"
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return "bool"
            case ast.UnaryOp(operand=inner) | ast.NamedExpr(value=inner):
                return self.of(inner)
            case ast.Name(id=name):
                return self.of_name(name) if name in self.host.names else self._module_type(name)
            case ast.Attribute(value=ast.Name(id=("self" | "cls")), attr=name):
                return self._attribute_types.get(name)
            case ast.BoolOp(values=values):
                return find_common_type(map(self.of, values))
            case ast.IfExp(body=one, orelse=other):
                return self._either(self.of(one), self.of(other))
            case _:
                return self._of_compound(node)

    def _module_type(self, name: str) -> str | None:
        """Return the type of a module's variable that is assigned once."""
        declared = [node for node in self.source.tree.body if isinstance(node, ast.AnnAssign)]
        for node in declared:
            if isinstance(node.target, ast.Name) and node.target.id == name:
                return self.text(node.annotation)
        plain = [node for node in self.source.tree.body if isinstance(node, ast.Assign) and len(node.targets) == 1]
        values = [node.value for node in plain if isinstance(node.targets[0], ast.Name) and node.targets[0].id == name]
        return self.of(values[0]) if len(values) == 1 and not isinstance(values[0], ast.Name) else None

    def _of_compound(self, node: ast.expr) -> str | None:
        match node:
            case ast.Call():
                return self._of_call(node)
            case ast.BinOp():
                return type_of_operation(node.op, self.of(node.left), self.of(node.right))
            case ast.Subscript():
                return self._of_item(node)
            case ast.List() | ast.Set() if node.elts:
                element = find_common_type(map(self.of, node.elts))
                return element and self.generic(type(node).__name__.lower(), element)
            case ast.Tuple(elts=parts):
                kinds = [self.of(part) for part in parts]
                return self.generic("tuple", ", ".join(filter(None, kinds))) if kinds and None not in kinds else None
            case ast.Dict(keys=keys, values=values) if keys and None not in keys:
                one, other = find_common_type(self.of(key) for key in keys if key), find_common_type(map(self.of, values))
                return self.generic("dict", f"{one}, {other}") if one and other else None
            case _:
                return None

    def _either(self, one: str | None, other: str | None) -> str | None:
        if one is None or other is None or one == other:
            return one if one == other else None
        return self.optional(one if other == "None" else other) if "None" in (one, other) else None

    def _of_call(self, call: ast.Call) -> str | None:
        match call.func:
            case ast.Name(id=name) if name not in self.host.names:
                return self._of_function_call(name, call)
            case ast.Attribute(value=ast.Name(id=("self" | "cls")), attr=name):
                owner = self.host.function.owner
                return self._returned(owner.body if owner is not None else [], name)
            case ast.Attribute(value=ast.Constant(value=str()), attr=name):
                return STR_METHODS.get(name)
            case ast.Attribute(value=value, attr=name) if (kind := self.of(value)) is not None:
                return self._of_method_call(kind, name)
            case _:
                return None

    def _of_method_call(self, kind: str, name: str) -> str | None:
        if kind == "str":
            found = STR_METHODS.get(name)
            return found and re.sub(r"^(list|tuple)\[(.*)\]$", lambda match: self.generic(match[1], match[2]) or "", found)
        pairs = DICT_TYPES.fullmatch(kind)
        if pairs is None:
            return None
        key, value = (*split_type_arguments(pairs[1]), "")[:2]
        if name == "items" and value:
            return f"Iterable[{self.generic('tuple', f'{key}, {value}')}]"
        return {"keys": f"Iterable[{key}]", "values": f"Iterable[{value}]" if value else None}.get(name)

    def _of_function_call(self, name: str, call: ast.Call) -> str | None:
        module = self.source.tree.body
        if name in self._module_classes:
            return name
        if any(isinstance(node, FunctionNode) and node.name == name for node in module):
            return self._returned(module, name)
        if (
            name in ("enumerate", "sorted", "reversed", "list", "set", "tuple")
            and len(call.args) == 1
            and hasattr(builtins, name)
        ):
            inner = self.of(call.args[0])
            element = inner and self._element(inner, call.args[0])
            return element and self._rewrapped(name, element)
        kind = getattr(builtins, name, None)
        raised = isinstance(kind, type) and issubclass(kind, BaseException)
        return name if raised else PLAIN_CALLS.get(name)

    def _rewrapped(self, name: str, element: str) -> str | None:
        if name == "enumerate":
            return f"Iterable[{self.generic('tuple', f'int, {element}')}]"
        if name == "reversed":
            return f"Iterable[{element}]"
        return self.generic({"sorted": "list"}.get(name, name), element + (", ..." if name == "tuple" else ""))

    def _returned(self, statements: list[ast.stmt], name: str) -> str | None:
        """Return the declared result of a function that is defined once and not decorated."""
        found = [node for node in statements if isinstance(node, FunctionNode) and node.name == name]
        if len(found) != 1 or found[0].decorator_list or isinstance(found[0], ast.AsyncFunctionDef) or found[0].returns is None:
            return None
        return self.text(found[0].returns)

    def _of_item(self, node: ast.Subscript) -> str | None:
        kind = self.of(node.value)
        if kind is None or isinstance(node.slice, ast.Slice):
            return kind
        if (match := DICT_TYPES.fullmatch(kind)) is not None:
            return (*split_type_arguments(match[1]), None)[1]
        if TUPLE_TYPES.fullmatch(kind) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return take_tuple_part(kind, node.slice.value)
        return self._element(kind, node.value) if kind != "range" else "int"

    @cached_property
    def _module_classes(self) -> frozenset[str]:
        """Classes of the file, and imported names that look like classes."""
        found = {node.name for node in self.source.tree.body if isinstance(node, ast.ClassDef)}
        imports = [node for node in self.source.tree.body if isinstance(node, ast.ImportFrom)]
        names = {alias.asname or alias.name for node in imports for alias in node.names}
        return frozenset(found | {name for name in names if re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)*", name)})

    @cached_property
    def _attribute_types(self) -> dict[str, str]:
        """Types that the class declares for its attributes, in its body, in `__init__`, or as properties."""
        owner = self.host.function.owner
        found: dict[str, str] = {}
        for node in owner.body if owner is not None else []:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = re.sub(r"^(?:typing\.)?ClassVar\[(.*)\]$", r"\1", self.text(node.annotation))
            elif isinstance(node, ast.FunctionDef) and node.returns and _is_property(node):
                found[node.name] = self.text(node.returns)
            elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
                found.update(self._attributes_set_by(node))
        return found

    def _attributes_set_by(self, node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
        declared = {arg.arg: arg.annotation for arg in list_parameters(node)}
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                    yield name, self.text(statement.annotation)
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Name(id=given)):
                    annotation = declared.get(given)
                    if annotation is not None:
                        yield name, self.text(annotation)
                case _:
                    continue

    @cached_property
    def _imported(self) -> frozenset[str]:
        imports = [node for node in ast.walk(self.source.tree) if isinstance(node, ast.ImportFrom)]
        return frozenset(alias.asname or alias.name for node in imports for alias in node.names)

    def generic(self, name: str, arguments: str) -> str | None:
        """Return `list[…]`, or `List[…]` where the file uses typing's."""
        old = {"list": "List", "dict": "Dict", "tuple": "Tuple", "set": "Set"}[name]
        return f"{old}[{arguments}]" if old in self._imported else f"{name}[{arguments}]"

    def optional(self, kind: str) -> str | None:
        """Return the type or None, as the file writes it; None where it does not show how."""
        if is_optional(kind):
            return kind
        if "Optional" in self._imported:
            return f"Optional[{kind}]"
        modern = "annotations" in self._imported or re.search(r"\| None\b|-> None \|", self.source.text)
        return f"{kind} | None" if modern else None


def _is_property(node: ast.FunctionDef) -> bool:
    return [ast.unparse(decorator) for decorator in node.decorator_list] == ["property"]
