"""What a PASS does not show: the work holds the yardstick, reaches beyond itself, or could fail unnoticed.

Nothing here refuses: each finding is a note of the verdict, for whoever reads item.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from afresh.core.change import Change, find_added_lines
from afresh.core.recognise_test_files import get_file_name, is_code_file, is_protected_path
from afresh.core.verdict import NoteKind, VerdictNote
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace, read_text
from afresh.verification.court import (
    CourtChange,
    decode_text,
    is_judging,
    is_started,
    list_lost_examples,
    name_module,
    read_starting_texts,
)
from afresh.verification.definitions import (
    Definition,
    Sort,
    break_definitions,
    find_prose_lines,
    list_changed_definitions,
    read_definitions,
)
from afresh.verification.manifest_settings import is_manifest
from afresh.verification.regressions import pair_checks_with_baseline
from afresh.verification.test_units import CHECK, SyntaxTree, TestUnit, read_test_units
from afresh.verification.wrong_versions import (
    WrongVersion,
    find_function_lines,
    find_test_words,
    list_failing_assertions,
    list_wrong_lines,
)

MAX_JUDGING_FILES = 40
MAX_WRONG_VERSIONS = 20
MAX_NAMED_VERSIONS = 4
_CHECKING = re.compile(r"assert|check|verify|expect|ensure|should|must|same|equal|fail", re.IGNORECASE)
_NO_NAMES = frozenset({"assert", "True", "true", "False", "false", "None", "expect", "ok"})
_ASSERTION_LINE = re.compile(r"\bassert\w*\b|\bexpect\(|\bt\.(?:Error|Fatal)f?\(|^\s*(?:(?:///?|//!)\s*)?>>> ")
_OPERATORS = re.compile(r"__(?:eq|ne|bool|lt|le|gt|ge|instancecheck)__|eq|equals|valueOf")
_MISSING = re.compile(
    r"No module named|Cannot find (?:module|package)|not found|unresolved|could not (?:find|resolve)|ImportError"
)
_LOSSY = re.compile(
    r"\|\|\s*(?:true|:|exit 0|echo)|(?<!\|)\|(?!\|)|\bmake\b.*\s(?:-\w*[ki]\w*|--keep-going|--ignore-errors)\b"
    r"|;\s*(?:true|:|echo\b.*|exit 0)\s*$|(?<!&)&\s*$"
)


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A file of the product that the task has changed or added."""

    change: Change
    base: str
    now: str

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def changed(self) -> list[Definition]:
        return list_changed_definitions(self.path, self.base, self.now)

    @property
    def added_lines(self) -> dict[int, str]:
        """By their numbers, without comments and texts."""
        added = find_added_lines(self.change.patch) - find_prose_lines(self.path, self.now)
        return {at: line for at, line in enumerate(self.now.splitlines(), 1) if at in added}


