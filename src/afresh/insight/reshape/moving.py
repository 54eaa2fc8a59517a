"""A function inside another as one of its own: its decisions no longer count for both, and what it closed over is handed to it."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.insight.complexity import FunctionNode, cost
from afresh.insight.reshape.blocks import Block, Place, first_line
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.extracting import words
from afresh.insight.reshape.extraction import Extraction, Shape
from afresh.insight.reshape.names import Comprehension, Names, Scope, declared, free, local_names, own_nodes, parameters, uses
from afresh.insight.reshape.render import Home, home, indent_of, typed_parameter, widest
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import ADDRESSED, comments, lines_of, moved, step

MOST_HANDED, MOST_PARAMETERS = 4, 6
CALLING = {"sorted", "map", "filter", "max", "min", "sort", "sub", "subn"}
"""What only calls the function that it is given."""


@dataclass(frozen=True, slots=True)
class Inner:
    node: FunctionNode
    first: int
    """Of its lines, comments above it among them."""
    last: int
    mentions: tuple[ast.Name, ...]
    handed: Names


def moved_functions(scene: Scene) -> Iterator[Change]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, FunctionNode) and (inner := _inner(scene, statement)):
            yield from filter(None, [_change(scene, place, number, inner)])


def _inner(scene: Scene, node: FunctionNode) -> Inner | None:
    host, where = scene.host, lines_of(scene.source, node)
    if where is None or node.decorator_list or getattr(node, "type_params", None) or host.unsafe or node.name in host.unsteady:
        return None
    mentions = tuple(one for one in ast.walk(scene.function.node) if isinstance(one, ast.Name) and one.id == node.name)
    handed = free(node) & (host.names | host.all_outer) - {node.name}
    first = where.first
    while scene.source.line(first - 1).startswith(where.indent + "#") and not ADDRESSED.match(comments(scene.source.text)[first - 1]):
        first -= 1
    inner = Inner(node, first, where.last, mentions, handed)
    agreed = _settled(scene, inner) and _bound_once(scene, inner) and _reachable(scene, inner)
    return inner if agreed and all(_called(scene, one, handed) for one in mentions) else None


def _settled(scene: Scene, inner: Inner) -> bool:
    """What the definition itself evaluates, and what it declares, does not depend on the function around it."""
    node, args = inner.node, inner.node.args
    defaults = [*args.defaults, *filter(None, args.kw_defaults)]
    notes = [*filter(None, [arg.annotation for arg in parameters(node)]), *([node.returns] if node.returns else [])]
    local = uses(*notes).reads & (scene.host.names | scene.host.all_outer)
    rebound = any(isinstance(one, ast.Nonlocal) and set(one.names) & inner.handed for one in ast.walk(node))
    return all(isinstance(one, ast.Constant) for one in defaults) and not local and not rebound and bool(inner.mentions)


def _bound_once(scene: Scene, inner: Inner) -> bool:
    """The name means this function everywhere, and no scope in between means something else by what it is handed."""
    host, name = scene.host, inner.node.name
    if len(host.bindings.get(name, [])) != 1 or name in declared(scene.function.node) or name in local_names(inner.node):
        return False
    if inner.handed & (host.unsteady | host.declared | host.imported) or len(inner.handed) > MOST_HANDED:
        return False
    hidden = {name, *inner.handed}
    for node in ast.walk(scene.function.node):
        if isinstance(node, ast.NamedExpr) and node.target.id in hidden:
            return False
        if isinstance(node, FunctionNode | ast.ClassDef) and node.name in inner.handed:
            return False
        if isinstance(node, Scope | Comprehension) and node not in (scene.function.node, inner.node) and _own(node) & hidden:
            return False
    return True


def _own(node: Scope | Comprehension) -> Names:
    if isinstance(node, Comprehension):
        return frozenset(name for part in node.generators for name in uses(part.target).binds)
    return local_names(node)


def _reachable(scene: Scene, inner: Inner) -> bool:
    """What it is handed is bound wherever it is called, and still the same when it runs."""
    host, node = scene.host, inner.node
    before = scene.known_before(node) | host.outer
    constant = all(len(host.bindings.get(name, [0])) == 1 and name in before for name in inner.handed)
    later = isinstance(node, ast.AsyncFunctionDef) or any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node.body))
    own = {id(one) for one in host.nodes}
    body, inside = {id(one) for one in ast.walk(node)}, node in scene.function.node.body
    for mention in inner.mentions:
        if id(mention) in body:
            continue
        if id(mention) not in own or later:
            if not (constant and inside):
                return False
        elif not (inner.handed | {node.name}) <= _known(scene, mention) | host.outer - host.names:
            return False
    return True


def _known(scene: Scene, mention: ast.Name) -> Names:
    holding = [
        (statement.lineno, known)
        for statement, known in scene.host.assigned.before.items()
        if statement.lineno <= mention.lineno <= (statement.end_lineno or 0) and known is not None
    ]
    return max(holding, key=lambda one: one[0])[1] if holding else frozenset()


def _called(scene: Scene, mention: ast.Name, handed: Names) -> bool:
    """Called here, or given to something that only calls it and needs nothing handed along."""
    for node in ast.walk(scene.function.node):
        if isinstance(node, ast.Call):
            if node.func is mention:
                return True
            given = any(one is mention for one in (*node.args, *(keyword.value for keyword in node.keywords)))
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if given:
                return not handed and name in CALLING
    return False


def _change(scene: Scene, place: Place, number: int, inner: Inner) -> Change | None:
    order = [name for name in scene.host.arguments if name in inner.handed]
    names = tuple(dict.fromkeys([*order, *(node.id for node in ast.walk(inner.node) if _reads(node, inner.handed)), *sorted(inner.handed)]))  # type: ignore[attr-defined]
    block = Block(place, number, number + 1, inner.first, inner.last, 1 + cost(inner.node.body))
    standing = Extraction(scene.host, block, Shape.CALL, names, (), False)
    where = home(standing, scene.source)
    if where is None or len(parameters(inner.node)) + len(names) > MOST_PARAMETERS:
        return None
    name = _name(scene, inner, where)
    arguments = [one for one in names if one != where.bound]
    lines = _with_calls(scene, inner, where.prefix + name, arguments)
    typed = [typed_parameter(standing, one, where) for one in arguments]
    made = _definition(scene, inner, lines, where, [name, *([where.bound] if where.bound else []), *typed])
    if made is None or any(len(line) > max(widest(scene.source), len(scene.source.line(at).rstrip())) for at, line in lines.items()):
        return None
    splices = (_remaining(scene, inner, lines), _put(where, made))
    parents = scene.function.name.split(".")[:-1] if where.bound else []
    calls = len(inner.mentions)
    head = f"move {inner.node.name} out of {scene.function.name} as {where.prefix}{name}({', '.join(arguments)}{', …' if arguments else '…'})"
    price = 1.0 + 0.7 * len(arguments) + 0.1 * calls * len(arguments) + 2.0 * max(0, len(arguments) - 3)
    return Change("move function", head, splices, (inner.first, inner.last), price, (".".join([*parents, name]),))


def _reads(node: ast.AST, names: Names) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _name(scene: Scene, inner: Inner, where: Home) -> str:
    """Its own, marked as the file's own affair; a longer one if that is in use."""
    stem, around = inner.node.name.strip("_"), scene.function.node.name.strip("_")
    text = scene.source.text
    within = "".join(scene.source.lines[scene.function.node.lineno - 1 : scene.function.node.end_lineno])
    for name in (f"_{stem}", f"_{around}_{stem}"):
        alone = name == inner.node.name and _count(text, name) == _count(within, name)
        if (alone or name not in words(text)) and not (where.bound and name in scene.taken and not alone):
            return name
    return f"_{around}_{stem}_inner"


