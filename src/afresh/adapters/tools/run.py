"""Run a shell command in the tree, confined."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.printed import find_printed_regions
from afresh.adapters.tools.tool import FunctionTool, make_tool_schema
from afresh.domain.action import CommandRun
from afresh.errors import ModelMistake
from afresh.ports import ToolContext, ToolOutcome

COMMAND_TIMEOUT_SECONDS = 120
MAX_COMMAND_BYTES = 100_000


def run_command(args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
    done = bench.sandbox.run(check_command_length(args["command"]), COMMAND_TIMEOUT_SECONDS)
    if done.exit == 0 and (regions := find_printed_regions(done.command, bench.files, bench.state.step + 1)):
        lines = "\n".join(f"{region.path}: lines {region.start}-{region.end}" for region in regions)
        return ToolOutcome(f"$ {done.command}\nexit 0\n{lines}", regions=regions)
    return ToolOutcome(f"$ {shorten_command(done.command)}\n{render_command_result(done)}", ok=done.exit == 0)


def shorten_command(command: str) -> str:
    """Its first line: who wrote a script knows it, and the record of the action has it."""
    first, *more = command.strip().splitlines() or [""]
    return f"{first} … and {len(more)} more lines" if more else first


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
    make_tool_schema("run", "Run a shell command (no network, no git, 120 s).", command=""), run_command, changes=True
)
