"""What a PASS does not show: the work holds the yardstick, reaches beyond itself, or could fail unnoticed.

Nothing here refuses: each finding is a note of the verdict, for whoever reads item.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from afresh.core.change import Change, find_added_lines
from afresh.core.recognise_test_files import get_file_name, is_code_file, is_protected_path
from afresh.core.verdict import NoteKind, VerdictNote
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
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

MAX_JUDGING_FILES = 40
_GENERAL_PARTS = frozenset({"src", "lib", "index", "mod", "main", "__init__", ""})
_LITERAL = r"(?:-?\d[\w.]*|[rbf]?['\"`][^'\"`\n]*['\"`]|True|False|None|null|nil|true|false|undefined)"
_ASSERTS = re.compile(r"\b(?:debug_)?assert|AssertionError|\bexpect\s*\(|\bt\s*\.\s*(?:Error|Fatal)|\blet _ =")
_CHECKING = re.compile(r"assert|check|verify|expect|ensure|should|must|same|equal|fail", re.IGNORECASE)
_NO_NAMES = frozenset({"assert", "True", "true", "False", "false", "None", "expect", "ok"})
_DECIDING = re.compile(
    r"(?:\b(?:assert|if|while|not|and|or)|\b(?:assert(?:True|False|_true|_false)?!?|expect|all|any|exit|ok|bool)\(|[!&|])[\s(!]*$"
)
"""Ends with what asks for a truth."""
_RAISES = re.compile(r"\b(?:raise|throw|exit|abort|panic!|return [1-9])")
_IMPORTING = re.compile(
    r"^[ \t]*(?:from\s+\S+\s+import\s*(?:\([^)]*\)|.*)|import\b\s*(?:type\s*)?(?:\{[^}]*\}\s*from\b.*|.*)|(?:pub )?use\b[^;]*;"
    r"|(?:const|let|var)\s*(?:\{[^}]*\}|\w+)\s*=\s*(?:await )?(?:require|import)\(.*|#\s*include\b.*|(?:\.|source)[ \t]+\S+[ \t]*"
    r"|(?:#(?!\s*define)|//|\*).*)$",
    re.MULTILINE,
)
"""Statements that only load, and lines of comments."""
_ASSERTION_LINE = re.compile(r"\bassert\w*\b|\bexpect\(|\bt\.(?:Error|Fatal)f?\(|^\s*(?:(?:///?|//!)\s*)?>>> ")
_OPERATORS = re.compile(r"__(?:eq|ne|bool|lt|le|gt|ge|instancecheck)__|eq|equals|valueOf")
_ENDS = re.compile(r"\b(?:sys\.exit|os\._exit|_exit|process\.exit|process::exit|os\.Exit|(?<![\w.])exit)(?:\(0?\)| 0\b)")
_HOOKS = re.compile(
    r"\bset [+-]o?\s*\w+|^\s*trap\b|\bprocess\.on\(|\bprocess\.exitCode\b|\b(?:atexit|faulthandler)\.\w+"
    r"|\bsys\.(?:settrace|setprofile|\w*hook)\b"
    r"|\bsignal\.signal\b|\bset_hook\b|\bgc\.get_\w+|\bctypes\b|\b__code__\b|\bf_(?:locals|globals|back)\b|\b_getframe\b|\bcurrentframe\b"
    r"|\binspect\.stack\b|/proc/self|\b__assert\w*|\bNDEBUG\b|\bglobals\(\)|\bsetattr\((?!self)|\bObject\.defineProperty\b|\.prototype\.\w+\s*="
)
_ASKS = re.compile(
    r"_?\bpytest\b|\bunittest\b|\bPYTEST_\w+|\bJEST_\w+|\bVITEST\w*|\bNODE_(?:TEST|ENV)\w*|\bAFRESH\w*|['\"]CI['\"]|\bcfg!?\((?:not\()?test\b"
    r"|\btesting\.Testing\b|\bCARGO_\w+|\bgethostname\b|\bgetuser\b|\bgetlogin\b|\bos\.hostname\b|\bgetppid\b"
)
_CLOCK = re.compile(
    r"\b(?:today|now|time|Date|utcnow|date)\b.*[<>]=?.*\b(?:19|20)\d\d\b|\b(?:19|20)\d\d\b.*[<>]=?.*\b(?:today|now|time|Date)\b"
)
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
    def added_lines(self) -> list[str]:
        """Without comments and texts."""
        added = find_added_lines(self.change.patch) - find_prose_lines(self.path, self.now)
        return [line for at, line in enumerate(self.now.splitlines(), 1) if at in added]


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
            NoteKind.OWN_YARDSTICK: sorted(set(self._list_yardsticks())),
            NoteKind.LOST_ASSERTIONS: [f"{line} in {file.path}" for file in work for line in _list_lost_assertions(file)],
            NoteKind.REACHES: [f"`{reach}` in {file.path}" for file in work for reach in dict.fromkeys(_list_reaches(file))],
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

    def _list_yardsticks(self) -> Iterator[str]:
        """Values, judging functions and lists of cases that what judges takes from what was changed."""
        names: dict[str, list[tuple[WorkFile, Definition]]] = {}
        for file in self.files:
            for definition in file.changed:
                if definition.name and _OPERATORS.fullmatch(definition.name):
                    yield f"{definition.name} of {file.path}"
                elif definition.name:
                    names.setdefault(definition.name, []).append((file, definition))
        lines = self._search(self.delivered, sorted(names))
        paths = sorted({path for path, _ in lines if self.judges(path)})[:MAX_JUDGING_FILES]
        for path, content in self.workspace.read_files(self.delivered, paths).items():
            text = _IMPORTING.sub("", whole := decode_text(content) or "")
            for name, owners in names.items():
                for file, definition in owners:
                    fits = file.path != path and (_knows(whole, file.path) or not is_code_file(path))
                    if fits and name in text and _is_yardstick(path, text, file, definition):
                        yield f"{name} of {file.path} in {path}"

    def break_changed(self) -> Mapping[str, str]:
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


def _knows(text: str, path: str) -> bool:
    """Whether the text has a part of the path as a word, where it has one that tells."""
    parts = {part.partition(".")[0] for part in path.split("/")} - _GENERAL_PARTS
    return not parts or any(re.search(rf"\b{re.escape(part)}\b", text) for part in parts)


def _is_yardstick(path: str, text: str, file: WorkFile, definition: Definition) -> bool:
    name = re.escape(definition.name)
    old = next((was.text for was in read_definitions(file.path, file.base) if was.name == definition.name), "")
    both = f"{definition.text} {old}"
    asserts = bool(_ASSERTS.search(both) or (_CHECKING.search(definition.name) and _RAISES.search(both)))
    if not is_code_file(path) or path.endswith((".sh", ".bash")):
        starts = rf"(?m)(?:^|[;&|]|(?<!\$)\(|\b(?:then|do|else|if|!))\s*{name}(?=\s|$|;)"
        return bool(re.search(starts, text)) and (not old or bool(_RAISES.search(both)))
    if re.search(rf"(?:\bfor\b[^\n]*\b(?:in|of)\s+|\b(?:parametrize|each)\(.*?)[\w.(]*(?<![\w'\"]){name}\b", text):
        return True
    if definition.sort is Sort.VALUE and re.search(r"\b(?:require|import) ?\(", definition.text):
        return False
    if definition.sort is Sort.VALUE:
        return any(
            not _is_judged_value(text, use) for use in re.finditer(rf"(?<![\w'\"-]){name}(?![\w'\"]|\s*(?::|=(?!=)))", text)
        )
    return any(_judges_by(text, call, asserts) for call in re.finditer(rf"(?<!\w){name}!?\(", text))


def _is_judged_value(text: str, use: re.Match[str]) -> bool:
    """Whether it is held against a literal: then it is what is judged."""
    before, after = text[: use.start()][-80:].rpartition("\n")[2], text[use.end() :][:80].partition("\n")[0]
    access = r"(?:\.\w+|\[[^\]]*\])*"
    return bool(
        re.match(rf"{access}\)?\s*(?:[=!]==?|is|,|\.to\w+\()\s*{_LITERAL}", after)
        or re.search(rf"{_LITERAL}\s*(?:[=!]==?|,|in)\s*[\w.]*$", before)
    )


def _judges_by(text: str, call: re.Match[str], asserts: bool) -> bool:
    """Whether an assertion or a condition rests on what the call says; or the call alone asserts."""
    end = _find_close(text, call.end() - 1)
    arguments, rest = text[call.end() : end], text[end + 1 : end + 60].lstrip(" \t")
    before = re.split(r"[\n;{}]", text[: call.start()])[-1]
    prefix = re.sub(r"[\w.]*$", "", before).strip()
    if prefix in ("", "await", "return await") and rest[:1] in ("", "\n", ";", "}"):
        return asserts
    decides = _DECIDING.search(prefix)
    compared = re.match(r"[)\s]*(?:[=!<>]=|[<>+\-*/%.\[]|is\b|in\b)", rest) and not re.match(
        r"\)*\.to(?:Be|Equal)\w*\((?:true)?\)", rest
    )
    return bool(decides) and not compared and "(" in arguments and not re.search(r"(?<![=!<>])=(?!=)|[=!<>]=", prefix)


def _find_close(text: str, at: int) -> int:
    depth = 0
    for place in range(at, min(len(text), at + 2_000)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place
    return min(len(text), at + 2_000)


def _list_lost_assertions(file: WorkFile) -> Iterator[str]:
    kept = [line[1:].strip() for line in file.change.patch.splitlines() if line.startswith("+")]
    for line in file.change.patch.splitlines():
        plain = line[1:].strip()
        if line.startswith("-") and not line.startswith("---") and _ASSERTION_LINE.search(plain) and plain not in kept:
            yield f"`{plain.removeprefix('/// ').removeprefix('//! ')[:60]}`"
    if not file.path.endswith(".py"):
        yield from (f"`{lost.splitlines()[0][:60]}`" for lost in list_lost_examples(file.base, file.now))


def _list_reaches(file: WorkFile) -> Iterator[str]:
    """What it does to others, and asks about who runs it, in lines that are new."""
    imports = " ".join(load[0] for load in _IMPORTING.finditer(file.now) if not re.match(r"\s*(?:#|//|\*)", load[0]))
    code = is_code_file(file.path) or not get_file_name(file.path).count(".")
    for line in file.added_lines if code else ():
        target = re.match(r"\s*([A-Za-z_]\w*)(?:\(\))?(?:\.\w+|\[[^\]]*\])+\s*=(?!=)", line)
        if (
            target
            and file.path.endswith((".py", ".js", ".cjs", ".mjs", ".ts"))
            and (re.search(rf"\b{target[1]}\b", imports) or target[1] in ("global", "globalThis"))
        ):
            yield line.strip()[:60]
        yield from (match[0].strip() for pattern in (_HOOKS, _ASKS, _ENDS) if (match := pattern.search(line)))
        if _CLOCK.search(line):
            yield line.strip()[:60]
    functions = [definition.name for definition in file.changed if definition.sort is Sort.FUNCTION]
    yield from (f"{name} = …" for name in functions if re.match(r"assert|__assert|test$|fail$", name))


def _names_newly(file: WorkFile, path: str) -> bool:
    if not is_code_file(file.path):
        return False
    name, folder = get_file_name(path), get_file_name(path.rpartition("/")[0])
    words = [name, *([folder] if is_protected_path(path) or folder else [])]
    return any(
        re.search(rf"['\"`/]{re.escape(word)}['\"`/]", line) and not re.search(rf"['\"`/]{re.escape(word)}['\"`/]", file.base)
        for word in words
        if word
        for line in file.added_lines
    )
