"""What people have written down for whoever works here: one file of it, taken apart."""

from enum import StrEnum

from afresh.core.fast_dataclass import dataclass

RULES_KEY = "\n"
PREFERENCES_KEY = "\npreferences"
CONSTRAINTS_KEY = "\nconstraints"
TEST_CHANGES_KEY = "\nallow_test_changes"
"""First key of the path of a rule, a preference, a constraint and a path of tests that may change; no heading can have it."""


@dataclass(frozen=True, slots=True)
class TaskDefaults:
    """What a file sets for tasks that do not say otherwise; None and empty: nothing."""

    max_steps: int | None = None
    require_tests: bool | None = None
    auto_commit: bool | None = None
    test_command: str = ""


def merge_defaults(general: TaskDefaults, special: TaskDefaults) -> TaskDefaults:
    """The more special one wins, field by field."""
    return TaskDefaults(
        special.max_steps or general.max_steps,
        general.require_tests if special.require_tests is None else special.require_tests,
        general.auto_commit if special.auto_commit is None else special.auto_commit,
        special.test_command or general.test_command,
    )


NO_DEFAULTS = TaskDefaults()


class InstructionLevel(StrEnum):
    """The levels, from general to special."""

    USER = "user"
    PROJECT = "project"
    FOLDER = "folder"
    TYPE = "task type"


@dataclass(frozen=True, slots=True)
class NumberedLine:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class InstructionPart:
    """A heading with its text up to the next heading, or a rule of the front matter. The path is its own heading after those that
    it stands under, in small letters; what stands before the first heading has none."""

    path: tuple[str, ...]
    lines: tuple[NumberedLine, ...]
    title: str = ""
    depth: int = 0
    """Depth of its heading; 0 without one."""
    elsewhere: tuple[str, ...] = ()
    """Folders in which another part goes before it."""

    @property
    def bare(self) -> bool:
        """Only a heading: it says where those below it belong, and nothing else."""
        return bool(self.depth) and not any(line.text.strip() for line in self.lines[1:])

    @property
    def rule(self) -> bool:
        """Of the front matter: a rule, a preference, a constraint, or tests that may change."""
        return self.path[:1] in ((RULES_KEY,), (PREFERENCES_KEY,), (CONSTRAINTS_KEY,), (TEST_CHANGES_KEY,))

    @property
    def test_path(self) -> str:
        """The file, folder or test (path::test) that the front matter allows to change; empty for any other part."""
        return self.path[1] if self.path[:1] == (TEST_CHANGES_KEY,) else ""

    @property
    def constraint(self) -> bool:
        """It holds whatever a more special file says."""
        return self.path[:1] == (CONSTRAINTS_KEY,)

    @property
    def first(self) -> int:
        return self.lines[0].number

    @property
    def last(self) -> int:
        return self.lines[-1].number

    def covers(self, other: "InstructionPart") -> bool:
        """It says something of the same subject, or of one that the other is a part of."""
        return bool(self.path) and not self.bare and other.path[: len(self.path)] == self.path


@dataclass(frozen=True, slots=True)
class InstructionFile:
    file: str
    level: InstructionLevel
    parts: tuple[InstructionPart, ...] = ()
    folder: str = ""
    """The one that it holds in, when it is not the whole repository."""
    own: bool = True
    """Written for afresh, so it is shown whole or not at all; what other tools read may be shown in part."""
    firm: bool = False
    """Nothing deeper replaces what it says."""
    replaces: bool = False
    """It stands alone: nothing less special counts beside it."""
    elsewhere: tuple[str, ...] = ()
    """Folders in which it does not count."""
    tracked: bool = True
    """The task's own tree has it, so that the rest of it can be read there."""

    def deeper(self, other: "InstructionFile") -> bool:
        """Whether it is the more special one of two that come in order. Several of a project, or neighbouring folders, are
        beside each other."""
        if self.level is other.level is not InstructionLevel.TYPE and self.folder == other.folder:
            return False
        return not other.folder or self.level is InstructionLevel.TYPE or f"{self.folder}/".startswith(f"{other.folder}/")


@dataclass(frozen=True, slots=True)
class OverruledPart:
    """A part that another one goes before; `where` is the folder in which it does, empty for everywhere."""

    file: str
    part: InstructionPart
    by: str
    line: int
    where: str = ""


@dataclass(frozen=True, slots=True)
class InstructionChain:
    sources: tuple[InstructionFile, ...] = ()
    """From general to special, each with the parts that are left of it."""
    overruled: tuple[OverruledPart, ...] = ()
