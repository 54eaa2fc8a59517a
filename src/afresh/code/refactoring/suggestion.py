"""The result of every kind of change, and the checks that all of them must pass before they are offered."""

import builtins
import json
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.project_facts import ProjectFacts
from afresh.core.archived_block import block_id_from_text


@dataclass(frozen=True, slots=True)
class LineSplice:
    """Lines `start` up to but not including `stop` (counted from 1) become `lines`."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextEdit:
    old: str
    new: str


def apply_splices(source: PythonSource, splices: list[LineSplice]) -> str:
    return "".join(_render_splices(source, 1, len(source.lines) + 1, splices))


def edits_from_splices(source: PythonSource, splices: list[LineSplice]) -> tuple[TextEdit, ...]:
    """Return one edit per splice if each can be located uniquely, otherwise one edit for all."""
    result = apply_splices(source, splices)
    apart = tuple(_make_unique_edit(source, [splice]) for splice in sorted(splices, key=lambda splice: splice.start))
    if apply_edits(source.text, apart) == result:
        return apart
    return (_make_unique_edit(source, splices),)


def apply_edits(text: str, changes: tuple[TextEdit, ...]) -> str | None:
    for change in changes:
        if text.count(change.old) != 1:
            return None
        text = text.replace(change.old, change.new)
    return text


def edits_to_json(path: str, changes: tuple[TextEdit, ...]) -> str:
    return json.dumps([{"path": path, "old": change.old, "new": change.new} for change in changes], ensure_ascii=False)


def _make_unique_edit(source: PythonSource, splices: list[LineSplice]) -> TextEdit:
    start, stop = min(splice.start for splice in splices), max(splice.stop for splice in splices)
    end = len(source.lines) + 1
    downward = True
    while start >= stop or not _is_unique_span(source, start, stop):
        if (downward and stop < end) or start == 1:
            stop += 1
        else:
            start -= 1
        downward = not downward or start == 1
    return TextEdit("".join(source.lines[start - 1 : stop - 1]), "".join(_render_splices(source, start, stop, splices)))


def _is_unique_span(source: PythonSource, start: int, stop: int) -> bool:
    """Whether the lines are found at exactly this place. Counting matches is not enough: repetitive text may match a line too
    early.
    """
    old, offset = "".join(source.lines[start - 1 : stop - 1]), len("".join(source.lines[: start - 1]))
    return source.text.find(old) == offset == source.text.rfind(old)


def _render_splices(source: PythonSource, start: int, stop: int, splices: list[LineSplice]) -> list[str]:
    parts: list[str] = []
    at = start
    for splice in sorted(splices, key=lambda splice: splice.start):
        parts.extend(source.lines[at - 1 : splice.start - 1])
        if splice.start > 1 and not source.lines[splice.start - 2].endswith(("\n", "\r")):
            parts.append(source.newline)
        ends = splice.stop > len(source.lines) and not source.lines[-1].endswith(("\n", "\r"))
        parts.append(source.newline.join(splice.lines) + ("" if ends else source.newline))
        at = splice.stop
    parts.extend(source.lines[at - 1 : stop - 1])
    return parts


BUILTIN_NAMES = frozenset(dir(builtins))
MODULE_ATTRIBUTES = {
    "__file__", "__name__", "__doc__", "__spec__", "__loader__", "__package__", "__builtins__", "__annotations__", "__path__",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Suggestion:
    id: str
    text: str
    """One line that says what it does, then its edits as JSON."""
    path: str
    function: str
    lines: tuple[int, int]
    before: int
    after: int
    kind: str = "extract"
    score: float = 0.0
    """Distance from what a reviewer would write, including what is left undone; lower is better, comparable between kinds."""

    def overlap(self, other: "Suggestion") -> float:
        """Return the share of lines that both have in common."""
        common = min(self.lines[1], other.lines[1]) - max(self.lines[0], other.lines[0]) + 1
        return max(0, common) / (max(self.lines[1], other.lines[1]) - min(self.lines[0], other.lines[0]) + 1)

    def applied(self, text: str) -> str:
        """Return the text after the suggestion's edits."""
        changes = tuple(TextEdit(one["old"], one["new"]) for one in json.loads(self.text.partition("\n")[2]))
        return apply_edits(text, changes) or text

    @property
    def head(self) -> str:
        return self.text.partition("\n")[0]


class Suggester(Protocol):
    """One kind of change. Yields checked suggestions by score, the lowest first."""

    def __call__(self, source: PythonSource, function: PythonFunction, project: ProjectFacts) -> Iterator[Suggestion]: ...


@dataclass(frozen=True, slots=True)
class ProposedRewrite:
    """A complete change that is not yet checked."""

    kind: str
    head: str
    """What becomes what, without line numbers and complexity: the id must not change when lines above do."""
    splices: tuple[LineSplice, ...]
    lines: tuple[int, int]
    """The lines of the function that it changes."""
    score: float
    new: tuple[str, ...] = ()
    """Qualified names of the functions that it adds."""


def check_rewrite(source: PythonSource, function: PythonFunction, change: ProposedRewrite) -> Suggestion | None:
    """Apply the change in memory and compile it; None unless all its names are known and the function got simpler."""
    splices = list(change.splices)
    result = parse_python(source.path, apply_splices(source, splices), source.layout)
    if result is None or not _compiles(result) or find_undefined_names(result) - find_undefined_names(source) - BUILTIN_NAMES:
        return None
    measured = {one.name: one.complexity for one in result.functions}
    again = find_counterpart(source, function, result)
    if again is None or again.complexity >= function.complexity:
        return None
    after = again.complexity
    new = [measured.get(name) for name in change.new]
    if any(one is None or (one > MAX_COMPLEXITY and one > function.complexity - 3) for one in new):
        return None
    head = f"{change.head}: complexity {function.complexity} -> {after}"
    text = f"{head}\n{edits_to_json(source.path, edits_from_splices(source, splices))}"
    name, before = function.name, function.complexity
    return Suggestion(
        block_id_from_text(text)[:12], text, source.path, name, change.lines, before, after, change.kind, change.score
    )


def find_counterpart(source: PythonSource, function: PythonFunction, result: PythonSource) -> PythonFunction | None:
    """Return the same function after a change. Overloads and property setters share a name, so its position is used."""
    turn = [one for one in source.functions if one.name == function.name].index(function)
    return next(iter([one for one in result.functions if one.name == function.name][turn:]), None)


def score_remaining_complexity(*complexities: int) -> float:
    """Return the part of a score that all kinds share: complexity left in the function and in those made from it."""
    return sum(40.0 + 4 * (one - MAX_COMPLEXITY) for one in complexities if one > MAX_COMPLEXITY) + 0.4 * max(complexities)


def _compiles(source: PythonSource) -> bool:
    """Whether the file compiles. Parsing alone accepts a `return` outside a function or a name declared twice."""
    try:
        compile(source.text, source.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=256)
def find_undefined_names(source: PythonSource) -> frozenset[str]:
    """Return the names that the file reads as globals and does not define itself, including builtins."""
    top = symtable.symtable(source.text, source.path, "exec")
    defined = {
        symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    } | MODULE_ATTRIBUTES
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        found.update(s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table is top))
        pending.extend(table.get_children())
    return frozenset(found - defined)