@dataclass(frozen=True, slots=True)
class Work:
    """What the task has changed of the product, as far as it is text, beside what judges item."""

    context: ToolContext
    workspace: Workspace
    files: Sequence[WorkFile]
    changes: Sequence[Change]
    court: Mapping[str, CourtChange]
    opened: frozenset[str]
    """What the checks read at the base."""
    delivered: str
    started: str
    """Commands and scripts."""

    def judges(self, path: str) -> bool:
        commands = "\n".join(check.command for check in self.context.state.task.checks)
        return is_judging(path, commands) or is_started(path, self.started)

    def list_doubts(self) -> Iterator[VerdictNote]:
        """What only reading the change can tell."""
        work, checks = self.files, [check.command for check in self.context.state.task.checks]
        names = {
            NoteKind.OWN_YARDSTICK: [
                f"{part.name} of {file.path}" for file in work for part in file.changed if _OPERATORS.fullmatch(part.name)
            ],
            NoteKind.LOST_ASSERTIONS: [f"{line} in {file.path}" for file in work for line in _list_lost_assertions(file)],
            NoteKind.READS_COURT: [
                f"{path} in {file.path}" for file in work for path in self._list_data() if _names_newly(file, path)
            ],
            NoteKind.SHARED: self._list_shared(),
            NoteKind.STARTED: [file.path for file in work if self._is_started(file)],
            NoteKind.DELETED: self._list_deleted(),
            NoteKind.BUILT: self._list_built(),
            NoteKind.REPLACED: self._list_replaced(),
            NoteKind.IDLE_TESTS: [
                name for change in self.court.values() if change.is_restored for name in _list_idle_tests(change)
            ],
            NoteKind.LOST_EXITS: [f"`{command}`" for command in checks if _LOSSY.search(command)],
        }
        yield from (VerdictNote(kind, tuple(facts)) for kind, facts in names.items() if facts)

    def _search(self, snapshot: str, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        return self.workspace.search(snapshot, words) if words else ()

    def _list_data(self) -> list[str]:
        return [
            path for path in self.opened if not is_code_file(path) and self.judges(path) and not is_started(path, self.started)
        ]

    def _list_shared(self) -> list[str]:
        """Data that scripts of the checks read."""
        data = [
            file.path
            for file in self.files
            if not is_code_file(file.path)
            and file.path in self.opened
            and file.path not in self.court
            and not is_manifest(file.path)
        ]
        lines = self._search(self.delivered, [get_file_name(path) for path in data])
        return [
            path
            for path in data
            if any(get_file_name(path) in line and other != path and self.judges(other) for other, line in lines)
        ]

    def _is_started(self, file: WorkFile) -> bool:
        runs = file.path.endswith((".py", ".js", ".mjs", ".cjs", ".rb", ".pl")) and not is_protected_path(file.path)
        return runs and is_started(file.path, self.started)

    def _list_deleted(self) -> list[str]:
        moved = {name_module(change.path) for change in self.changes if change.kind == "added"}
        texts, gone = {file.now for file in self.files}, [change.path for change in self.changes if change.kind == "deleted"]
        gone = [path for path in gone if path in self.opened and is_code_file(path)]
        base = self.workspace.read_files(self.context.state.workspace.first_snapshot, gone)
        apart = [path for path in gone if not is_protected_path(path) and name_module(path) not in moved]
        return [path for path in apart if decode_text(base.get(path)) not in texts]

    def _list_built(self) -> list[str]:
        """Results that are in the tree: no text, or what a script writes."""
        texts = {file.path for file in self.files}
        return [
            change.path
            for change in self.changes
            if change.kind != "deleted"
            and change.path in self.opened
            and (
                (change.path not in texts and not change.patch)
                or re.search(rf"(?:>\s*|(?m:^)){re.escape(change.path)}(?=\s|:|$)", self.started)
            )
        ]

    def _list_replaced(self) -> list[str]:
        """New files that what judges loaded at the base, too: from elsewhere, unless the runs of then say that it was missing."""
        added = {change.path for change in self.changes if change.kind == "added"}
        paths = (*self.context.files.paths(), *(change.path for change in self.changes))
        old = {name_module(path) for path in paths if path not in added}
        new = [
            file for file in self.files if file.path in added and is_code_file(file.path) and name_module(file.path) not in old
        ]
        store, baseline = self.context.store, self.context.state.verification.baseline
        output = "\n".join(store.read(run.block) for run in baseline.runs) if new and baseline else ""
        missing = "\n".join(line for line in output.splitlines() if _MISSING.search(line))
        lines = self._search(self.context.state.workspace.first_snapshot, [name_module(file.path) for file in new])
        return [
            file.path
            for file in new
            if not re.search(rf"\b{re.escape(name_module(file.path))}\b", missing)
            and any(self.judges(path) and _loads(line, name_module(file.path)) for path, line in lines)
        ]

    def list_wrong_versions(self, tests: Sequence[str]) -> list[WrongVersion]:
        """The changed functions failing; then in turns a failing assertion, a changed line that does something else, and a
        line of a function that the tests name."""
        judging, broken = self._read_judging_texts(tests), self._break_changed()
        versions = [WrongVersion(NoteKind.UNMOVED, "", broken)] if broken else []
        names = find_test_words(judging, tests) or frozenset(re.findall(r"\w+", self.started))
        lines = [list_wrong_lines(file.path, file.now, file.added_lines.keys()) for file in self.files]
        named = [
            list_wrong_lines(path, text, find_function_lines(path, text, names) - added, branches=False)
            for path, text, added in self._list_named_files(judging)
        ]
        turns = zip_longest(
            list_failing_assertions(judging, tests), _take_turns(lines), islice(_take_turns(named), MAX_NAMED_VERSIONS)
        )
        return [*versions, *(version for turn in turns for version in turn if version)][:MAX_WRONG_VERSIONS]

    def list_related_tests(self, tests: Sequence[str]) -> list[str]:
        """Test files that may notice what these tests do not."""
        related = self.context.insight.tests_for([file.path for file in self.files], self.context.files)
        own = [test.partition("::")[0] for test in tests if "::" in test]
        return [*dict.fromkeys([*own, *related])][:MAX_JUDGING_FILES]

    def _read_judging_texts(self, tests: Sequence[str]) -> dict[str, str]:
        """Files with these tests, as far as their names say."""
        known = [path for path in {*self.opened, *self.court} if is_code_file(path) and self.judges(path)]
        named = {test.partition("::")[0] for test in tests}
        chosen = sorted(named.intersection(known) or known)[:MAX_JUDGING_FILES]
        return {path: text for path in chosen if (text := read_text(self.context.files, path)) is not None}

    def _list_named_files(self, judging: Mapping[str, str]) -> Iterator[tuple[str, str, frozenset[int]]]:
        """Code of the product that the files of the tests name, with the lines that were changed."""
        words = frozenset(re.findall(r"\w+", "\n".join(judging.values()) or self.started))
        changed = {file.path: file for file in self.files}
        others = (path for path in sorted(self.opened) if is_code_file(path) and not self.judges(path) and path not in changed)
        for path in [*changed, *others]:
            if name_module(path) in words and (text := read_text(self.context.files, path)) is not None:
                yield path, text, frozenset(changed[path].added_lines if path in changed else ())

    def _break_changed(self) -> Mapping[str, str]:
        """The changed files with each changed function failing, or all, where what they do when they are loaded was changed; with
        the values of before, since a test may turn green by these alone."""
        broken, fails = dict[str, str](), False
        for file in self.files:
            changed, base = file.changed, {was.name for was in read_definitions(file.path, file.base) if was.sort is Sort.VALUE}
            loads = any(item.sort is Sort.STATEMENT for item in changed)
            functions = read_definitions(file.path, file.now) if loads else changed
            chosen = [item for item in functions if item.sort is Sort.FUNCTION]
            fails |= bool(chosen)
            chosen += [item for item in changed if item.sort is Sort.VALUE and item.name in base]
            text = break_definitions(file.path, file.base, file.now, chosen) if chosen else file.now
            if text != file.now:
                broken[file.path] = text
        return broken if fails else {}


def read_work(context: ToolContext, workspace: Workspace, court: Sequence[CourtChange], delivered: str) -> Work:
    first = context.state.workspace.first_snapshot
    judging = {change.path for change in court if change.is_restored}
    changes = [change for change in workspace.changes(first, delivered) if change.path not in judging]
    paths = [change.path for change in changes]
    base, now = workspace.read_files(first, paths), workspace.read_files(delivered, paths)
    texts = [(change, decode_text(base.get(change.path, b"")), decode_text(now.get(change.path))) for change in changes]
    files = [WorkFile(change, old, new) for change, old, new in texts if old is not None and new is not None]
    known = [check.files.opened for _, check in pair_checks_with_baseline(context) if check.files]
    opened = frozenset[str]().union(*known)
    started = read_starting_texts(context, workspace, first, opened or None)
    return Work(context, workspace, files, changes, {change.path: change for change in court}, opened, delivered, started)


def _take_turns(sources: Sequence[Iterator[WrongVersion]]) -> Iterator[WrongVersion]:
    return (version for turn in zip_longest(*sources) for version in turn if version)


def _loads(line: str, module: str) -> bool:
    name = re.escape(module)
    return bool(re.match(rf"\s*(?:from|import)\s+{name}\b|.*\b(?:require|import|from)\b\s*\(?['\"]{name}['\"]", line))


def _list_idle_tests(change: CourtChange) -> Iterator[str]:
    """New tests without an assertion, or with none but of constants, that call no helper of their file."""
    now, base = (read_test_units(change.path, text or "") or [] for text in (change.now_text, change.base_text))
    known, helpers = {unit.key for unit in _list_tests(base)}, frozenset(name for unit in now for name in unit.binds)
    new = [unit for unit in _list_tests(now) if unit.key not in known and helpers.isdisjoint({*unit.tree.words()} - unit.binds)]
    yield from (f"{change.path}::{unit.name}" for unit in new if not _asserts_something(unit.tree))


def _list_tests(units: Sequence[TestUnit]) -> Iterator[TestUnit]:
    for unit in units:
        yield from _list_tests(unit.members)
        if not unit.members and (unit.key[0] == "test" or unit.name.startswith("test") or unit.inline):
            yield unit


def _asserts_something(tree: SyntaxTree) -> bool:
    words = [*tree.words()]
    if tree.kind == CHECK or (tree.kind in ("Raise", "Call", "call_expression") and _CHECKING.search(" ".join(words))):
        return any(re.fullmatch(r"[A-Za-z_]\w*", word) and word not in _NO_NAMES for word in words)
    return any(map(_asserts_something, tree.parts))


def _list_lost_assertions(file: WorkFile) -> Iterator[str]:
    kept = [line[1:].strip() for line in file.change.patch.splitlines() if line.startswith("+")]
    for line in file.change.patch.splitlines():
        plain = line[1:].strip()
        if line.startswith("-") and not line.startswith("---") and _ASSERTION_LINE.search(plain) and plain not in kept:
            yield f"`{plain.removeprefix('/// ').removeprefix('//! ')[:60]}`"
    if not file.path.endswith(".py"):
        yield from (f"`{lost.splitlines()[0][:60]}`" for lost in list_lost_examples(file.base, file.now))


def _names_newly(file: WorkFile, path: str) -> bool:
    if not is_code_file(file.path):
        return False
    name, folder = get_file_name(path), get_file_name(path.rpartition("/")[0])
    words = [name, *([folder] if is_protected_path(path) or folder else [])]
    return any(
        re.search(rf"['\"`/]{re.escape(word)}['\"`/]", line) and not re.search(rf"['\"`/]{re.escape(word)}['\"`/]", file.base)
        for word in words
        if word
        for line in file.added_lines.values()
    )
