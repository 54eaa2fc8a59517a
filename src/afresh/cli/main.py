"""Entry point: finds the command, runs it, and prints errors."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from afresh import __version__

COMMAND_SECTIONS = {
    "Start here": {
        "setup": "Choose your model, and set up this repository.",
        "run": "Work on a goal until the checks pass.",
        "chat": "Talk with the agent, turn by turn.",
        "status": "Show all tasks and what each needs next.",
        "show": "Show one task in detail, or follow it.",
        "diff": "Show what a task has changed.",
        "apply": "Merge a task's result into your branch.",
        "resume": "Continue an interrupted task, or try a failed one again.",
    },
    "Work on a task": {
        "answer": "Answer questions of tasks, or list them.",
        "allow": "Let a task change tests or use the network.",
        "undo": "Undo a task's last change.",
        "discard": "End tasks; delete their branches and worktrees.",
        "pr": "Write a pull request for a task's result.",
    },
    "Queue": {
        "add": "Add a task to the queue, or a list of them.",
        "edit": "Change a task's priority, labels and due time.",
        "hold": "Keep a task from being worked on.",
        "release": "Put a held or failed task back into the queue.",
        "work": "Run the next tasks from the queue.",
        "serve": "Run workers, schedules and dashboard as one.",
        "dashboard": "Watch and steer everything in the browser.",
        "schedule": "Add tasks and watch a checklist again and again.",
        "export": "Write tasks and journals to files for git.",
        "import": "Read tasks from exported files.",
    },
    "What it knows and sends": {
        "code": "Find your way in the code; list complex functions.",
        "memory": "List and correct remembered facts.",
        "knowledge": "Manage lessons learnt by tasks.",
        "template": "Show and check task templates.",
        "context": "Inspect prompts, and the instructions a task gets.",
        "replay": "Compare with sessions of another agent.",
        "evolve": "Learn better prompts from recorded work.",
    },
    "Models, money, this machine": {
        "models": "List usable models and test one.",
        "spend": "Show tokens and money spent, with limits.",
        "doctor": "Check this machine and project; repair what is stored.",
        "init": "Set up another repository.",
        "demo": "Run on a sample project; no key needed.",
        "acp": "Serve your editor (Agent Client Protocol).",
        "mcp": "Serve other agents; use MCP servers.",
        "mailbox": "Play the model by hand.",
    },
}
"""Help lines are defined here so that `--help` imports no command."""
NEW_NAMES = {
    "retry": "resume", "skip": "edit TASK --not-after all", "inbox": "answer", "checkpoints": "show --checkpoints",
    "cancel": "discard", "block": "hold", "pause": "hold", "unblock": "release", "continue": "release",
    "graph": "status --graph", "heartbeat": "schedule", "map": "code map", "find": "code find",
    "who-calls": "code find --callers",
    "violations": "code violations", "fingerprint": "code profile", "report": "spend --week", "fsck": "doctor --deep",
    "rebuild": "doctor --rebuild", "list": "status --all", "decisions": "show --decisions", "version": "--version",
}  # fmt: skip
"""New names of former commands."""
SAME_AS = {
    "watch": "show --follow", "instructions": "context instructions", "template list": "template", "template show": "template",
    "template check": "template --check", "spend reset": "spend --reset", "schedule resume": "schedule pause --off",
    "knowledge edit": "knowledge show --edit", "code callers": "code find --callers",
}  # fmt: skip
"""Former spellings that still work."""


def spell_anew(args: Sequence[str]) -> list[str]:
    """Replace a former spelling; `help COMMAND` is the help of COMMAND."""
    if args and args[0] == "help":
        return [*spell_anew(args[1:]), "--help"]
    words = next((words for words in (2, 1) if " ".join(args[:words]) in SAME_AS), 0)
    return [*SAME_AS[" ".join(args[:words])].split(), *args[words:]] if words else list(args)


COMMAND_FILES = {
    "export_import": ("export", "import"),
    "hold": ("hold", "release"),
    "results": ("apply", "undo", "discard"),
    "run": ("run", "resume"),
    "tasks": ("status", "show"),
}
WITHOUT_JSON = ("acp", "chat", "dashboard", "demo", "mcp")
"""Commands that serve a protocol, or only people."""
"""Files with several commands, each a function NAME_command. Any other command is `command` in the file of its name."""


def list_command_names() -> list[str]:
    """Return the names that `--help` lists."""
    return [name for commands in COMMAND_SECTIONS.values() for name in commands]


def load_command(name: str) -> click.Command:
    from importlib import import_module, util

    from afresh.cli.output import add_json_option
    from afresh.errors import Broken

    file = next((file for file, names in COMMAND_FILES.items() if name in names), name)
    if util.find_spec(f"afresh.cli.{file}") is None:
        raise Broken(f"the command {name!r} is listed in cli/main.py, but there is no cli/{file}.py")
    command = getattr(import_module(f"afresh.cli.{file}"), f"{name}_command" if file in COMMAND_FILES else "command")
    add_json_option(command, name not in WITHOUT_JSON)
    return command


class LazyCommandGroup(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list_command_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in list_command_names() else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in COMMAND_SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=12)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spell_anew(args))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in list_command_names() or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        if args[0] in NEW_NAMES:
            raise click.UsageError(f"`afresh {args[0]}` is now `afresh {NEW_NAMES[args[0]]}`", ctx)
        from difflib import get_close_matches

        near = get_close_matches(args[0], list_command_names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "'afresh --help' lists all commands"
        hint = f'afresh run "{args[0]}" works on a goal' if " " in args[0] else hint
        raise click.UsageError(f"no such command: {args[0]}; {hint}", ctx)


def measure_help_width() -> int:
    """Return the width of help text. Click's own function would import modules that are not needed at start-up."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 80
    return max(50, min(columns, 100) - 2)


EXIT_CODES_HELP = (
    "Exit codes: 0 verified or done, 1 not verified or not done, 2 wrong usage or input, 3 needs your answer,"
    " 4 provider or set-up (key, package, network, sandbox, git), 130 interrupted."
)
CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "terminal_width": measure_help_width()}


@click.group(cls=LazyCommandGroup, invoke_without_command=True, context_settings=CONTEXT_SETTINGS, epilog=EXIT_CODES_HELP)
@click.version_option(__version__, "-V", "--version", prog_name="afresh")
@click.pass_context
def root_command(context: click.Context) -> None:
    """A coding agent that works alone, and is done only when your tests pass."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        context.color = False
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@root_command.result_callback()
def finish_command(result: Any) -> Any:
    """Print what the command has returned; a number is its exit code."""
    if result is None or isinstance(result, int):
        return result
    from afresh.cli.output import print_page

    return print_page(result)


def run_command_line(args: Sequence[str]) -> int:
    """Run one command line and return the exit code (cli/exit_codes.py)."""
    try:
        result = root_command.main(args=list(args), prog_name="afresh", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as missing:
        click.echo(missing.format_message())
        return 2
    except (Exception, KeyboardInterrupt) as error:
        from afresh.cli import report_error as failure

        return failure.report_error(error, as_json=failure.wants_json(args))
    return result if isinstance(result, int) else 0


def main() -> None:
    # Imported modules live as long as the process; the garbage collector need not walk them, least of all at exit.
    gc.freeze()
    code = run_command_line(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
