"""Commands that only print files of the tree. What they show is then kept as `read` keeps it: as it is now, never as it was."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from afresh.actions.network_permission import REASON_ARGUMENT, choose_network_access, list_network_notes
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.action import CommandRun
from afresh.core.line_region import Region
from afresh.core.states.network_state import NetworkUsed
from afresh.core.step_result import SPOILED_NOTE, ToolOutcome, shorten_command
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree

MAX_PRINTED_LINES = 600
"""Most lines in all; a command that prints more is shown as plain output."""
PLAIN_COMMAND_PATTERN = re.compile(r"[\w\s./,'\"=+@:;&-]+")
"""Nothing that a shell would expand, join or redirect."""
COMMAND_ENDS = frozenset((";", "&&"))
SED_RANGE_PATTERN = re.compile(r"(\d+)(?:,(\d+))?p")
DEFAULT_PRINTED_LINES = 10
"""Lines that head and tail print unless told."""


def find_printed_regions(command: str, files: FileTree, step: int) -> tuple[Region, ...]:
    """The lines that this command prints, if it is a plain `cat`, `nl`, `head`, `tail` or `sed -n`, or several of these; else
    nothing."""
    try:
        parts = split_commands(command)
        commands = [list(parse_print_command(words, files)) for words in parts if words[0] != "echo"]
        regions = [Region(path, start, end, step) for part in commands for path, start, end in part if start <= end]
        regions = regions if all(commands) else []
    except (ModelMistake, ValueError):
        return ()
    return tuple(regions) if sum(region.end - region.start + 1 for region in regions) <= MAX_PRINTED_LINES else ()


def split_commands(command: str) -> list[list[str]]:
    """The words of each command in a row; none if anything else joins them."""
    lines = [line for line in command.splitlines() if line.strip()]
    if not all(PLAIN_COMMAND_PATTERN.fullmatch(line) for line in lines):
        return []
    parts = list[list[str]]()
    for line in lines:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&")
        lexer.whitespace_split, lexer.commenters = True, ""
        joined = [list(words) for is_end, words in groupby(lexer, COMMAND_ENDS.__contains__) if not is_end]
        if not joined or any("&" in word for words in joined for word in words):
            return []
        parts += joined
    return parts


def parse_print_command(words: Sequence[str], files: FileTree) -> Iterator[tuple[str, int, int]]:
    """Path, first and last line. A word that is not understood counts as a path, which then does not exist."""
    program, rest = (words[0], list(words[1:])) if words else ("", [])
    first, last = 1, None
    if program in ("cat", "nl"):
        options = ("-n", "-b", "a", "-ba", "-A") if program == "nl" else ("-n",)
        rest = [word for word in rest if word not in options]
    elif program in ("head", "tail"):
        rest, count = parse_line_count(rest)
        first, last = (1, count) if program == "head" else (-count, None)
    elif program == "sed":
        yield from parse_sed_ranges(rest, files)
        return
    else:
        return
    for path in rest:
        length = len(files.read(path).splitlines())
        yield path, max(1, length + 1 + first) if first < 0 else first, min(length, last or length)


def parse_line_count(words: Sequence[str]) -> tuple[list[str], int]:
    """`-n 20`, `-n20` or `-20`; the paths, and how many lines."""
    text = " ".join(words[:2]) if words[:1] == ["-n"] else words[0] if words else ""
    match = re.fullmatch(r"-n?\s*(\d+)", text)
    return (list(words[len(text.split()) :]), int(match[1])) if match else (list(words), DEFAULT_PRINTED_LINES)


def parse_sed_ranges(words: Sequence[str], files: FileTree) -> Iterator[tuple[str, int, int]]:
    """`-n 10,40p`, or several of these with `;` between."""
    ranges = words[1].rstrip(";").split(";") if words[:1] == ["-n"] and len(words) > 2 else []
    matches = [SED_RANGE_PATTERN.fullmatch(one.strip()) for one in ranges]
    for path in words[2:] if all(matches) else ():
        length = len(files.read(path).splitlines())
        yield from ((path, int(match[1]), min(length, int(match[2] or match[1]))) for match in matches if match)


COMMAND_TIMEOUT_SECONDS = 120
ONLINE_TIMEOUT_SECONDS = 600
"""Longer, since downloads take time."""
MAX_COMMAND_BYTES = 100_000
LOST_FILE_PATTERN = re.compile(
    r"(?:/tmp|\$TMPDIR)/.{0,400}(?:No such file|not found|Permission denied)"
    r"|(?:No such file|can't open file|not found|Permission denied).{0,400}(?:/tmp|\$TMPDIR)/"
)
LOST_FILES_NOTE = (
    "temporary files go into $TMPDIR, which is empty at the start of each command: write a file and use it in the same command"
)


def run_command(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    command = check_command_length(args["command"])
    access = choose_network_access(context, command)
    done = (
        context.sandbox.run(command, ONLINE_TIMEOUT_SECONDS, network=access)
        if access
        else context.sandbox.run(command, COMMAND_TIMEOUT_SECONDS)
    )
    used = (NetworkUsed(context.state.work.step + 1, shorten_command(command), done.network),) if done.network else ()
    if done.exit == 0 and (regions := find_printed_regions(done.command, context.files, context.state.work.step + 1)):
        lines = "\n".join(f"{region.path}: lines {region.start}-{region.end}" for region in regions)
        return ToolOutcome(f"$ {done.command}\nexit 0\n{lines}", events=used, regions=regions)
    lost = f"\n[{LOST_FILES_NOTE}]" if done.exit and LOST_FILE_PATTERN.search(done.output) else ""
    told = "".join(f"\n[{note}]" for note in list_network_notes(done, context))
    text = f"$ {shorten_command(done.command)}\n{render_command_result(done)}{lost}{told}"
    if done.spoiled:
        return ToolOutcome(f"{text}\n[{SPOILED_NOTE}]", ok=False, events=used, spoiled=True)
    return ToolOutcome(text, ok=done.exit == 0, events=used)


def check_command_length(command: str) -> str:
    """The kernel starts nothing with a longer argument."""
    if (size := len(command.encode())) > MAX_COMMAND_BYTES:
        raise ModelMistake(f"the command has {size:,} bytes, over {MAX_COMMAND_BYTES:,}; write it to a file and run that")
    return command


def render_command_result(done: CommandRun) -> str:
    """How it ended, then what it printed."""
    end = "timed out and was killed" if done.timed_out else f"exit {done.exit}"
    return f"{end}\n{done.output.rstrip()}" if done.output.strip() else f"{end}, no output"


tool = FunctionTool(
    make_tool_schema(
        "run",
        "Shell; no git; 120 s; $TMPDIR lasts one call.",
        optional=(REASON_ARGUMENT,),
        command="",
        **{REASON_ARGUMENT: ""},
    ),
    run_command,
)
