"""The court: files of the base that the checks read and that are not the product. Which of them a task has changed.

The product is code, and data that code or settings of the product name. What else a check opens at the baseline judges: tests
and what lies beside them, what the command starts, settings, helpers that only tests use, data that nothing but tests names.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from afresh.core.change import Change
from afresh.core.recognise_test_files import get_file_name, get_file_stem, is_code_file, is_protected_path, is_test_code
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Workspace
from afresh.verification.manifest_settings import has_changed_settings, is_manifest
from afresh.verification.regressions import pair_checks_with_baseline
from afresh.verification.test_units import read_inline_tests


class CourtKind(StrEnum):
    TESTS = "tests"
    """Test code, and what else lies in folders of tests: compared unit by unit where it is code."""
    INLINE = "inline tests"
    """Product code with tests in it: doctests, test functions, `#[test]`. The court's run takes it as the commit has it."""
    SETTINGS = "settings"
    """Of test runners, toolchains and tools that judge."""
    SCRIPT = "script"
    """What the command starts, and code that only tests use and that judges."""
    DATA = "data"
    """What tests read and nothing of the product names. It needs leave only where the work does not pass without the change."""
    SHARED = "shared"
    """What product and tests both name, or what judges names and the task has added. The court's run takes it as the commit has
    it, and the verdict names it."""


@dataclass(frozen=True, slots=True)
class CourtChange:
    """A court file that the task has changed, deleted or added. What was added is absent in its run and needs no leave."""

    change: Change
    kind: CourtKind
    base: bytes | None
    """None where there was no file."""
    now: bytes | None

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def base_text(self) -> str | None:
        return decode_text(self.base)

    @property
    def now_text(self) -> str | None:
        return decode_text(self.now)

    @property
    def is_restored(self) -> bool:
        """Whether the court's run has it as it was at the base, unless it has leave."""
        return self.kind not in (CourtKind.INLINE, CourtKind.SHARED)


@dataclass(frozen=True, slots=True)
class Leave:
    """What may change in the court."""

    files: frozenset[str] = frozenset()
    """The court's run takes these as the commit has them; all others are as at the base."""
    tests: frozenset[str] = frozenset()
    """Names of tests as the runner reports them. As they were at the base they decide nothing; as the commit has them they must
    pass, or may be gone."""


def decode_text(held: bytes | None) -> str | None:
    """None for what is no text."""
    try:
        return held.decode() if held is not None else None
    except UnicodeDecodeError:
        return None


def find_court_changes(context: ToolContext, workspace: Workspace) -> tuple[CourtChange, ...]:
    """All changes of the court since the base, as the tree is now. Without a check there is no court."""
    if not context.state.task.checks:
        return ()
    first, now = context.state.workspace.first_snapshot, workspace.snapshot()
    changes = workspace.changes(first, now)
    paths = [change.path for change in changes]
    base, held = workspace.read_files(first, paths), workspace.read_files(now, paths)
    court = Court.of(context, workspace, first, now, changes)
    kinds = ((change, court.find_kind(change.path, base.get(change.path), held.get(change.path))) for change in changes)
    return tuple(CourtChange(change, kind, base.get(change.path), held.get(change.path)) for change, kind in kinds if kind)


def list_restored_files(changes: Sequence[CourtChange], leave: Leave) -> tuple[str, ...]:
    """Files that the court's run takes as at the base: all but those with leave, and what these need of what was added."""
    allowed = "\n".join(one.now_text or "" for one in changes if one.path in leave.files)
    needed = (one.path for one in changes if one.base is None and re.search(rf"\b{re.escape(name_module(one.path))}\b", allowed))
    kept = leave.files | frozenset(needed)
    return tuple(one.path for one in changes if one.is_restored and one.path not in kept)


def name_module(path: str) -> str:
    """What code calls a file by: its name without the suffix, or the folder that it opens."""
    stem = get_file_name(path).partition(".")[0]
    return get_file_name(path.rpartition("/")[0]) if stem in ("__init__", "index", "mod", "lib") and "/" in path else stem