def _count(text: str, name: str) -> int:
    return len(re.findall(rf"\b{re.escape(name)}\b", text))


def _with_calls(scene: Scene, inner: Inner, name: str, arguments: list[str]) -> dict[int, str]:
    """The lines that call it, calling it by its new name with what it needs."""
    calls = {id(node.func): node for node in ast.walk(scene.function.node) if isinstance(node, ast.Call)}
    lines: dict[int, str] = {}
    for mention in sorted(inner.mentions, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        raw = lines.get(mention.lineno, scene.source.line(mention.lineno).rstrip("\r\n")).encode()
        start, end = mention.col_offset, mention.end_col_offset or 0
        call, rest = calls.get(id(mention)), raw[end:].decode()
        if call is not None and arguments:
            more = ", " if call.args or call.keywords else ""
            rest = rest.replace("(", f"({', '.join(arguments)}{more}", 1)
        lines[mention.lineno] = raw[:start].decode() + name + rest.rstrip()
    return lines


def _definition(scene: Scene, inner: Inner, lines: dict[int, str], where: Home, named: list[str]) -> list[str] | None:
    node, source = inner.node, scene.source
    old = indent_of(source, node.lineno)
    made = moved(source, inner.first, inner.last, old, where.indent)
    for at, line in lines.items():
        if inner.first <= at <= inner.last:
            made[at - inner.first] = where.indent + line[len(old) :]
    at, (name, *first) = node.lineno - inner.first, named
    before, bracket, rest = made[at].partition("(")
    given = ", ".join(first)
    opened = f"{before.replace(node.name, name)}{bracket}"
    if not re.fullmatch(rf"\s*(async )?def {node.name}", before):
        return None
    if rest.strip():
        made[at] = opened + given + (", " if given and parameters(node) else "") + rest
    else:
        made[at : at + 1] = [opened, *([f"{where.indent}{step(source)}{given},"] if given else [])]
    if len(made[at]) > widest(source):
        return None
    return [f"{where.indent}@classmethod", *made] if where.classmethod else made


def _remaining(scene: Scene, inner: Inner, lines: dict[int, str]) -> Splice:
    """The function around it without it: one empty line where there were two."""
    source, node = scene.source, scene.function.node
    first, last = first_line(node), node.end_lineno or node.lineno
    resumes = inner.last + 1
    blank_above = not source.line(inner.first - 1).strip() or inner.first - 1 <= node.lineno
    while blank_above and resumes <= last and not source.line(resumes).strip():
        resumes += 1
    kept = [*range(first, inner.first), *range(resumes, last + 1)]
    return Splice(first, last + 1, tuple(lines.get(at, source.line(at).rstrip("\r\n")) for at in kept))


def _put(where: Home, made: list[str]) -> Splice:
    apart = [""] if where.indent else ["", ""]
    return Splice(where.line, where.line, tuple([*apart, *made] if where.after else [*made, *apart]))
