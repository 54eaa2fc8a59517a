"""Traits of a project, and statements about it: rounded so that small edits leave every word unchanged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from afresh.core.truncate import to_one_line


@dataclass(frozen=True, slots=True)
class ProjectLayout:
    name: str = ""
    about: str = ""
    languages: tuple[str, ...] = ()
    """As `Python 9/10`, the largest first."""
    main: str = ""
    files: str = ""
    roots: tuple[str, ...] = ()
    """Folders of the code that is shipped."""
    tests: tuple[str, ...] = ()
    mirrored: bool = False
    """Whether test folders are named like the folders of the code that they test."""
    beside: tuple[str, ...] = ()
    """Docs, scripts, examples and the like."""
    entries: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    """Shared test files such as conftest.py."""
    papers: tuple[str, ...] = ()
    """Changelog, rules for contributors, decisions."""
    unread: tuple[str, ...] = ()
    """Languages without a reader."""


@dataclass(frozen=True, slots=True)
class LibraryUse:
    central: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    testing: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    """Declared in a manifest; whether they are used is unknown."""


@dataclass(frozen=True, slots=True)
class CodeStyle:
    naming: tuple[str, ...] = ()
    documented: str = ""
    typed: str = ""
    written: tuple[str, ...] = ()
    """Quotes, indentation, line length."""
    imports: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    habits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeZones:
    layers: tuple[tuple[str, ...], ...] = ()
    """Earlier layers import later ones; zones of one layer do not import each other."""
    cycles: tuple[tuple[str, ...], ...] = ()
    hubs: tuple[str, ...] = ()
    """Zones that most others import."""
    more: str = ""


@dataclass(frozen=True, slots=True)
class ProjectConstraints:
    versions: tuple[str, ...] = ()
    linters: tuple[str, ...] = ()
    """Each with the rules that are set for it."""
    limits: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    test_configuration: str = ""
    """The file that configures the test runner."""


@dataclass(frozen=True, slots=True)
class ProjectTraits:
    layout: ProjectLayout = ProjectLayout()
    libraries: LibraryUse = LibraryUse()
    style: CodeStyle = CodeStyle()
    zones: CodeZones = CodeZones()
    constraints: ProjectConstraints = ProjectConstraints()
    testing: tuple[str, ...] = ()
    """How tests are written."""
    hot: tuple[str, ...] = ()
    """Files that change often and are complex."""
    public: tuple[str, ...] = ()
    """Files whose names others rely on: packages' `__init__` files, entry points, interface descriptions."""


ROUNDING_STEPS = (10, 15, 20, 30, 40, 60, 80, 100)


def round_to_words(number: int) -> str:
    """Return `about 300`: the nearest of 10, 15, 20, 30, 40, 60, 80, 100, 150, … by ratio. Up to three, the exact number."""
    if number <= 3:
        return str(number)
    return f"about {round_by_ratio(number):,}"


def count_to_words(number: int, noun: str) -> str:
    return f"{round_to_words(number)} {noun}{'' if number == 1 else 's'}"


def round_by_ratio(number: int) -> int:
    if number <= 3:
        return number
    scale = 10 ** (len(str(number)) - 1)
    values = [step * scale // 10 for step in ROUNDING_STEPS if step * scale % 10 == 0]
    return min(values, key=lambda value: abs(log2(value / number)))


def share_to_tenths(part: int, whole: int) -> int:
    return round(10 * part / whole) if whole else 0


def share_to_words(part: int, whole: int) -> str:
    """Return a share in words: nearly all, most, about half, some, few, none."""
    if not whole or not part:
        return "none"
    ratio = part / whole
    bounds = ((0.92, "nearly all"), (0.65, "most"), (0.4, "about half"), (0.12, "some"), (0.0, "few"))
    return next(word for bound, word in bounds if ratio >= bound)


def rank_by_magnitude(counts: Mapping[str, int]) -> list[str]:
    """Return names by powers of two of their count, the largest first, then by name, so that small changes keep the order."""
    return sorted(counts, key=lambda name: (-measure_magnitude(counts[name]), name))


def measure_magnitude(number: int) -> int:
    return number.bit_length()


def find_most_common(words: Iterable[str]) -> str:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return min(counts, key=lambda word: (-counts[word], word)) if counts else ""


def join_names(names: Sequence[str], room: int = 150) -> str:
    """Return as many of the names as fit into `room` characters, none of them cut."""
    kept = list[str]()
    for name in names:
        if sum(len(one) + 2 for one in kept) + len(name) > room:
            break
        kept.append(name)
    return ", ".join(kept)


MAX_PART_CHARACTERS = 240
"""Characters of one part: limits how much text of a repository's files gets into a prompt."""
CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ProfileStatement:
    """`name: part; part; part.` The most important part comes first."""

    name: str
    parts: tuple[str, ...]
    weight: int = 10
    """Importance of the first part, relative to other statements; each further part has one less."""

    @property
    def text(self) -> str:
        return f"{self.name}: {'; '.join(self.parts)}"


def make_statement(name: str, parts: Sequence[str], weight: int = 10) -> list[ProfileStatement]:
    """Return a list with the statement; empty when there are no parts."""
    said = tuple(to_one_line(part, MAX_PART_CHARACTERS) for part in parts if part.strip())
    return [ProfileStatement(name, said, weight)] if said else []


def fit_statements(statements: Sequence[ProfileStatement], cap: int, count: CountTokens) -> str:
    """Return as many statements as fit into `cap` tokens by the caller's own count; empty if not even one part fits."""
    kept = {(at, number) for at, one in enumerate(statements) for number in range(len(one.parts))}
    order = sorted(kept, key=lambda key: (statements[key[0]].weight - key[1], -key[0], -key[1]))
    text = render_statements(statements, kept)
    for key in order:
        if count(text) <= cap:
            return text
        kept.discard(key)
        text = render_statements(statements, kept)
    return ""


def render_statements(statements: Sequence[ProfileStatement], kept: set[tuple[int, int]]) -> str:
    lines = list[str]()
    for at, one in enumerate(statements):
        if parts := [part for number, part in enumerate(one.parts) if (at, number) in kept]:
            lines.append(f"{one.name}: {'; '.join(parts)}")
    return "\n".join(lines)
