"""A function inside another as one of its own: its decisions no longer count for both, and it is handed what it closed over."""

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
from afresh.insight.reshape.naming import VERBS, split
from afresh.insight.reshape.render import Home, home, indent_of, typed_parameter, widest
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import ADDRESSED, comments, lines_of, moved, step

MOST_HANDED = 4
MOST_PARAMETERS = 6
CALLING = {"sorted", "map", "filter", "max", "min", "sort", "sub", "subn"}
"""What only calls the function that it is given."""
VAGUE = {
    "add", "body", "call", "callback", "check", "convert", "do", "fetch", "func", "function", "get", "helper", "inner", "key",
    "loop", "run", "step", "visit", "wrapper",
}  # fmt: skip
"""Words that say enough only inside the function."""


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
    generic = getattr(node, "type_params", None)
    if where is None or node.decorator_list or generic or host.unsafe or node.name in host.unsteady:
        return None
    mentions = tuple(one for one in ast.walk(scene.function.node) if isinstance(one, ast.Name) and one.id == node.name)
    handed = free(node) & (host.names | host.all_outer) - {node.name}
    first = where.first
    while scene.source.line(first - 1).startswith(where.indent + "#") and not ADDRESSED.match(
        comments(scene.source.text)[first - 1]
    ):
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
    return all(isinstance(one, ast.Constant) for one in defaults) and not local and bool(inner.mentions)


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
    later = isinstance(node, ast.AsyncFunctionDef) or any(
        isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node.body)
    )
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
    names = _ordered(scene, inner)
    block = Block(place, number, number + 1, inner.first, inner.last, 1 + cost(inner.node.body))
    standing = Extraction(scene.host, block, Shape.CALL, names, (), False)
    where = home(standing, scene.source)
    if where is None or len(parameters(inner.node)) + len(names) > MOST_PARAMETERS:
        return None
    name, arguments = _name(scene, inner, where), [one for one in names if one != where.bound]
    lines = _with_calls(scene, inner, where.prefix + name, arguments)
    untyped = parameters(inner.node) and not any(arg.annotation for arg in parameters(inner.node))
    typed = arguments if untyped else [typed_parameter(standing, one, where) for one in arguments]
    made = _definition(scene, inner, lines, where, [name, *([where.bound] if where.bound else []), *typed])
    longest = max(widest(scene.source), *(len(scene.source.line(at).rstrip()) for at in lines))
    if made is None or any(len(line) > longest for changed in lines.values() for line in changed):
        return None
    parents = scene.function.name.split(".")[:-1] if where.bound else []
    shown = ", ".join([*arguments, "…"])
    head = f"move {inner.node.name} out of {scene.function.name} as {where.prefix}{name}({shown})"
    price = 1.0 + 0.7 * len(arguments) + 0.1 * len(inner.mentions) * len(arguments) + 2.0 * max(0, len(arguments) - 3)
    splices = (_put(where, made), _remaining(scene, inner, lines))
    return Change("move function", head, splices, (inner.first, inner.last), price, (".".join([*parents, name]),))


def _ordered(scene: Scene, inner: Inner) -> tuple[str, ...]:
    """The function's arguments in their order, then by first use."""
    order = [name for name in scene.host.arguments if name in inner.handed]
    used = [node.id for node in ast.walk(inner.node) if isinstance(node, ast.Name) and node.id in inner.handed]
    return tuple(dict.fromkeys([*order, *used, *sorted(inner.handed)]))


def _name(scene: Scene, inner: Inner, where: Home) -> str:
    """Its own, marked as the file's own affair; a longer one if that is in use."""
    stem, around = inner.node.name.strip("_"), scene.function.node.name.strip("_")
    text, about = scene.source.text, split(around)
    subject = "_".join(about[1:] if about[:1] and about[0] in VERBS and about[1:] else about)
    within = "".join(scene.source.lines[scene.function.node.lineno - 1 : scene.function.node.end_lineno])
    vague = set(split(stem)) <= VAGUE
    for name in ([] if vague else [f"_{stem}"]) + [f"_{subject}_{stem}", f"_{around}_{stem}"]:
        alone = name == inner.node.name and _count(text, name) == _count(within, name)
        if (alone or name not in words(text)) and not (where.bound and name in scene.taken and not alone):
            return name
    return f"_{around}_{stem}_inner"


def _count(text: str, name: str) -> int:
    return len(re.findall(rf"\b{re.escape(name)}\b", text))


