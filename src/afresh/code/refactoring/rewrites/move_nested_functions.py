"""Moves a nested function out of its function, so that its decisions count once; its free variables become parameters."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.code.complexity import FunctionNode, count_decision_points
from afresh.code.refactoring.blocks import StatementBlock, StatementList, find_first_line
from afresh.code.refactoring.call_stack import reads_call_stack
from afresh.code.refactoring.clean_interface import is_constant_before
from afresh.code.refactoring.identifier_words import collect_words, split_identifier
from afresh.code.refactoring.name_usage import (
    ComprehensionNode,
    NameSet,
    ScopeNode,
    collect_declared_names,
    collect_free_names,
    collect_local_names,
    collect_name_uses,
    list_parameters,
    walk_own_scope,
)
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape
from afresh.code.refactoring.render_extraction import NewFunctionPlacement, place_helper, render_handed_variables
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.source_text import (
    TOOL_COMMENT,
    detect_indent_step,
    find_comments,
    locate_statement,
    read_indent,
    reindent_lines,
)
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite

MAX_HANDED_VARIABLES = 2
MAX_MOVED_PARAMETERS = 6
MIN_NAME_CHARACTERS = 3
CALLBACK_FUNCTIONS = {"sorted", "map", "filter", "max", "min", "sort", "sub", "subn"}
"""Functions that only call the function that they are given."""
VAGUE_FUNCTION_WORDS = {
    "add", "body", "call", "callback", "check", "convert", "do", "emit", "fetch", "func", "function", "get", "helper", "inner",
    "key", "loop", "match", "next", "process", "push", "run", "step", "test", "update", "visit", "walk", "wrapper", "write",
}  # fmt: skip
"""Words that are specific enough only inside the enclosing function."""


@dataclass(frozen=True, slots=True)
class NestedFunction:
    node: FunctionNode
    first: int
    """First line, including comments above it."""
    last: int
    mentions: tuple[ast.Name, ...]
    handed: NameSet


def move_nested_functions(scene: RewriteTarget) -> Iterator[ProposedRewrite]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, FunctionNode) and (inner := _match_nested_function(scene, statement)):
            yield from filter(None, [_make_rewrite(scene, place, number, inner)])


def _match_nested_function(scene: RewriteTarget, node: FunctionNode) -> NestedFunction | None:
    host, where = scene.host, locate_statement(scene.source, node)
    generic = getattr(node, "type_params", None) or any(map(reads_call_stack, ast.walk(node)))
    if where is None or node.decorator_list or generic or host.unsafe or node.name in host.unsteady:
        return None
    mentions = tuple(one for one in ast.walk(scene.function.node) if isinstance(one, ast.Name) and one.id == node.name)
    handed = collect_free_names(node) & (host.names | host.all_outer) - {node.name}
    first = where.first
    while scene.source.line(first - 1).startswith(where.indent + "#") and not TOOL_COMMENT.match(
        find_comments(scene.source.text)[first - 1]
    ):
        first -= 1
    inner = NestedFunction(node, first, where.last, mentions, handed)
    agreed = _is_independent_definition(scene, inner) and _bound_once(scene, inner) and _has_stable_variables(scene, inner)
    return inner if agreed and all(_is_only_called(scene, one, handed) for one in mentions) else None


def _is_independent_definition(scene: RewriteTarget, inner: NestedFunction) -> bool:
    """Whether defaults and annotations do not depend on the enclosing function, and the name is used."""
    node, args = inner.node, inner.node.args
    defaults = [*args.defaults, *filter(None, args.kw_defaults)]
    notes = [*filter(None, [arg.annotation for arg in list_parameters(node)]), *([node.returns] if node.returns else [])]
    local = collect_name_uses(*notes).reads & (scene.host.names | scene.host.all_outer)
    return all(isinstance(one, ast.Constant) for one in defaults) and not local and bool(inner.mentions)


def _bound_once(scene: RewriteTarget, inner: NestedFunction) -> bool:
    """Whether the name always means this function, and no scope in between rebinds a variable that is passed."""
    host, name = scene.host, inner.node.name
    if (
        len(host.bindings.get(name, [])) != 1
        or name in collect_declared_names(scene.function.node)
        or name in collect_local_names(inner.node)
    ):
        return False
    if inner.handed & (host.unsteady | host.declared | host.imported) or len(inner.handed) > MAX_HANDED_VARIABLES:
        return False
    hidden = {name, *inner.handed}
    for node in ast.walk(scene.function.node):
        if isinstance(node, ast.NamedExpr) and node.target.id in hidden:
            return False
        if isinstance(node, FunctionNode | ast.ClassDef) and node.name in inner.handed:
            return False
        if (
            isinstance(node, ScopeNode | ComprehensionNode)
            and node not in (scene.function.node, inner.node)
            and _own_names(node) & hidden
        ):
            return False
    return True


def _own_names(node: ScopeNode | ComprehensionNode) -> NameSet:
    if isinstance(node, ComprehensionNode):
        return frozenset(name for part in node.generators for name in collect_name_uses(part.target).binds)
    return collect_local_names(node)


def _has_stable_variables(scene: RewriteTarget, inner: NestedFunction) -> bool:
    """Whether the passed variables are bound at every call, and unchanged when the function runs."""
    host, node = scene.host, inner.node
    before = scene.known_before(node) | host.outer
    constant = all(len(host.bindings.get(name, [0])) == 1 and name in before for name in inner.handed)
    later = isinstance(node, ast.AsyncFunctionDef) or any(
        isinstance(one, ast.Yield | ast.YieldFrom) for one in walk_own_scope(node.body)
    )
    own = {id(one) for one in host.nodes}
    body, inside = {id(one) for one in ast.walk(node)}, node in scene.function.node.body
    for mention in inner.mentions:
        if id(mention) in body:
            continue
        if id(mention) not in own or later:
            if not (constant and inside):
                return False
        elif not (inner.handed | {node.name}) <= _names_bound_at(scene, mention) | host.outer - host.names:
            return False
    return True


def _names_bound_at(scene: RewriteTarget, mention: ast.Name) -> NameSet:
    holding = [
        (statement.lineno, known)
        for statement, known in scene.host.assigned.before.items()
        if statement.lineno <= mention.lineno <= (statement.end_lineno or 0) and known is not None
    ]
    return max(holding, key=lambda one: one[0])[1] if holding else frozenset()


def _is_only_called(scene: RewriteTarget, mention: ast.Name, handed: NameSet) -> bool:
    """Whether it is called here, or passed to something that only calls it and no extra arguments are needed."""
    for node in ast.walk(scene.function.node):
        if isinstance(node, ast.Call):
            if node.func is mention:
                return True
            given = any(one is mention for one in (*node.args, *(keyword.value for keyword in node.keywords)))
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if given:
                return not handed and name in CALLBACK_FUNCTIONS
    return False


def _make_rewrite(scene: RewriteTarget, place: StatementList, number: int, inner: NestedFunction) -> ProposedRewrite | None:
    names = _order_handed_variables(scene, inner)
    block = StatementBlock(place, number, number + 1, inner.first, inner.last, 1 + count_decision_points(inner.node.body))
    standing = Extraction(scene.host, block, ExtractionShape.CALL, names, (), False)
    where = place_helper(standing, scene.source)
    many = len(list_parameters(inner.node)) + len(names) > MAX_MOVED_PARAMETERS
    if where is None or many or not count_decision_points(inner.node.body):
        return None
    name, arguments = _choose_name(scene, inner, where), [one for one in names if one != where.bound]
    typed = render_handed_variables(standing, inner.node, scene.source, where)
    if not name or typed is None or "self" in arguments or any(is_constant_before(scene.host, block, one) for one in arguments):
        return None
    lines = _rewrite_calls(scene, inner, where.prefix + name, arguments)
    made = _render_definition(scene, inner, lines, where, [name, *([where.bound] if where.bound else []), *typed])
    longest = max(scene.source.layout.line_width, *(len(scene.source.line(at).rstrip()) for at in lines))
    if made is None or any(len(line) > longest for changed in lines.values() for line in changed):
        return None
    parents = scene.function.name.split(".")[:-1] if where.bound else []
    shown = ", ".join([*arguments, "…"])
    head = f"move {inner.node.name} out of {scene.function.name} as {where.prefix}{name}({shown})"
    price = 1.0 + 0.7 * len(arguments) + 0.1 * len(inner.mentions) * len(arguments) + 2.0 * max(0, len(arguments) - 3)
    splices = (_splice_definition(where, made), _splice_remaining_function(scene, inner, lines))
    return ProposedRewrite("move function", head, splices, (inner.first, inner.last), price, (".".join([*parents, name]),))


def _order_handed_variables(scene: RewriteTarget, inner: NestedFunction) -> tuple[str, ...]:
    """Return the enclosing function's arguments in their order, then other names by first use."""
    order = [name for name in scene.host.arguments if name in inner.handed]
    used = [node.id for node in ast.walk(inner.node) if isinstance(node, ast.Name) and node.id in inner.handed]
    return tuple(dict.fromkeys([*order, *used, *sorted(inner.handed)]))


