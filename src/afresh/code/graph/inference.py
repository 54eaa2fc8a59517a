"""Infers the values that Python expressions may have, with bounded work: names, attributes, calls, annotations and classes.

What containers hold is not followed: an item, a loop variable and a part of what is unpacked are unknown.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from afresh.code.graph.python_modules import PythonModules
from afresh.code.graph.scopes import (
    FunctionNode,
    NameBinding,
    NameScope,
    ScopedFile,
    find_default,
    last_name_from_node,
    list_decorator_names,
    load_scoped_file,
)
from afresh.code.index.code_index import CodeIndex
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.errors import AfreshError


@dataclass(frozen=True, slots=True)
class ModuleValue:
    path: str


@dataclass(frozen=True, slots=True)
class ClassValue:
    path: str
    name: str
    """Qualified within its file."""


@dataclass(frozen=True, slots=True)
class FunctionValue:
    path: str
    name: str
    on: ClassValue | None = None
    """Class of the receiver on which it was looked up, if known; it may be a subclass of the defining class."""


@dataclass(frozen=True, slots=True)
class InstanceValue:
    of: ClassValue


@dataclass(frozen=True, slots=True)
class SuperValue:
    """The result of `super()`: members of the classes after this one."""

    of: ClassValue
    on: ClassValue


@dataclass(frozen=True, slots=True)
class ExternalValue:
    """Something that no file of the tree defines: a dotted name of the standard library or a package, or the result of a call."""

    name: str


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that static analysis can't determine."""


