"""What a PASS does not show: the work holds the yardstick, reaches beyond itself, or could fail unnoticed.

Nothing here refuses: each finding is a note of the verdict, for whoever reads it.
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
from afresh.verification.manifest_settings import is_manifest
from afresh.verification.regressions import pair_checks_with_baseline
from afresh.verification.wrong_versions import (
    WrongVersion,
    fail_functions,
    find_test_words,
    list_failing_assertions,
    list_other_values,
    list_wrong_data,
    list_wrong_lines,
    split_words,
)

MAX_JUDGING_FILES = 40
MAX_WRONG_VERSIONS = 16
MAX_NAMED_VERSIONS = 4
_OPERATOR = re.compile(
    r"^\+[ \t]*(?:def |static )?(__(?:eq|ne|bool|lt|le|gt|ge|instancecheck)__|equals|valueOf|eq)\(", re.MULTILINE
)
_ASSERTION_LINE = re.compile(r"\bassert\w*\b|\bexpect\(|\bt\.(?:Error|Fatal)f?\(|^\s*(?:(?:///?|//!)\s*)?>>> ")
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
    def added(self) -> frozenset[int]:
        """Numbers of lines."""
        return find_added_lines(self.change.patch)


@dataclass(frozen=True, slots=True)
class Work:
    """What the task has changed of the product, as far as it is text, beside what judges it."""

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
                f"{found[1]} of {file.path}" for file in work for found in _OPERATOR.finditer(file.change.patch)
            ],
            NoteKind.LOST_ASSERTIONS: [f"{line} in {file.path}" for file in work for line in _list_lost_assertions(file)],
            NoteKind.SHARED: self._list_shared(),
            NoteKind.STARTED: [file.path for file in work if self._is_started(file)],
            NoteKind.DELETED: self._list_deleted(),
            NoteKind.BUILT: self._list_built(),
            NoteKind.REPLACED: self._list_replaced(),
            NoteKind.LOST_EXITS: [f"`{command}`" for command in checks if _LOSSY.search(command)],
        }
        yield from (VerdictNote(kind, tuple(facts)) for kind, facts in names.items() if facts)

    def _search(self, snapshot: str, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        return self.workspace.search(snapshot, words) if words else ()

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
        """New files that a test which passed at the base loaded then, too: from elsewhere."""
        added = {change.path for change in self.changes if change.kind == "added"}
        paths = (*self.context.files.paths(), *(change.path for change in self.changes))
        old = {name_module(path) for path in paths if path not in added}
        new = {name_module(path): path for path in sorted(added) if is_code_file(path) and name_module(path) not in old}
        passed = {test.partition("::")[0] for _, check in pair_checks_with_baseline(self.context) for test in check.firm}
        lines = self._search(self.context.state.workspace.first_snapshot, list(new))
        return [new[name] for name in new if any(path in passed and _loads(line, name) for path, line in lines)]

    def list_wrong_versions(self, tests: Sequence[str]) -> list[WrongVersion]:
        """The changed functions failing; then in turns a failing assertion, a changed line that does something else, and a
        line of a function that the tests name."""
        judging = self._read_judging_texts(tests)
        failing = {file.path: fail_functions(file.path, file.now, file.added) for file in self.files}
        broken = {file.path: failing[file.path] for file in self.files if failing[file.path] != file.now}
        versions = [WrongVersion(NoteKind.UNMOVED, "", broken)] if broken else []
        texts = {
            path: read_text(self.context.files, path) for path in self.opened if not is_code_file(path) and self.judges(path)
        }
        started = split_words("\n".join([self.started, *judging.values()]))
        words = find_test_words(judging, tests) or {("", ""): started}
        lines = [list_wrong_lines(file.path, file.now, file.added) for file in self.files]
        named = [list_other_values(path, text, words) for path, text in self._list_named_files(started)]
        turns = zip_longest(
            list_failing_assertions(judging, tests),
            _take_turns(lines),
            islice(_take_turns(named), MAX_NAMED_VERSIONS),
            list_wrong_data(texts, words),
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

    def _list_named_files(self, words: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Code of the product that the files of the tests name."""
        changed = [file.path for file in self.files]
        for path in dict.fromkeys([*changed, *sorted(self.opened)]):
            code = is_code_file(path) and not self.judges(path) and name_module(path) in words
            if code and (text := read_text(self.context.files, path)) is not None:
                yield path, text


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


def _list_lost_assertions(file: WorkFile) -> Iterator[str]:
    kept = [line[1:].strip() for line in file.change.patch.splitlines() if line.startswith("+")]
    for line in file.change.patch.splitlines():
        plain = line[1:].strip()
        if line.startswith("-") and not line.startswith("---") and _ASSERTION_LINE.search(plain) and plain not in kept:
            yield f"`{plain.removeprefix('/// ').removeprefix('//! ')[:60]}`"
    if not file.path.endswith(".py"):
        yield from (f"`{lost.splitlines()[0][:60]}`" for lost in list_lost_examples(file.base, file.now))
