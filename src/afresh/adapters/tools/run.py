"""Run a shell command in the tree, confined."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.printed import printed
from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.action import Completed
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

TIMEOUT = 120
LONGEST = 100_000


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    done = bench.sandbox.run(short_enough(args["command"]), TIMEOUT)
    if done.exit == 0 and (regions := printed(done.command, bench.files, bench.state.step + 1)):
        lines = "\n".join(f"{region.path}: lines {region.start}-{region.end}" for region in regions)
        return Outcome(f"$ {done.command}\nexit 0\n{lines}", regions=regions)
    return Outcome(f"$ {echo(done.command)}\n{told(done)}", ok=done.exit == 0)


def echo(command: str) -> str:
    """Its first line: who wrote a script knows it, and the record of the action has it."""
    first, *more = command.strip().splitlines() or [""]
    return f"{first} … and {len(more)} more lines" if more else first


def short_enough(command: str) -> str:
    """The kernel starts nothing with a longer argument."""
    if (size := len(command.encode())) > LONGEST:
        raise ModelMistake(f"the command has {size:,} bytes, over {LONGEST:,}; write it to a file and run that")
    return command


def told(done: Completed) -> str:
    """How it ended, then what it printed."""
    end = "timed out and was killed" if done.timed_out else f"exit {done.exit}"
    return f"{end}\n{done.output.rstrip()}" if done.output.strip() else f"{end}, no output"


tool = FunctionTool(schema("run", "Run a shell command (no network, no git, 120 s).", command=""), run, changes=True)
