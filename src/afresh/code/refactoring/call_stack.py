"""Finds code whose result depends on the call stack, so that it means something else one frame deeper."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from afresh.code.complexity import FunctionNode
from afresh.code.python_source import PythonFunction, PythonSource, parse_syntax_tree

STACK_READING_NAMES = frozenset(
    """
    _getframe _getframemodulename currentframe extract_stack extract_tb f_back f_code f_globals f_lineno f_locals findCaller
    format_exc format_exception format_list format_stack format_tb getinnerframes getouterframes print_exc print_exception
    print_stack print_tb tb_frame tb_next walk_stack walk_tb
    """.split()  # noqa: SIM905
)
"""The result of these depends on the caller, as does every `stacklevel`."""
UPWARD_READING_NAMES = frozenset(
    """
    _getframemodulename currentframe extract_stack f_back findCaller format_stack getouterframes print_stack stack walk_stack
    """.split()  # noqa: SIM905
)
"""Functions of the standard library that look at callers, not only at an exception."""
COMMON_METHODS = frozenset(name for kind in (str, bytes, list, dict, set) for name in dir(kind))
"""A method call with such a name, on something else than `self`, most likely means the builtin type's."""
STACK_WORDS = ("stacklevel", "warn(", "traceback", "inspect", *STACK_READING_NAMES)
WARN_ARGUMENTS_BEFORE_STACKLEVEL = 2
MAX_CALL_LEVELS = 3
"""How many calls are followed to a function that reads the stack."""
ANY_FRAME = 99


def reads_call_stack(node: ast.AST) -> bool:
    """Whether the node itself looks at the frames around it."""
    match node:
        case ast.Name(id=name):
            return name in STACK_READING_NAMES
        case ast.Attribute(value=value, attr=name):
            module = value.id if isinstance(value, ast.Name) else ""
            return name in STACK_READING_NAMES or module == "traceback" or (module == "inspect" and name in ("stack", "trace"))
        case ast.keyword(arg=name):
            return name == "stacklevel"
        case ast.Call():
            imported = isinstance(node.func, ast.Name) and node.func.id == "stack" and not node.args
            return imported or _find_positional_stacklevel(node) is not None
        case _:
            return False


def _find_positional_stacklevel(call: ast.Call) -> ast.expr | None:
    """Return the third argument of `warn`, or the argument that may contain it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name != "warn":
        return None
    packed = [arg for arg in call.args if isinstance(arg, ast.Starred)] + [
        keyword.value for keyword in call.keywords if keyword.arg is None
    ]
    return next(iter(packed or call.args[WARN_ARGUMENTS_BEFORE_STACKLEVEL:]), None)


def find_frame_sensitive_names(source: PythonSource, function: PythonFunction, texts: Mapping[str, str]) -> frozenset[str]:
    """Return the names of functions that must not be called from one frame deeper: those that look at frames above their caller,
    and those that call this function again, since recursion would need more frames for each level.
    """
    return find_stack_readers(tuple(texts.values()) or (source.text,)) | _find_recursion_names(source, function)


def _find_recursion_names(source: PythonSource, function: PythonFunction) -> frozenset[str]:
    name = function.node.name
    again = (
        python_function.node.name
        for python_function in source.functions
        if python_function is not function and name in _list_called_names(python_function.node)
    )
    return frozenset([name, *again])


def calls_any_of(roots: Iterable[ast.AST], names: frozenset[str]) -> bool:
    return bool(names) and any(_list_called_names(root) & names for root in roots)


@lru_cache(maxsize=1 << 12)
def _list_called_names(root: ast.AST) -> frozenset[str]:
    """Return the last names of what is called below; a call through `super()` reaches another function of the same name."""
    found: set[str] = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                found.add(called.id)
            elif isinstance(called, ast.Attribute) and _may_be_own_method(called):
                found.add(called.attr)
    return frozenset(found)


def _may_be_own_method(called: ast.Attribute) -> bool:
    """Whether the call may reach a function of the project by its last name."""
    match called.value:
        case ast.Name(id=("self" | "cls")):
            return True
        case ast.Call(func=ast.Name(id="super")):
            return False
        case _:
            return called.attr not in COMMON_METHODS


@lru_cache(maxsize=8)
def find_stack_readers(texts: tuple[str, ...]) -> frozenset[str]:
    """Return the names of functions that look at a frame above their caller, directly or through calls."""
    trees = [tree for text in texts if any(word in text for word in STACK_WORDS) and (tree := parse_syntax_tree(text))]
    defined = [node for tree in trees for node in ast.walk(tree) if isinstance(node, FunctionNode)]
    frames = {node.name: max(0, *_frames_seen_by(node)) for node in defined}
    for name, seen in _partial_readers(trees):
        frames[name] = max(frames.get(name, 0), seen)
    reaching = {name: seen for name, seen in frames.items() if seen}
    for _ in range(MAX_CALL_LEVELS):
        for node in defined:
            through = [seen if seen == ANY_FRAME else seen - 1 for name, seen in reaching.items() if _calls(node, name)]
            reaching[node.name] = max([reaching.get(node.name, 0), *through])
    return frozenset(name for name, seen in reaching.items() if seen > 1)


def _calls(node: FunctionNode, name: str) -> bool:
    return name != node.name and name in _list_called_names(node)


def _frames_seen_by(function: FunctionNode) -> Iterator[int]:
    """Yield how many frames above itself the function looks: 1 is its caller."""
    yield 0
    for node in ast.walk(function):
        if isinstance(node, ast.keyword) and node.arg == "stacklevel":
            yield _read_level(node.value) - 1
        elif isinstance(node, ast.Call) and (level := _find_positional_stacklevel(node)) is not None:
            yield _read_level(level) - 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_getframe":
            yield _read_level(node.args[0]) if node.args else 0
        elif reads_call_stack(node) and getattr(node, "attr", getattr(node, "id", "stack")) in UPWARD_READING_NAMES:
            yield ANY_FRAME


def _read_level(node: ast.expr) -> int:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else ANY_FRAME + 1


def _partial_readers(trees: list[ast.Module]) -> Iterator[tuple[str, int]]:
    """Yield names of module variables that are made with a `stacklevel`, such as a partial of `warn`."""
    for statement in (stmt for tree in trees for stmt in tree.body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            levels = [
                keyword.value
                for keyword in ast.walk(statement.value)
                if isinstance(keyword, ast.keyword) and keyword.arg == "stacklevel"
            ]
            yield from ((statement.targets[0].id, _read_level(level)) for level in levels)