Value = ModuleValue | ClassValue | FunctionValue | InstanceValue | SuperValue | ExternalValue | UnknownValue
Values = frozenset[Value]
Ancestor = ClassValue | ExternalValue | UnknownValue
UNKNOWN_VALUES: Values = frozenset({UnknownValue()})
NO_VALUES: Values = frozenset()
MAX_EVALUATED_EXPRESSIONS = 150_000
MAX_EVALUATION_DEPTH = 40
MAX_LOOKUP_DEPTH = 30
"""Limits of one query: evaluated expressions, and recursion depth of expressions and of imports and annotations."""
MAX_OPEN_FILES = 60
"""Files whose syntax trees are in memory at the same time."""
MAX_SUBCLASSES = 500
"""Subclasses of one class that are searched for."""
BUILTIN_BY_NODE: dict[type[ast.AST], str] = {
    ast.List: "list", ast.ListComp: "list", ast.Tuple: "tuple", ast.Set: "set", ast.SetComp: "set", ast.Dict: "dict",
    ast.DictComp: "dict", ast.GeneratorExp: "generator", ast.JoinedStr: "str", ast.Compare: "bool",
}  # fmt: skip
CONTAINER_PREFIXES = (
    "typing.", "collections.", "builtins.list", "builtins.dict", "builtins.tuple", "builtins.set", "builtins.frozenset",
)  # fmt: skip
"""External values that may hold values of this tree, which their methods return."""
FIRST_ARGUMENT_FUNCTIONS = {"functools.partial", "copy.copy", "copy.deepcopy", "staticmethod", "classmethod"}
UNTRACKED_FUNCTIONS = {
    "next", "min", "max", "random.choice", "functools.reduce", "getattr", "typing.cast", "vars", "globals", "locals", "eval",
    "__import__", "importlib.import_module", "pickle.loads", "threading.local", "weakref.ref", "weakref.proxy",
    "contextvars.ContextVar", "queue.Queue",
}  # fmt: skip
"""Functions of the standard library that return their first argument, and those whose results are unknown."""
TRANSPARENT_GENERICS = {
    "Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable", "TypeGuard",
}  # fmt: skip
OPAQUE_TYPES = {
    "Any", "object", "TypeVar", "ParamSpec", "Self", "T", "Callable", "ContextManager", "AbstractContextManager",
    "AsyncContextManager", "AbstractAsyncContextManager",
}  # fmt: skip
IMPLICIT_CLASS_METHODS = {"__new__", "__init_subclass__", "__class_getitem__"}
ENUM_BASES = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
MEMBERLESS_BASES = {
    ExternalValue(name)
    for name in ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing.NamedTuple", "builtins.Exception")
}


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A member of a class, found in the class itself or in the first base class that has it."""

    owner: ClassValue
    bindings: tuple[NameBinding, ...]

    @property
    def functions(self) -> list[NameBinding]:
        return [binding for binding in self.bindings if binding.how == "def"]


def to_external(name: str) -> Values:
    return frozenset({ExternalValue(name)})


def unite_values(found: Iterable[Values]) -> Values:
    return NO_VALUES.union(*found)


def is_property(binding: NameBinding) -> bool:
    node = binding.node
    if not isinstance(node, FunctionNode):
        return False
    return any(name.endswith("property") or name in ("setter", "getter", "deleter") for name in list_decorator_names(node))


def owner_from_method(place: SymbolPlace) -> ClassValue | None:
    """Return the class of a method."""
    name = place.symbol.name.rpartition(".")[0]
    return ClassValue(place.path, name) if place.symbol.kind is SymbolKind.METHOD and name else None


class Inference:
    """The results of one query so far."""

    def __init__(self, code: CodeIndex) -> None:
        self.code, self.modules, self.work, self.depth = code, PythonModules(code), 0, 0
        self.files: dict[str, ScopedFile | None] = {}
        self._values: dict[str, dict[tuple[int, int], Values]] = {}
        """By file, so that they are released with it: keys are the ids of its nodes."""
        self._orders: dict[ClassValue, tuple[Ancestor, ...]] = {}
        self._returns: dict[FunctionValue, Values] = {}

    @property
    def exhausted(self) -> bool:
        return self.work > MAX_EVALUATED_EXPRESSIONS

    def file(self, path: str) -> ScopedFile | None:
        if path not in self.files:
            try:
                self.files[path] = load_scoped_file(path, self.code.text(path))
            except (OSError, AfreshError):
                self.files[path] = None
        return self.files[path]

    def scope(self, path: str, name: str) -> NameScope | None:
        file = self.file(path)
        return file.scopes.get(name) if file else None

    def release(self) -> None:
        """Release the files that were opened first. Call it only while nothing is being evaluated."""
        for path in list(self.files)[:-MAX_OPEN_FILES]:
            del self.files[path]
            self._values.pop(path, None)

    # Expressions

    def value(self, node: ast.expr | None, scope: NameScope) -> Values:
        """Return the values that an expression may have. A recursive reference adds none."""
        if node is None:
            return UNKNOWN_VALUES
        key = (id(node), id(scope))
        known = self._values.setdefault(scope.path, {})
        if key in known:
            return known[key]
        self.work += 1
        if self.depth >= MAX_EVALUATION_DEPTH or self.exhausted:
            return UNKNOWN_VALUES
        known[key] = NO_VALUES
        self.depth += 1
        try:
            known[key] = self._evaluate(node, scope)
        finally:
            self.depth -= 1
        return known[key]

    def _evaluate(self, node: ast.expr, scope: NameScope) -> Values:
        match node:
            case ast.Name(id=name):
                return self._resolve_name(name, scope)
            case ast.Attribute(value=inner, attr=name):
                return unite_values(self._resolve_attribute(value, name) for value in self.value(inner, scope))
            case ast.Call(func=called):
                return unite_values(self._call(value, node, scope) for value in self.value(called, scope))
            case ast.Constant(value=constant):
                return to_external(f"builtins.{'None' if constant is None else type(constant).__name__}")
            case ast.Subscript(value=inner):
                return unite_values(self._subscript(value, node.slice) for value in self.value(inner, scope))
            case ast.IfExp(body=body, orelse=orelse):
                return self.value(body, scope) | self.value(orelse, scope)
            case ast.BoolOp(values=parts):
                return unite_values(self.value(part, scope) for part in parts)
            case ast.NamedExpr(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
                return self.value(inner, scope)
        builtin = BUILTIN_BY_NODE.get(type(node))
        return to_external(f"builtins.{builtin}") if builtin else UNKNOWN_VALUES

    def _resolve_attribute(self, value: Value, name: str) -> Values:
        match value:
            case ModuleValue(path):
                return self.resolve_module_member(path, name)
            case ClassValue():
                return self.resolve_member(value, name, False)
            case InstanceValue(of):
                return self.resolve_member(of, name, True)
            case SuperValue(of, on):
                return self.resolve_member(on, name, True, after=of)
            case ExternalValue(outer):
                return UNKNOWN_VALUES if outer.startswith(CONTAINER_PREFIXES) else to_external(f"{outer}.{name}")
        return to_external("builtins.function") if isinstance(value, FunctionValue) else UNKNOWN_VALUES

    def _subscript(self, value: Value, index: ast.expr) -> Values:
        match value:
            case ClassValue() | ExternalValue("builtins.str" | "builtins.bytes"):
                return frozenset({value})
            case InstanceValue(of):
                return self._call_member(of, "__getitem__") or UNKNOWN_VALUES
        return frozenset({value}) if isinstance(index, ast.Slice) else UNKNOWN_VALUES

    def _call(self, value: Value, node: ast.Call, scope: NameScope) -> Values:
        """Return the values that calling `value` may return."""
        match value:
            case ClassValue():
                return frozenset({InstanceValue(value)})
            case FunctionValue():
                return self._resolve_return(value)
            case InstanceValue(of):
                return self._call_member(of, "__call__") or UNKNOWN_VALUES
            case ExternalValue(name):
                return self._call_external(name, node, scope)
        return UNKNOWN_VALUES

    def _call_external(self, name: str, node: ast.Call, scope: NameScope) -> Values:
        short = name.removeprefix("builtins.")
        if short in UNTRACKED_FUNCTIONS:
            return UNKNOWN_VALUES
        if short in FIRST_ARGUMENT_FUNCTIONS:
            return self.value(node.args[0] if node.args else None, scope)
        if short == "super":
            return self._evaluate_super(node.args, scope)
        arguments = (*node.args, *(keyword.value for keyword in node.keywords))
        handed_on = (each for argument in arguments for each in self.value(argument, scope))
        is_ours = any(isinstance(each, InstanceValue | ClassValue | FunctionValue) for each in handed_on)
        return UNKNOWN_VALUES if is_ours and not name.startswith(CONTAINER_PREFIXES) else to_external(f"{name}()")

    def _evaluate_super(self, arguments: Sequence[ast.expr], scope: NameScope) -> Values:
        own = scope.own_class
        if own is None:
            return UNKNOWN_VALUES
        here = ClassValue(own.path, own.name)
        of = self.value(arguments[0], scope) if arguments else frozenset({here})
        return frozenset(SuperValue(value, here) for value in of if isinstance(value, ClassValue)) or UNKNOWN_VALUES

    def _call_member(self, of: ClassValue, name: str) -> Values:
        member = self.resolve_member(of, name, True)
        return unite_values(self._resolve_return(each) for each in member if isinstance(each, FunctionValue))

    # Names

    def _resolve_name(self, name: str, scope: NameScope) -> Values:
        within: NameScope | None = scope
        while within is not None:
            if (within is scope or within.kind != "class") and name in within.bound:
                return unite_values(map(self.resolve_binding, within.bound[name]))
            within = within.around
        if starred := self._resolve_star_imports(name, scope.path):
            return starred
        return to_external(f"builtins.{name}") if hasattr(builtins, name) else UNKNOWN_VALUES

    def resolve_binding(self, binding: NameBinding) -> Values:
        how, node, scope = binding.how, binding.node, binding.scope
        if how in ("import", "from"):
            return self._resolve_import(binding)
        if isinstance(node, FunctionNode | ast.ClassDef):  # a decorator may replace it
            name = f"{scope.name}.{node.name}" if scope.name else node.name
            return frozenset({ClassValue(scope.path, name) if how == "class" else FunctionValue(scope.path, name)})
        if isinstance(node, ast.arg):
            return self._resolve_parameter(node, scope)
        if not isinstance(node, ast.expr):
            return UNKNOWN_VALUES
        if how == "annotation":
            return self._resolve_annotation(node, scope)
        if how == "caught":
            classes = node.elts if isinstance(node, ast.Tuple) else [node]
            return frozenset(self._instantiate(value) for each in classes for value in self.value(each, scope))
        values = self.value(node, scope)
        return unite_values(map(self._enter, values)) if how == "entered" else values

    def _instantiate(self, value: Value) -> Value:
        if isinstance(value, ClassValue):
            return InstanceValue(value)
        return value if isinstance(value, ExternalValue) else UnknownValue()

    def _enter(self, value: Value) -> Values:
        if isinstance(value, InstanceValue):
            entered = self._call_member(value.of, "__enter__") | self._call_member(value.of, "__aenter__")
            return entered or frozenset({value})
        is_known = isinstance(value, ExternalValue) and not value.name.startswith(CONTAINER_PREFIXES)
        return frozenset({value}) if is_known else UNKNOWN_VALUES

    def _resolve_import(self, binding: NameBinding) -> Values:
        (level, module, name), here = binding.origin, binding.scope.path
        if path := self.modules.find_imported(level, module, here):
            return self.resolve_module_member(path, name) if name else frozenset({ModuleValue(path)})
        if name and (path := self.modules.find(f"{module}.{name}", here)):  # of a folder without `__init__.py`
            return frozenset({ModuleValue(path)})
        if not name and any(known.startswith(f"{module}.") for known in self.modules.by_name):
            return UNKNOWN_VALUES
        return to_external(f"{module}.{name}" if name else module)

    def resolve_module_member(self, path: str, name: str) -> Values:
        file = self.file(path) if path in self.modules.sources else None
        if file and name in file.top.bound and self.depth < MAX_LOOKUP_DEPTH:
            self.depth += 1
            member = unite_values(map(self.resolve_binding, file.top.bound[name]))
            self.depth -= 1
            return member
        if below := self.modules.find_submodule(path, name):
            return frozenset({ModuleValue(below)})
        if file is None:
            return UNKNOWN_VALUES
        starred = self._resolve_star_imports(name, path)
        return starred or (UNKNOWN_VALUES if "__getattr__" in file.top.bound else NO_VALUES)

    def _resolve_star_imports(self, name: str, path: str) -> Values:
        file = self.file(path)
        if file is None or name.startswith("_") or self.depth >= MAX_LOOKUP_DEPTH:
            return NO_VALUES
        self.depth += 1
        targets = [self.modules.find_imported(star.origin[0], star.origin[1], path) for star in file.stars]
        star_imports = unite_values(self.resolve_module_member(target, name) for target in targets if target and target != path)
        self.depth -= 1
        return star_imports

    def _resolve_parameter(self, node: ast.arg, scope: NameScope) -> Values:
        function = scope.node
        if not isinstance(function, FunctionNode):
            return UNKNOWN_VALUES
        if node.arg == scope.first and scope.around is not None:
            own = ClassValue(scope.path, scope.around.name)
            on_class = "classmethod" in list_decorator_names(function) or function.name in IMPLICIT_CLASS_METHODS
            return frozenset({own if on_class else InstanceValue(own)})
        if node in (function.args.vararg, function.args.kwarg):
            return to_external("builtins.tuple" if node is function.args.vararg else "builtins.dict")
        if node.annotation is not None:
            return self._resolve_annotation(node.annotation, scope.around or scope)
        default = find_default(function.args, node)
        known = self.value(default, scope.around or scope) if default is not None else NO_VALUES
        return UNKNOWN_VALUES | {value for value in known if not isinstance(value, ExternalValue)}

    # Annotations

    def _resolve_annotation(self, node: ast.expr, scope: NameScope) -> Values:
        """Return instances of the annotated type. Classes outside the tree give external values; `Any` gives an unknown value."""
        self.work += 1
        if self.depth > MAX_LOOKUP_DEPTH:
            return UNKNOWN_VALUES
        match node:
            case ast.Constant(value=str(text)):
                try:
                    return self._resolve_annotation(ast.parse(text.strip(), mode="eval").body, scope)
                except (SyntaxError, ValueError):
                    return UNKNOWN_VALUES
            case ast.Constant():
                return to_external("builtins.None")
            case ast.BinOp(left=left, right=right, op=ast.BitOr()):
                return self._resolve_annotation(left, scope) | self._resolve_annotation(right, scope)
            case ast.Subscript():
                return self._resolve_generic(node, scope)
            case ast.Name() | ast.Attribute():
                if alias := self._find_type_alias(node, scope):
                    self.depth += 1
                    annotation = self._resolve_annotation(*alias)
                    self.depth -= 1
                    return annotation
                values = map(self._instantiate, self._evaluate(node, scope))
                return frozenset(
                    UnknownValue() if isinstance(each, ExternalValue) and each.name.rpartition(".")[2] in OPAQUE_TYPES else each
                    for each in values
                )
        return UNKNOWN_VALUES

    def _find_type_alias(self, node: ast.Name | ast.Attribute, scope: NameScope) -> tuple[ast.expr, NameScope] | None:
        """Return the expression of a type alias, such as `Names = list[Name]` at the top of the same file."""
        if not isinstance(node, ast.Name):
            return None
        within: NameScope | None = scope
        while within is not None and node.id not in within.bound:
            within = within.around
        bindings = within.bound[node.id] if within else []
        if within is None or len(bindings) != 1 or bindings[0].how != "value":
            return None
        written = bindings[0].node
        if isinstance(written, ast.Call):
            bounds = [keyword.value for keyword in written.keywords if keyword.arg == "bound"]
            return (bounds[0], within) if bounds else None
        return (written, within) if isinstance(written, ast.Subscript | ast.BinOp | ast.Constant) else None

    def _resolve_generic(self, node: ast.Subscript, scope: NameScope) -> Values:
        name = last_name_from_node(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Union":
            return unite_values(self._resolve_annotation(part, scope) for part in parts)
        if name in TRANSPARENT_GENERICS or name == "Coroutine":
            return self._resolve_annotation(parts[-1 if name == "Coroutine" else 0], scope) if parts else UNKNOWN_VALUES
        if name in ("type", "Type") and parts:
            values = self._resolve_annotation(parts[0], scope)
            return frozenset(value.of if isinstance(value, InstanceValue) else value for value in values)
        return to_external("builtins.str") if name == "Literal" else self._resolve_annotation(node.value, scope)

    # Functions

    def _resolve_return(self, function: FunctionValue) -> Values:
        """Return the values that a call of the function returns: as annotated, otherwise from its `return` statements."""
        if function in self._returns:
            return self._returns[function]
        self._returns[function] = NO_VALUES
        scope = self.scope(function.path, function.name)
        node = scope.node if scope else None
        if scope is None or not isinstance(node, FunctionNode) or "contextmanager" in "".join(list_decorator_names(node)):
            found = UNKNOWN_VALUES
        elif node.returns is not None:
            found = self._resolve_annotated_return(scope, node, node.returns, function)
        elif scope.is_generator:
            found = UNKNOWN_VALUES
        else:
            own: Values = frozenset({InstanceValue(function.on)}) if function.on else NO_VALUES
            found = unite_values(own if own and _is_receiver(each, scope) else self.value(each, scope) for each in scope.returns)
        self._returns[function] = found
        return found

    def _resolve_annotated_return(
        self, scope: NameScope, node: FunctionNode, annotation: ast.expr, function: FunctionValue
    ) -> Values:
        """Return the annotated values; `Self`, or the type variable of the first parameter, means the receiver's class."""
        around = scope.around
        owner = function.on or (ClassValue(scope.path, around.name) if around and around.kind == "class" else None)
        words = ast.unparse(annotation).strip("'\"")
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        own = ast.unparse(first.annotation).strip("'\"") if first is not None and first.annotation is not None else ""
        if owner is not None and (words in ("Self", "t.Self", "typing.Self", "te.Self") or (own and words == own)):
            return frozenset({InstanceValue(owner)})
        return self._resolve_annotation(annotation, around or scope)

    # Classes

    def resolve_method_order(self, of: ClassValue) -> tuple[Ancestor, ...]:
        """Return the method resolution order, this class first: depth first, each class after all of its subclasses."""
        if of not in self._orders:
            self._orders[of] = (of, UnknownValue())
            bases = self._resolve_bases(of)
            above = [
                each for base in bases for each in (self.resolve_method_order(base) if isinstance(base, ClassValue) else (base,))
            ]
            self._orders[of] = (of, *reversed(dict.fromkeys(reversed(above))))
        return self._orders[of]

    def _resolve_bases(self, of: ClassValue) -> list[Ancestor]:
        scope = self.scope(of.path, of.name)
        if scope is None or not isinstance(scope.node, ast.ClassDef) or scope.around is None:
            return [UnknownValue()]
        found: list[Ancestor] = []
        for base in scope.node.bases:
            values = [value for value in self.value(base, scope.around) if value != of]
            known = sorted((value for value in values if isinstance(value, ClassValue)), key=lambda each: (each.path, each.name))
            found += known or [next((value for value in values if isinstance(value, ExternalValue)), UnknownValue())]
        return list(dict.fromkeys(found))

    def find_member(self, of: ClassValue, name: str, after: ClassValue | None = None) -> ClassMember | None:
        """Return the member of the first class in order that has the name; `after` skips all classes up to this one."""
        order = self.resolve_method_order(of)
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        for each in order:
            scope = self.scope(each.path, each.name) if isinstance(each, ClassValue) else None
            if isinstance(each, ClassValue) and scope and (bindings := (*scope.bound.get(name, ()), *scope.held.get(name, ()))):
                return ClassMember(each, bindings)
        return None

    def has_unknown_members(self, of: ClassValue) -> bool:
        """Whether the class may have members that no file of this tree defines."""
        order = self.resolve_method_order(of)
        strange = [each for each in order if not isinstance(each, ClassValue) and each not in MEMBERLESS_BASES]
        return bool(strange) or self.find_member(of, "__getattr__") is not None

    def resolve_member(self, of: ClassValue, name: str, instance: bool, after: ClassValue | None = None) -> Values:
        """Return the values that `name` on the class, or on an instance of it, may have."""
        if name == "__class__" and instance:
            return frozenset({of})
        if member := self.find_member(of, name, after):
            return unite_values(self._resolve_member_binding(member.owner, each, of, instance) for each in member.bindings)
        return UNKNOWN_VALUES if self.has_unknown_members(of) else NO_VALUES

    def _resolve_member_binding(self, owner: ClassValue, binding: NameBinding, on: ClassValue, instance: bool) -> Values:
        if binding.how == "def" and isinstance(binding.node, FunctionNode):
            function = FunctionValue(owner.path, f"{owner.name}.{binding.node.name}", on)
            return self._resolve_return(function) if instance and is_property(binding) else frozenset({function})
        if binding.how == "value" and not instance and binding.scope.kind == "class" and self._is_enum(on):
            return frozenset({InstanceValue(on)})
        return self.resolve_binding(binding)

    def _is_enum(self, of: ClassValue) -> bool:
        order = self.resolve_method_order(of)
        return any(isinstance(each, ExternalValue) and each.name.rpartition(".")[2] in ENUM_BASES for each in order)

    def list_ancestors(self, of: ClassValue) -> list[ClassValue]:
        return [each for each in self.resolve_method_order(of)[1:] if isinstance(each, ClassValue)]

    def list_subclasses(self, of: ClassValue) -> list[ClassValue]:
        """Return every class that extends it, directly or indirectly, the nearest first."""
        class_values = [of]
        for each in class_values:
            if len(class_values) > MAX_SUBCLASSES:
                break
            class_values += [other for other in self._find_direct_subclasses(each) if other not in class_values]
        return class_values[1:]

    def _find_direct_subclasses(self, of: ClassValue) -> Iterator[ClassValue]:
        short = of.name.rpartition(".")[2]
        names = {short, *self.find_import_aliases(short)}
        for path in sorted({path for name in names for path in self.code.mentioning(name) if path in self.modules.sources}):
            file = self.file(path)
            for name, scope in sorted(file.scopes.items()) if file else ():
                bases = getattr(scope.node, "bases", ())
                if not {last_name_from_node(node) for base in bases for node in (base, getattr(base, "value", None))} & names:
                    continue
                other = ClassValue(path, name)
                if other != of and of in self._resolve_bases(other):
                    yield other

    def find_import_aliases(self, name: str) -> set[str]:
        """Return other names under which files import it."""
        paths = [path for path in self.code.mentioning(name) if path in self.modules.sources]
        imports = [names for path in paths for module in self.code.reading(path).imports for names in module.names]
        return {here for there, here in imports if there == name != here}

    def find_place(self, of: ClassValue, method: str = "") -> SymbolPlace | None:
        """Return the last symbol of that name in the file, which is the one that Python would use."""
        name = f"{of.name}.{method}" if method else of.name
        symbols = self.code.reading(of.path).symbols if of.path in self.modules.sources else ()
        held = [symbol for symbol in symbols if symbol.name == name]
        return SymbolPlace(of.path, held[-1]) if held else None


def _is_receiver(node: ast.expr, scope: NameScope) -> bool:
    """Whether the expression is `self` or `cls()`: an instance of the receiver's class, which may be a subclass of the defining
    one.
    """
    func = node.func if isinstance(node, ast.Call) else node
    return isinstance(func, ast.Name) and func.id == scope.first