def _choose_name(scene: RewriteTarget, inner: NestedFunction, where: NewFunctionPlacement) -> str:
    """Return its own name with a leading underscore; empty if that is taken or says too little outside."""
    stem, text = inner.node.name.strip("_"), scene.source.text
    within = "".join(scene.source.lines[scene.function.node.lineno - 1 : scene.function.node.end_lineno])
    vague = set(split_identifier(stem)) <= VAGUE_FUNCTION_WORDS
    name = f"_{stem}"
    word = re.compile(rf"\b{re.escape(name)}\b")
    alone = name == inner.node.name and len(word.findall(text)) == len(word.findall(within))
    free = alone or (name not in collect_words(text) and _is_free(scene, where, name))
    return name if free and not vague and len(stem) >= MIN_NAME_CHARACTERS else ""


def _is_free(scene: RewriteTarget, where: NewFunctionPlacement, name: str) -> bool:
    owner = scene.function.owner if where.bound else None
    return owner is None or scene.project.is_free_method(scene.source, owner, name)


def _rewrite_calls(scene: RewriteTarget, inner: NestedFunction, name: str, arguments: list[str]) -> dict[int, list[str]]:
    """Return the lines that call it, with the new name and the extra arguments."""
    calls = {id(node.func): node for node in ast.walk(scene.function.node) if isinstance(node, ast.Call)}
    lines: dict[int, list[str]] = {}
    for mention in sorted(inner.mentions, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        at = mention.lineno
        line, *more = lines.get(at, [scene.source.line(at).rstrip("\r\n")])
        raw = line.encode()
        before, rest = raw[: mention.col_offset].decode(), raw[mention.end_col_offset :].decode()
        call = calls.get(id(mention))
        if call is not None and arguments and rest.strip() == "(" and (call.args or call.keywords):
            more = [f"{read_indent(scene.source, at + 1)}{', '.join(arguments)},", *more]
        elif call is not None and arguments:
            rest = rest.replace("(", f"({', '.join(arguments)}{', ' if call.args or call.keywords else ''}", 1)
        lines[at] = [before + name + rest.rstrip(), *more]
    return lines


def _render_definition(
    scene: RewriteTarget, inner: NestedFunction, lines: dict[int, list[str]], where: NewFunctionPlacement, named: list[str]
) -> list[str] | None:
    node, source, old = inner.node, scene.source, read_indent(scene.source, inner.node.lineno)
    made = [[line] for line in reindent_lines(source, inner.first, inner.last, old, where.indent)]
    for at in _docstring_lines(node):
        made[at - inner.first] = [where.indent + source.line(at).rstrip("\r\n").removeprefix(old)]
    for at, changed in lines.items():
        if inner.first <= at <= inner.last:
            made[at - inner.first] = [where.indent + line.removeprefix(old) for line in changed]
    head = node.lineno - inner.first
    opened = _render_head(scene, inner, made[head][0], made[head + 1][0], (where.indent, named))
    if opened is None or any(len(line) > source.layout.line_width for line in opened):
        return None
    made[head], made[head + 1] = opened[:-1], [opened[-1], *made[head + 1][1:]]
    text = [line for part in made for line in part]
    return [f"{where.indent}@classmethod", *text] if where.classmethod else text


def _docstring_lines(node: FunctionNode) -> range:
    """Return the lines that begin inside the docstring: unlike other strings it is reindented."""
    if ast.get_docstring(node) is None:
        return range(0)
    return range(node.body[0].lineno + 1, (node.body[0].end_lineno or 0) + 1)


def _render_head(
    scene: RewriteTarget, inner: NestedFunction, line: str, following: str, named: tuple[str, list[str]]
) -> list[str] | None:
    """Return the first lines of the `def`, with the new name and the extra parameters first."""
    indent, (name, *first) = named
    before, bracket, rest = line.partition("(")
    given, own = ", ".join(first), list_parameters(inner.node)
    opened = before.replace(inner.node.name, name) + bracket
    if not re.fullmatch(rf"\s*(async )?def {inner.node.name}", before):
        return None
    if rest.strip():
        return [*_wrap_head(scene, opened + given + (", " if given and own else "") + rest, indent), following]
    if given and following.count(",") > 1:
        return [opened, f"{indent}{detect_indent_step(scene.source)}{given}, {following.lstrip()}"]
    return [opened, *([f"{indent}{detect_indent_step(scene.source)}{given},"] if given else []), following]


def _wrap_head(scene: RewriteTarget, line: str, indent: str) -> list[str]:
    """Return a `def` line that is too long with its parameters on their own line."""
    match = re.fullmatch(r"(.*?\()(.*)(\)\s*(?:->[^()]*)?:.*)", line)
    if len(line) <= scene.source.layout.line_width or match is None:
        return [line]
    return [match[1], f"{indent}{detect_indent_step(scene.source)}{match[2]}", f"{indent}{match[3]}"]


def _splice_remaining_function(scene: RewriteTarget, inner: NestedFunction, lines: dict[int, list[str]]) -> LineSplice:
    """Return the splice that removes it from the enclosing function, with one empty line where there were two."""
    source, node = scene.source, scene.function.node
    first, last = find_first_line(node), node.end_lineno or node.lineno
    resumes = inner.last + 1
    blank_above = not source.line(inner.first - 1).strip() or inner.first - 1 <= node.lineno
    while blank_above and resumes <= last and not source.line(resumes).strip():
        resumes += 1
    kept = [*range(first, inner.first), *range(resumes, last + 1)]
    return LineSplice(first, last + 1, tuple(line for at in kept for line in lines.get(at, [source.line(at).rstrip("\r\n")])))


def _splice_definition(where: NewFunctionPlacement, made: list[str]) -> LineSplice:
    apart = [""] if where.indent else ["", ""]
    return LineSplice(where.line, where.line, tuple([*apart, *made] if where.after else [*made, *apart]))