_CODE_SETTINGS = re.compile(
    r"^(?:conftest\.py|GNUmakefile|makefile|build\.rs|(?:nox|dodo|fab|tox)file\.py|setup\.py|(?:build|settings)\.gradle\.kts"
    r"|(?:site|user)customize\.py)$|\.(?:config|conf|setup|workspace)\.[cm]?[jt]s$|^\..*rc\.[cm]?js$"
)
"""Code that a tool loads by its name, though no other file names it."""
_SETTINGS = re.compile(r"^\.|rc$|(?:config|conf|settings)\b|\.(?:ini|cfg)$")
_ROOT_SETTINGS = re.compile(r"\.(?:toml|json|ya?ml)$")
_SCRIPT = re.compile(r"^(?:GNUmakefile|[Mm]akefile|[Jj]ustfile|Rakefile)$|\.(?:sh|bash|zsh|mk|mak|bat|ps1)$")
_PROSE = re.compile(r"(?:^|/)docs?/|\.(?:md|rst|txt|adoc|lock)$|(?:^|/)package-lock\.json$|^\.github/", re.IGNORECASE)
_IMPORT = re.compile(r"\b(?:import|from|require|include|use|mod|load|source|export)\b")
_JUDGES = re.compile(
    r"\b(?:pytest|unittest|doctest)\b|['\"](?:node:)?(?:assert|test|vitest|chai|expect)\b|@jest/|\bexpect\(|\bassert|\bsys\.exit|\bprocess\.exit"
    r"|\bos\.Exit|\bSystemExit|\bexit\b"
)
_TEST_FRAMEWORK = re.compile(
    r"\b(?:import|from)\s+(?:pytest|unittest)\b|['\"](?:node:)?(?:assert|test|vitest|chai|expect)(?:/\w+)?['\"]"
)
_EXAMPLE = re.compile(r"^[ \t]*>>> ", re.MULTILINE)


