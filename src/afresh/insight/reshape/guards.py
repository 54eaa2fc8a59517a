"""The short case first, then the rest without indentation. No decision goes away by it, but what was wrapped can be taken out."""

import ast
from collections.abc import Iterator

from afresh.insight.reshape.blocks import Place
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.suggestion import Change
from afresh.insight.reshape.text import conditional, header_end, lines_of, moved, opposite, plain, step

JUMPS = ast.Return | ast.Raise | ast.Continue | ast.Break
LONG = 4
SHORT = 3
BRANCHES = 4


def guards(scene: Scene) -> Iterator[Change]:
    for place, number, statement in scene.pairs():
        if isinstance(statement, ast.If):
            last = number == len(place.statements) - 1
            found = (_guard(scene, place, statement, last), _turned(scene, statement), _flattened(scene, statement))
            yield from filter(None, (*found, _opened(scene, statement)))


def _guard(scene: Scene, place: Place, node: ast.If, last: bool) -> Change | None:
    """The rest of a function or of a loop's body stands under one condition."""
    leave = "return" if place.ends_function else "continue" if place.ends_loop else ""
    where, body = lines_of(scene.source, node), node.body
    if not leave or not last or node.orelse or where is None or where.word or _length(body) < LONG:
        return None
    head = _unless(scene, node, where.indent)
    if head is None:
        return None
    lines = [*head, f"{where.indent}{step(scene.source)}{leave}", *_dedented(scene, node, body, where.indent)]
    return _change("guard clause", f"leave early: `{head[0].strip()}` {leave}", where.first, where.last, lines)


def _turned(scene: Scene, node: ast.If) -> Change | None:
    """A long case first and a short one that leaves in `else`."""
    where, other = lines_of(scene.source, node), node.orelse
    if where is None or where.word or not other or not isinstance(other[-1], JUMPS) or isinstance(other[0], ast.If):
        return None
    end = node.body[-1].end_lineno or 0
    keyword = end + 1
    if _length(other) > SHORT or _length(node.body) < LONG or scene.source.line(keyword).strip() != "else:":
        return None
    head = _unless(scene, node, where.indent)
    if head is None or other[0].lineno != keyword + 1:
        return None
    short = [scene.source.line(line).rstrip("\r\n") for line in range(keyword + 1, where.last + 1)]
    lines = [*head, *short, *_dedented(scene, node, node.body, where.indent)]
    return _change("guard clause", f"the short case first: `{head[0].strip()}`", where.first, where.last, lines)


def _flattened(scene: Scene, node: ast.If) -> Change | None:
    """`else` behind a branch that has left."""
    where, other = lines_of(scene.source, node), node.orelse
    if where is None or not other or not isinstance(node.body[-1], JUMPS) or where.word:
        return None
    keyword = (node.body[-1].end_lineno or 0) + 1
    text = scene.source.line(keyword)
    first = range(node.lineno, keyword)
    kept = [scene.source.line(line).rstrip("\r\n") for line in first]
    if text.startswith(where.indent + "elif"):
        rest = [where.indent + text[len(where.indent) + 2 :].rstrip("\r\n")]
        rest += [scene.source.line(line).rstrip("\r\n") for line in range(keyword + 1, where.last + 1)]
    elif text.strip() == "else:":
        old = scene.source.line(other[0].lineno)
        rest = moved(scene.source, keyword + 1, where.last, old[: len(old) - len(old.lstrip())], where.indent)
    else:
        return None
    return _change("early return", f"no `else` after `{_leaving(node.body[-1])}`", where.first, where.last, [*kept, *rest])


def _opened(scene: Scene, node: ast.If) -> Change | None:
    """The later half of a long row of cases under one `else`, where it can be taken out."""
    chain = [node]
    while len(chain[-1].orelse) == 1 and isinstance(following := chain[-1].orelse[0], ast.If):
        chain.append(following)
    where, middle = lines_of(scene.source, node), chain[len(chain) // 2]
    half = lines_of(scene.source, middle)
    if len(chain) < 2 * BRANCHES or where is None or where.word or half is None or half.word != "elif":
        return None
    inner = half.indent + step(scene.source)
    rest = moved(scene.source, half.first, where.last, half.indent, inner)
    rest[0] = inner + rest[0].lstrip()[2:]
    lines = [f"{half.indent}else:", *rest]
    return _change("split cases", f"the cases from `{rest[0].strip()[:50]}` on apart", half.first, where.last, lines)


def _unless(scene: Scene, node: ast.If, indent: str) -> list[str] | None:
    text = opposite(scene.source, node.test)
    if text is None or not plain(scene.source, node.lineno, header_end(node)):
        return None
    return conditional(indent, "if", [text], "and", scene.source)


def _dedented(scene: Scene, node: ast.If, body: list[ast.stmt], indent: str) -> list[str]:
    old = scene.source.line(body[0].lineno)
    return moved(scene.source, header_end(node) + 1, body[-1].end_lineno or 0, old[: len(old) - len(old.lstrip())], indent)


def _leaving(node: ast.stmt) -> str:
    return type(node).__name__.lower()


def _length(body: list[ast.stmt]) -> int:
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def _change(kind: str, head: str, first: int, last: int, lines: list[str]) -> Change:
    return Change(kind, head, (Splice(first, last + 1, tuple(lines)),), (first, last), 1.0)
