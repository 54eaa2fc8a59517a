"""What a prompt may show: values that stay typed until a section is rendered. They are archived with the call, so that the call
can be built again."""

from collections.abc import Container, Iterable
from typing import ClassVar

from afresh.core.change import Change
from afresh.core.fast_dataclass import dataclass
from afresh.core.line_region import Region
from afresh.core.text import number_line

LEFT_OUT_MARK = "…"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file as it is now."""

    number: int
    text: str
    changed: bool = False
    """Whether this task has changed it."""

    def __str__(self) -> str:
        return number_line(self.number, self.text, self.changed)

    @property
    def last(self) -> int:
        return self.number


@dataclass(frozen=True, slots=True)
class LineGap:
    """Lines of a file that are left out, with the names that they define; `LEFT_OUT_MARK` as the last name: there are more."""

    number: int
    last: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"     {LEFT_OUT_MARK} {self.number}-{self.last} {', '.join(self.names)}".rstrip()


ShownLine = SourceLine | LineGap | str
"""A line of a section; what has no number is text."""


def render_lines(lines: Iterable[ShownLine]) -> str:
    return "\n".join(map(str, lines))


def collect_line_numbers(lines: Iterable[ShownLine]) -> frozenset[int]:
    return frozenset([line.number for line in lines if isinstance(line, SourceLine)])


@dataclass(frozen=True, slots=True)
class StepLine:
    """What an earlier step did and how it ended, with the ids of outputs that are worth a recall."""

    step: int
    outcome: str
    ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"- step {self.step}: {self.describe()}"

    def describe(self, shown: Container[str] = ()) -> str:
        """Without the ids that are shown elsewhere."""
        left = [one for one in self.ids if one not in shown]
        return f"{self.outcome} [{' '.join(left)}]" if left else self.outcome


ItemKey = tuple[str, frozenset[int]]
"""What an item shows: a path, or what it is about, and the numbers of the lines."""
WITHOUT_LINES = frozenset[int]()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of one file, with those above that name the definition which they are inside of."""

    kind: str
    path: str
    first: int
    last: int
    names: tuple[str, ...] = ()
    """What the lines define, or why they are shown; `LEFT_OUT_MARK` as the last name: there are more."""
    lines: tuple[SourceLine, ...] = ()
    gaps: tuple[LineGap, ...] = ()
    basis: str = ""
    """How unrequested code was found: `named`, `words`, …"""

    @property
    def title(self) -> str:
        return ", ".join(self.names)

    @property
    def subject(self) -> str:
        return f"{self.path}:{self.first}-{self.last} {self.title}"

    @property
    def body(self) -> tuple[SourceLine | LineGap, ...]:
        return tuple(sorted((*self.lines, *self.gaps), key=lambda line: line.number)) if self.gaps else self.lines

    @property
    def region(self) -> Region:
        return Region(self.path, self.first, self.last, 0)

    @property
    def stub(self) -> LineGap:
        """What is shown in its place."""
        return LineGap(self.first, self.last, self.names)

    @property
    def code(self) -> str:
        """As it is in the file."""
        return "\n".join(line.text for line in self.lines)

    @property
    def changed(self) -> bool:
        return any(line.changed for line in self.lines)

    @property
    def key(self) -> ItemKey:
        return self.path, collect_line_numbers(self.lines)

    @property
    def source(self) -> str:
        """The action that shows the rest."""
        return f"`read` {self.path}"


@dataclass(frozen=True, slots=True)
class Diff:
    """The change of one file."""

    source: ClassVar[str] = ""
    kind: str
    path: str
    added: int
    removed: int
    patch: str = ""
    note: str = ""
    """What is shown instead of changed lines: binary, empty, mode."""
    change: str = ""
    """added, modified or deleted, and by which commits, where that is under review."""
    commits: str = ""

    @property
    def subject(self) -> str:
        size = self.note or f"+{self.added} −{self.removed}"
        return f"{self.path} ({', '.join(part for part in (self.change, size, self.commits) if part)})"

    @property
    def key(self) -> ItemKey:
        return f"{self.kind} {self.path}", WITHOUT_LINES


def diff_from_change(change: Change) -> Diff:
    """How much the task changed of a file. Without changed lines it says why there are none."""
    without = "binary" if not change.patch else "mode" if change.kind == "modified" else "empty"
    note = "" if change.added or change.removed else without
    return Diff("change", change.path, change.added, change.removed, note=note)


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A file in the repository map. Without a path it is a line about many files."""

    path: str = ""
    length: int = 0
    """Number of lines."""
    why: str = ""
    symbols: tuple[str, ...] = ()

    def __str__(self) -> str:
        symbols = ", ".join(self.symbols)
        if not self.path:
            return symbols
        return f"{self.path} ({self.length} lines{'; ' * bool(self.why)}{self.why}): {symbols}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class RepoMap:
    kind: ClassVar[str] = "outline"
    subject: ClassVar[str] = ""
    source: ClassVar[str] = "`read` a folder"
    entries: tuple[MapEntry, ...]

    @property
    def key(self) -> ItemKey:
        return self.kind, WITHOUT_LINES


@dataclass(frozen=True, slots=True)
class Note:
    """An item that is plain text."""

    kind: str
    subject: str
    text: str

    @property
    def key(self) -> ItemKey:
        return f"{self.kind} {self.subject}", WITHOUT_LINES

    @property
    def source(self) -> str:
        return f"`read` @{self.subject[:8]}" if self.kind == "output" else ""


Item = Excerpt | Diff | RepoMap | Note
ITEM_CLASS_BY_FORM: dict[str, type[Item]] = {
    "excerpt": Excerpt,
    "diff": Diff,
    "map": RepoMap,
    "note": Note,
}
"""Tags on disk: how the block of an archived item is to be read."""
FORM_BY_ITEM_CLASS = {kind: form for form, kind in ITEM_CLASS_BY_FORM.items()}