@dataclass(frozen=True)
class Court:
    """What is known of the base, to tell a file of the court from one of the product."""

    opened: frozenset[str] | None
    """What the checks opened at the baseline; None where that is not known."""
    commands: str
    words: frozenset[str]
    """Of the commands, and of the scripts that they start: the tools that run are among them."""
    lines: Sequence[tuple[str, str]]
    """Path and text of each line of the base that names a changed file; of an added file, of the tree as it is now."""
    tested: frozenset[str]
    """Folders with test files in Python."""
    ordered: frozenset[str]
    """Words of the order."""
    added: frozenset[str]
    paths: frozenset[str]
    """Of the tree, without what was added."""
    reported: frozenset[str]
    """Files or modules that tests of the baseline are in, as reports name them."""

    @classmethod
    def of(cls, context: ToolContext, workspace: Workspace, first: str, now: str, changes: Sequence[Change]) -> "Court":
        checks, files = context.state.task.checks, [known.files for _, known in pair_checks_with_baseline(context)]
        opened = frozenset(path for one in files if one for path in one.opened) if all(files) else None
        commands = "\n".join(check.command for check in checks)
        started = read_starting_texts(context, workspace, first, opened)
        added = [change.path for change in changes if change.kind == "added"]
        old = [change.path for change in changes if change.kind != "added"]
        lines = [*workspace.search(first, _list_words(old)), *workspace.search(now, _list_words(added))]
        paths = frozenset(context.files.paths()) - frozenset(added)
        tested = {path.rpartition("/")[0] for path in paths if path.endswith(".py") and is_test_code(path)}
        words = re.findall(r"[\w-]+", started)
        ordered = frozenset(re.findall(r"[\w-]+", context.state.task.goal))
        tests = [test for _, known in pair_checks_with_baseline(context) for test in known.outcomes.tests]
        reported = {part for test in tests for part in ([test.partition("::")[0]] if "::" in test else test.split(".")[:-2])}
        return cls(
            opened, commands, frozenset(words), lines, frozenset(tested), ordered, frozenset(added), paths, frozenset(reported)
        )

    def find_kind(self, path: str, base: bytes | None, now: bytes | None) -> CourtKind | None:
        """None for a file of the product. A new file that what judges names may be what the order wants, or a trick: it is named.
        So is a script that the order is about where the checks read no other code."""
        kind = self._find_kind_by_use(path, base, now)
        if kind is CourtKind.SCRIPT and get_file_stem(path) in self.ordered and not self._has_other_product(path):
            return CourtKind.SHARED
        if kind in (None, CourtKind.DATA) and base is None and self._list_namers(path, judging=True) - self.added:
            return CourtKind.SHARED
        return kind

    def _list_namers(self, path: str, judging: bool) -> frozenset[str]:
        """Files with a line that names this one."""
        lines = ((other, line) for other, line in self.lines if other != path and not _PROSE.search(other))
        return frozenset(other for other, line in lines if _names_data(line, path) and self._judges(other) == judging)

    def _find_kind_by_use(self, path: str, base: bytes | None, now: bytes | None) -> CourtKind | None:
        name = get_file_name(path)
        if is_protected_path(path):
            return CourtKind.TESTS
        unread = base is not None and self.opened is not None and path not in self.opened
        if unread or name.startswith(".git"):
            return None
        if is_manifest(path):
            return CourtKind.SETTINGS if has_changed_settings(path, decode_text(base), decode_text(now), self.words) else None
        if _CODE_SETTINGS.search(name):
            return CourtKind.SETTINGS
        if is_code_file(path) or _is_script(path, base):
            return self._find_kind_of_code(path, base, now)
        if _PROSE.search(path) and base is None:
            return None
        return self._find_kind_of_data(path, base is None)

    def _find_kind_of_code(self, path: str, base: bytes | None, now: bytes | None) -> CourtKind | None:
        users = [
            other
            for other, line in self.lines
            if other != path and _imports(line, path) and (is_code_file(other) or _SCRIPT.search(get_file_name(other)))
        ]
        product = [other for other in users if not self._judges(other)]
        if base is None:
            beside_tests = path.endswith(".py") and path.rpartition("/")[0] in self.tested
            return CourtKind.TESTS if beside_tests and not product else None
        text, tests = decode_text(base) or "", [other for other in users if is_protected_path(other) or is_code_file(other)]
        if not product and self._is_judge(path, text, bool(tests)):
            return CourtKind.SCRIPT
        return CourtKind.INLINE if self._has_changed_inline_tests(path, text, decode_text(now) or "") else None

    def _judges(self, path: str) -> bool:
        return is_judging(path, self.commands)

    def _is_judge(self, path: str, text: str, used_by_tests: bool) -> bool:
        """Code that no code of the product uses: a script that the command or another script starts, or a helper of tests."""
        if used_by_tests:
            return self._has_other_product(path) and (bool(_TEST_FRAMEWORK.search(text)) or _only_asserts(text))
        if _is_script(path, text.encode()):
            return True
        started = get_file_stem(path) in self.words or name_module(path) in self.words
        return started and bool(_JUDGES.search(text)) and self._has_other_product(path)

    def _has_other_product(self, path: str) -> bool:
        """Whether the checks read other code to judge."""
        others = (self.paths if self.opened is None else self.opened) - {path}
        return any(is_code_file(other) and not self._judges(other) and not _is_script(other, b"") for other in others)

    def _has_changed_inline_tests(self, path: str, base: str, now: str) -> bool:
        if path.endswith(".rs"):
            return "#[" in base and "test" in base
        if not path.endswith(".py"):
            return False
        if "doctest" in self._spoken and _EXAMPLE.search(base) and any(list_lost_examples(base, now)):
            return True
        started = name_module(path) in self.words or path in self.reported or name_module(path) in self.reported
        left = read_inline_tests(now) if started else []
        return started and any(unit not in left for unit in read_inline_tests(base))

    @cached_property
    def _spoken(self) -> str:
        return " ".join(self.words)

    def _find_kind_of_data(self, path: str, is_new: bool) -> CourtKind | None:
        name, folders = get_file_name(path), path.split("/")[:-1]
        by_tests, by_others = self._list_namers(path, judging=True), self._list_namers(path, judging=False)
        looks_so = _SETTINGS.search(name) or any(part.startswith(".") for part in folders)
        at_root = not folders and _ROOT_SETTINGS.search(name) and not (is_new and by_tests)
        if (looks_so or at_root) and not any(is_code_file(other) for other in by_others):
            return CourtKind.SETTINGS
        if all(is_manifest(other) for other in by_others):
            return CourtKind.DATA
        return CourtKind.SHARED if by_tests else None