def _with_calls(scene: Scene, inner: Inner, name: str, arguments: list[str]) -> dict[int, list[str]]:
    """The lines that call it, calling it by its new name with what it needs."""
    calls = {id(node.func): node for node in ast.walk(scene.function.node) if isinstance(node, ast.Call)}
    lines: dict[int, list[str]] = {}
    for mention in sorted(inner.mentions, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        at = mention.lineno
        line, *more = lines.get(at, [scene.source.line(at).rstrip("\r\n")])
        raw = line.encode()
        before, rest = raw[: mention.col_offset].decode(), raw[mention.end_col_offset :].decode()
        call = calls.get(id(mention))
        if call is not None and arguments and rest.strip() == "(" and (call.args or call.keywords):
            more = [f"{indent_of(scene.source, at + 1)}{', '.join(arguments)},", *more]
        elif call is not None and arguments:
            rest = rest.replace("(", f"({', '.join(arguments)}{', ' if call.args or call.keywords else ''}", 1)
        lines[at] = [before + name + rest.rstrip(), *more]
    return lines


def _definition(scene: Scene, inner: Inner, lines: dict[int, list[str]], where: Home, named: list[str]) -> list[str] | None:
    node, source, old = inner.node, scene.source, indent_of(scene.source, inner.node.lineno)
    made = [[line] for line in moved(source, inner.first, inner.last, old, where.indent)]
    for at in _documented(node):
        made[at - inner.first] = [where.indent + source.line(at).rstrip("\r\n").removeprefix(old)]
    for at, changed in lines.items():
        if inner.first <= at <= inner.last:
            made[at - inner.first] = [where.indent + line.removeprefix(old) for line in changed]
    head = node.lineno - inner.first
    opened = _headed(scene, inner, made[head][0], made[head + 1][0], (where.indent, named))
    if opened is None or any(len(line) > widest(source) for line in opened):
        return None
    made[head], made[head + 1] = opened[:-1], [opened[-1], *made[head + 1][1:]]
    text = [line for part in made for line in part]
    return [f"{where.indent}@classmethod", *text] if where.classmethod else text


def _documented(node: FunctionNode) -> range:
    """Lines of the docstring that begin inside it: unlike other texts it moves along."""
    if ast.get_docstring(node) is None:
        return range(0)
    return range(node.body[0].lineno + 1, (node.body[0].end_lineno or 0) + 1)


def _headed(scene: Scene, inner: Inner, line: str, following: str, named: tuple[str, list[str]]) -> list[str] | None:
    """The head's first line and the one after it, with the new name and what is handed in before its own parameters."""
    indent, (name, *first) = named
    before, bracket, rest = line.partition("(")
    given, own = ", ".join(first), parameters(inner.node)
    opened = before.replace(inner.node.name, name) + bracket
    if not re.fullmatch(rf"\s*(async )?def {inner.node.name}", before):
        return None
    if rest.strip():
        return [*_fitting(scene, opened + given + (", " if given and own else "") + rest, indent), following]
    if given and following.count(",") > 1:
        return [opened, f"{indent}{step(scene.source)}{given}, {following.lstrip()}"]
    return [opened, *([f"{indent}{step(scene.source)}{given},"] if given else []), following]


def _fitting(scene: Scene, line: str, indent: str) -> list[str]:
    """A head that has become too long, with its parameters on a line of their own."""
    match = re.fullmatch(r"(.*?\()(.*)(\)\s*(?:->[^()]*)?:.*)", line)
    if len(line) <= widest(scene.source) or match is None:
        return [line]
    return [match[1], f"{indent}{step(scene.source)}{match[2]}", f"{indent}{match[3]}"]


def _remaining(scene: Scene, inner: Inner, lines: dict[int, list[str]]) -> Splice:
    """The function around it without it: one empty line where there were two."""
    source, node = scene.source, scene.function.node
    first, last = first_line(node), node.end_lineno or node.lineno
    resumes = inner.last + 1
    blank_above = not source.line(inner.first - 1).strip() or inner.first - 1 <= node.lineno
    while blank_above and resumes <= last and not source.line(resumes).strip():
        resumes += 1
    kept = [*range(first, inner.first), *range(resumes, last + 1)]
    return Splice(first, last + 1, tuple(line for at in kept for line in lines.get(at, [source.line(at).rstrip("\r\n")])))


def _put(where: Home, made: list[str]) -> Splice:
    apart = [""] if where.indent else ["", ""]
    return Splice(where.line, where.line, tuple([*apart, *made] if where.after else [*made, *apart]))
