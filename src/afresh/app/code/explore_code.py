"""Finds symbols in the user's checkout, with their callers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.app.project import Project
from afresh.code import entry_points, symbol_search
from afresh.code.caches import LazyMapping
from afresh.code.coverage_file import read_coverage
from afresh.code.graph import calls
from afresh.code.index.code_index import CodeIndex, refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.code.languages.registry import list_missing_grammars
from afresh.code.ranking.commit_history import churn_from_history
from afresh.code.ranking.query import RankingQuery
from afresh.code.ranking.rank_files import RankedMapFile, render_map_files, select_map_files
from afresh.code.search_hit import EntryPoint, MatchQuality, SymbolMatches, SymbolUses
from afresh.core.commit import CommitHistory
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.core.text import format_count
from afresh.core.tokens import EstimatingCounter
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput, NotPossible
from afresh.ports.code import CodeIndexStore
from afresh.storage.sqlite.code_index import SqliteCodeIndex
from afresh.workspace.checkout_files import CheckoutFiles
from afresh.workspace.commit_history import read_commit_history
from afresh.workspace.repository import locate_repository
from afresh.workspace.worktree_location import identify_checkout

CHECKOUT_TREE_NAME = "checkout"
INDEX_FILE_NAME = "code.db"
"""Name of the user's own tree in the index store."""


@dataclass(frozen=True, slots=True)
class IndexedCheckout:
    """A checkout of the user, and where its index is stored."""

    root: Path

    @property
    def cache(self) -> Path:
        """A folder in the user's data folder, so that reading a repository changes nothing in it."""
        from platformdirs import user_data_path

        return user_data_path("afresh") / "code" / identify_checkout(self.root)

    @property
    def index(self) -> Path:
        """The index that tasks have filled, if there is one."""
        return self.root / ".afresh" / "state" / INDEX_FILE_NAME

    @property
    def files(self) -> CheckoutFiles:
        return CheckoutFiles(self.root)


def find_indexed_checkout(where: Project | Path) -> IndexedCheckout:
    """Return the checkout of a project or of the repository around a folder. Raises BadInput outside of a repository."""
    return IndexedCheckout(where.paths.root if isinstance(where, Project) else locate_repository(where.resolve()).root)


def open_checkout_code(where: Project | Path) -> CodeIndex:
    """Index the code as it is on disk. History and coverage are read only when needed."""
    home = find_indexed_checkout(where)
    return refresh_code_index(
        home.files,
        CHECKOUT_TREE_NAME,
        open_checkout_store(home),
        LazyMapping(lambda: churn_from_history(_read_checkout_history(home))),
        LazyMapping(lambda: read_coverage(home.root)),
    )


def _read_checkout_history(home: IndexedCheckout) -> CommitHistory:
    repository = locate_repository(home.root)
    return read_commit_history(repository.git, repository.head, home.cache)


def open_checkout_store(home: IndexedCheckout) -> CodeIndexStore:
    """Read what tasks have indexed, and add to it in memory; without such an index use one in the user's data folder."""
    if home.index.is_file():
        return SqliteCodeIndex(home.index, is_kept=lambda: False)
    try:
        home.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return MemoryCodeStore()
    return SqliteCodeIndex(home.cache / INDEX_FILE_NAME)


@dataclass(frozen=True, slots=True)
class CodeMap:
    about: str
    """The text that the map was made for; empty for a map of all code."""
    files: tuple[RankedMapFile, ...]
    text: str
    """As a prompt would contain it."""
    tokens: int
    cap: int
    known: int
    """Number of code files in the repository."""
    commits: int
    """Number of commits that were searched."""
    unindexed: tuple[str, ...] = ()
    """Files of the map or of the text whose symbols are not known, with the reason."""