def is_judging(path: str, commands: str) -> bool:
    """By where it stands, as a script, or by its name in a command."""
    name = get_file_name(path)
    named = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", commands)
    return is_protected_path(path) or bool(_SCRIPT.search(name) or named)


def is_started(path: str, texts: str) -> bool:
    """Whether commands or scripts run the file by itself."""
    runs = (
        r"(?:\b(?:node|python[\d.]*|ruby|perl|tsx?|bun|sh|bash)['\",\s]+(?:-\S+\s+)*|(?:^|[;&|\s])\./"
        r"|\b(?:run_path|executable)\b[^\n]*['\"])"
    )
    return bool(re.search(rf"{runs}(?:[^\s'\"]*/)?{re.escape(get_file_name(path))}(?![\w-])", texts))


def read_starting_texts(context: ToolContext, workspace: Workspace, first: str, opened: frozenset[str] | None) -> str:
    """The commands of the checks, and the scripts that they start."""
    paths = opened or context.files.paths()
    scripts = [path for path in paths if _SCRIPT.search(get_file_name(path)) or path == "package.json"]
    texts = [decode_text(content) or "" for content in workspace.read_files(first, scripts[:40]).values()]
    return "\n".join([*(check.command for check in context.state.task.checks), *texts])


def _is_script(path: str, base: bytes | None) -> bool:
    return bool(_SCRIPT.search(get_file_name(path))) or ("." not in get_file_name(path) and (base or b"").startswith(b"#!"))


def _only_asserts(text: str) -> bool:
    """Whether a function in Python compares and does nothing else."""
    try:
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    bodies = [[one for one in node.body if not isinstance(one, ast.Expr)] for node in functions]
    return any(body and all(isinstance(one, ast.Assert) for one in body) for body in bodies)


def _list_words(paths: Iterable[str]) -> list[str]:
    """What other files may call these by."""
    return sorted(
        {
            word
            for path in paths
            for word in (get_file_name(path), get_file_stem(path), name_module(path), get_file_name(path.rpartition("/")[0]))
            if word
        }
    )


def _imports(line: str, path: str) -> bool:
    """Whether a line of code loads or starts the file."""
    name, module = re.escape(get_file_name(path)), re.escape(name_module(path))
    return bool(re.search(rf"(?<![\w.-]){name}\b", line)) or bool(_IMPORT.search(line) and re.search(rf"\b{module}\b", line))


def _names_data(line: str, path: str) -> bool:
    """Whether a line has the name of the file, or in quotes its name without suffix, or that of its folder."""
    if re.search(rf"(?<![\w.-]){re.escape(get_file_name(path))}\b", line):
        return True
    parts = [get_file_stem(path), get_file_name(path.rpartition("/")[0])]
    words = "|".join(re.escape(part) for part in parts if part)
    return bool(re.search(rf"['\"`][^'\"`]*\b(?:{words})\b|embed .*\b(?:{words})\b", line))


def list_lost_examples(base: str, now: str) -> Iterator[str]:
    """Examples of doctests, with what they expect, that are gone or expect something else."""
    left = _list_examples(now)
    for example in _list_examples(base):
        if example in left:
            left.remove(example)
        else:
            yield example


def _list_examples(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    found = list[str]()
    for at, line in enumerate(lines):
        if line.startswith(">>> "):
            more = next(
                (end for end in range(at + 1, len(lines)) if not lines[end] or lines[end][:3] in (">>>", '"""', "'''")),
                len(lines),
            )
            found.append("\n".join(lines[at:more]))
    return found
