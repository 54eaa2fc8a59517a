"""The lines of an output that are looked at, each with its number in the archived block."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from afresh.core.fast_dataclass import dataclass
from afresh.core.truncate import truncate_text

MAX_FINDINGS = 4
MAX_FINDING_CHARACTERS = 160
"""Findings of one output; and characters of each."""
TELLING_LINE = re.compile(
    r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied"
    r"|\*\*\*|unable|cannot|can't|unknown|invalid",
    re.IGNORECASE,
)
"""Says how a command ended."""
_MEMORY_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{4,}|\b0x[0-9a-fA-F]{9,}")
_TEMPORARY_FOLDER = re.compile(
    r"(?<=/)(?:tmp[\w-]{6,40}|pytest-of-[\w-]+/pytest-\d+|rustdoctest\w+|go-build\d+|pip-[a-z-]+\w{6,12}|[0-9a-f]{8}[0-9a-f-]{4,60})(?=/)"
)
"""A folder that is made anew each time has another name the next time."""


@dataclass(frozen=True, slots=True)
class OutputFinding:
    subject: str
    """A test, a place, a file; empty for the command as a whole."""
    text: str
    confidence: float = 0.9
    lines: tuple[int, int] = (0, 0)
    """First and last line of the block that say so."""


@dataclass(frozen=True, slots=True)
class OutputReading:
    phrase: str
    """The result in a few words."""
    findings: tuple[OutputFinding, ...] = ()
    fine: frozenset[str] = frozenset()
    """Subjects of which the output says that nothing is wrong with them."""
    wrong: frozenset[str] = frozenset()
    """Subjects of which it says that something is: all of them, where findings tell only the first few."""
    complete: bool = False
    """Of tests: all that the command names have run, so that one which is not said to fail does not."""
    runner: str = ""
    """For tests: the runner, which says whose tests they are."""
    failed: bool = False
    """The command itself ended badly."""


def truncate_to_one_line(text: str, length: int = MAX_FINDING_CHARACTERS) -> str:
    return truncate_text(" ".join(text.split()), length)


def mask_volatile_names(text: str) -> str:
    """The same words in the next run: no addresses of objects, no folders that are made anew each time."""
    return _TEMPORARY_FOLDER.sub("…", _MEMORY_ADDRESS.sub("0x…", text))


def format_plural(count: int, noun: str, more: str = "") -> str:
    return f"{count} {noun if count == 1 else more or noun + 's'}"


COMMAND_END = re.compile(r"^(exit \d+|timed out and was killed)(?:, no output)?$", re.MULTILINE)
MAX_OUTPUT_CHARACTERS = 60_000
MAX_OUTPUT_LINE_CHARACTERS = 1_000
"""Characters of an output that are looked at, half of them from its end; and of a line."""
_ANSI_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What a command printed, without the echo of the command, without colours and without blanks at the ends of lines."""

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    command: str = ""
    ended: str = ""
    """How the command ended, as the tools say it; empty if nobody has."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def failed(self) -> bool:
        return bool(self.ended) and not self.ended.startswith("exit 0")

    def span(self, first: int, last: int | None = None) -> tuple[int, int]:
        """First and last line in the block, of places among `lines`."""
        return self.numbers[first], self.numbers[first if last is None else last]


def output_from_text(text: str, command: str = "") -> CommandOutput:
    return output_from_rows(list(enumerate(text.splitlines(), 1)), command)


def outputs_from_text(text: str) -> list[CommandOutput]:
    """Those of several commands in one text, as `test` prints them: each begins with its echo and how it ended."""
    rows = list(enumerate(text.splitlines(), 1))
    pairs = pairwise(rows)
    starts = [number - 1 for (number, line), (_, after) in pairs if line.startswith("$ ") and COMMAND_END.match(after)]
    bounds = [*starts, len(rows)] if starts[:1] == [0] else [0, len(rows)]
    return [output_from_rows(rows[start:end], rows[start][1][2:]) for start, end in pairwise(bounds) if start < end]


def output_from_rows(rows: Sequence[tuple[int, str]], command: str) -> CommandOutput:
    start, ended = skip_command_echo(rows)
    kept = truncate_rows(rows[start:])
    return CommandOutput(tuple(strip_line(line) for _, line in kept), tuple(number for number, _ in kept), command, ended)


def skip_command_echo(rows: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """Where what was printed begins, and how the command ended. The echo may hold a whole script."""
    looked = rows if rows and rows[0][1].startswith("$ ") else rows[:1]
    for place, (_, line) in enumerate(looked):
        if match := COMMAND_END.match(line):
            return place + 1, match[1]
    return 0, ""


def truncate_rows(rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of a long output its beginning and its end, with a mark in the place of the first line that is left out."""
    short = [(number, line[:MAX_OUTPUT_LINE_CHARACTERS]) for number, line in rows]
    if sum(len(line) + 1 for _, line in short) <= MAX_OUTPUT_CHARACTERS:
        return short
    head, tail = take_rows_within_limit(short), take_rows_within_limit(reversed(short))[::-1]
    return [*head, (rows[len(head)][0], "…"), *tail]


def take_rows_within_limit(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    kept, room = list[tuple[int, str]](), MAX_OUTPUT_CHARACTERS // 2
    for number, line in rows:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append((number, line))
    return kept


def strip_line(line: str) -> str:
    return (_ANSI_ESCAPES.sub("", line) if "\x1b" in line else line).rstrip()


def command_from_output(text: str) -> str:
    """The command that an output begins with, as `run` and `test` print it: more than its first line if it had more."""
    if not text.startswith("$ "):
        return ""
    end = COMMAND_END.search(text)
    return text[2 : end.start()].rstrip("\n") if end else text[2:].partition("\n")[0]


INSPECTING_COMMAND = re.compile(
    r"(?:^|[;&|(]|\bdo )\s*(?:ls|cat|head|tail|grep|rg|find|nl|sed -n|git (?:status|diff|log|show)|pwd|wc|tree)\b"
)
TRIVIAL_COMMAND = re.compile(
    r"(?:\s*(?:sleep|echo|printf|true|false|:|cd|date|wait|exit|export|set|test|\[|which|type|whoami|uname|id|env|clear)\b[^;&|]*"
    r"(?:;|&&|\|\||\||&|$))+"
)
"""A command of which nobody learns anything, whatever it printed."""


def is_trivial_command(command: str) -> bool:
    """Whether it only reads, waits or prints."""
    return bool(INSPECTING_COMMAND.search(command) or TRIVIAL_COMMAND.fullmatch(command))