def build_code_map(where: Path, about: str, cap: int) -> CodeMap:
    """Build a map without changing the repository."""
    repository, home, counter = locate_repository(where.resolve()), find_indexed_checkout(where), EstimatingCounter()
    code = open_checkout_code(where)
    if not code.files:
        raise BadInput(
            "no source files in a supported language found here",
            next="supported: Python, TypeScript, JavaScript, Go, Rust, Java and C#",
        )
    past = read_commit_history(repository.git, repository.head, home.cache)
    files = tuple(select_map_files(code, RankingQuery(about, (), past), cap, counter))
    text = render_map_files(files)
    faults = {shown.ranked.path: code.faults[shown.ranked.path] for shown in files if shown.ranked.path in code.faults}
    others = (word for word in about.split() if word not in code.files and (home.root / word).is_file())
    faults |= dict.fromkeys(others, "it is no source file in a supported language")
    unindexed = tuple(f"{to_one_line(path)} is not indexed: {fault}" for path, fault in faults.items())
    return CodeMap(about, files, text, counter(text) if text else 0, cap, len(code.files), len(past.commits), unindexed)


MAX_CHOICES = 12


@dataclass(frozen=True, slots=True)
class SymbolUsers:
    """A symbol with its callers and overrides."""

    place: SymbolPlace
    callers: SymbolUses
    tests: frozenset[str]
    """Callers' files that are tests."""
    above: Sequence[SymbolPlace]
    below: Sequence[SymbolPlace]
    """Subclasses, or for a method its overrides."""
    others: Sequence[SymbolPlace] = ()
    """Symbols of the same name in tests."""


def find_existing_symbols(
    code: CodeIndex, asked: str, kinds: Sequence[SymbolKind] = (), most: int = symbol_search.MAX_FOUND_SYMBOLS
) -> SymbolMatches:
    if not asked.strip(" .:"):
        raise BadInput("the name is missing", next="give a name: afresh code find parse")
    found = symbol_search.find_symbols(code, asked, kinds, most)
    if not found.places:
        raise NotPossible(f"no symbol is called {asked!r} or similar", next=advise_symbol_search(code, kinds))
    return found


def advise_symbol_search(code: CodeIndex, kinds: Sequence[SymbolKind]) -> str:
    if kinds:
        return "leave out the kind to search all symbols"
    broken = [path for path in code.files if code.reading(path).fault]
    first = f"{broken[0]}: {code.reading(broken[0]).fault}" if broken else ""
    unread = f"; {format_count(len(broken), 'file')} could not be indexed, first {first}" if broken else ""
    missing = describe_missing_grammars(code.files)
    return f"searched {format_count(len(code.files), 'file')}{unread}{'; ' if missing else ''}{missing}"


def describe_missing_grammars(paths: Collection[str]) -> str:
    """Name the languages of these files that can't be read here, and what to install; empty if all can."""
    missing = list_missing_grammars(paths)
    if not missing:
        return ""
    packages = ", ".join(missing.values())
    return f"{', '.join(missing)} can't be read, since {packages} can't be imported: install afresh again, with its dependencies"


def find_symbol_users(code: CodeIndex, asked: str) -> SymbolUsers | SymbolMatches:
    """Return the users of a symbol, or the candidates if the name is ambiguous or unknown."""
    found = find_existing_symbols(code, asked, most=MAX_CHOICES)
    spare = [place for place in found.places if code.is_test(place.path)]
    meant = [place for place in found.places if place not in spare] or spare
    if found.match not in (MatchQuality.EXACT, MatchQuality.SPELLING) or len(meant) != 1 or found.more:
        return found
    place = meant[0]
    answer = calls.find_callers(code, place)
    return SymbolUsers(
        place,
        answer,
        frozenset(path for path in {call.path for call in answer} if code.is_test(path)),
        calls.find_base_classes(code, place),
        calls.find_subclasses(code, place) or calls.find_overrides(code, place),
        [other for other in spare if other != place],
    )


def list_checkout_entry_points(code: CodeIndex) -> Sequence[EntryPoint]:
    return entry_points.list_entry_points(code)
