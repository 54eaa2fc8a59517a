"""Entry point: finds the command, runs it, and prints errors."""

import gc
import os
import sys
from collections.abc import Sequence

import click

from afresh import __version__

COMMAND_SECTIONS = {
    "Start here": {
        "setup": "Choose your model, and set up this repository.",
        "init": "Set up another repository.",
        "run": "Work on a goal until the checks pass.",
        "chat": "Talk with the agent, turn by turn.",
        "status": "Show all tasks and what each needs next.",
        "show": "Show one task in detail.",
        "diff": "Show what a task has changed.",
        "apply": "Merge a task's result into your branch.",
        "resume": "Continue an interrupted task.",
    },
    "Work": {
        "watch": "Follow a task that runs elsewhere.",
        "acp": "Serve your editor (Agent Client Protocol).",
        "retry": "Try a failed or discarded task again.",
        "skip": "Start now, ignoring tasks it waits for.",
        "inbox": "List questions that need your answer.",
        "answer": "Answer a task's question.",
        "allow": "Let a task change tests it may not change.",
        "undo": "Undo a task's last change.",
        "pr": "Write a pull request for a task's result.",
        "discard": "Delete branch and worktree of tasks.",
        "checkpoints": "List points a task can go back to.",
    },
    "Queue": {
        "dashboard": "Watch and steer everything in the browser.",
        "serve": "Run workers, schedules and dashboard as one.",
        "add": "Add a task to the queue.",
        "edit": "Change a task's priority, labels and due time.",
        "block": "Keep a task back, with a reason.",
        "unblock": "Put a blocked task back into the queue.",
        "pause": "Pause a task, even while it runs.",
        "continue": "Let a paused task go on.",
        "cancel": "End a task before it is done.",
        "graph": "Show which tasks wait for which.",
        "work": "Run the next tasks from the queue.",
        "heartbeat": "Watch a checklist; call a model on changes.",
        "schedule": "Add tasks at intervals or set times.",
        "export": "Write tasks and journals to files for git.",
        "import": "Read tasks from exported files.",
    },
    "Code": {
        "map": "Show the most relevant files and symbols.",
        "find": "Find a function, class or constant.",
        "who-calls": "Show the callers of a function or class.",
        "violations": "List functions that are too complex.",
        "fingerprint": "Show what is known about this project.",
    },
    "What it knows and sends": {
        "instructions": "Show which instructions a task gets.",
        "memory": "Search and correct remembered facts.",
        "knowledge": "Manage lessons learnt by tasks.",
        "template": "Show and check task templates.",
        "context": "Inspect the prompts a task has sent.",
        "replay": "Compare with sessions of another agent.",
        "evolve": "Learn better prompts from recorded work.",
    },
    "Models, money, this machine": {
        "models": "List usable models and test one.",
        "spend": "Show tokens and money spent, with limits.",
        "report": "Show the figures of the last week.",
        "doctor": "Check this machine and project.",
        "fsck": "Check all stored state, and repair it.",
        "demo": "Run on a sample project; no key needed.",
        "mailbox": "Play the model by hand.",
        "mcp": "Serve other agents; use MCP servers.",
        "help": "Show the help of a command.",
    },
}
"""Help lines are defined here so that `--help` imports no command."""
OTHER_COMMANDS = ("list", "decisions", "rebuild", "version")
"""Not listed: the same as `status --all`, `show --decisions`, `doctor --rebuild` and `--version`."""
COMMAND_FILES = {
    "code": ("map", "find", "who-calls", "violations"),
    "export_import": ("export", "import"),
    "help": ("help", "version"),
    "hold": ("block", "unblock", "pause", "continue", "cancel"),
    "inbox": ("inbox", "answer"),
    "project": ("init", "doctor", "rebuild", "instructions", "fingerprint"),
    "results": ("apply", "undo", "discard"),
    "retry": ("retry", "skip"),
    "run": ("run", "resume"),
    "tasks": ("list", "status", "show", "decisions"),
}
"""Files with several commands, each a function NAME_command. Any other command is `command` in the file of its name."""


def list_command_names() -> list[str]:
    """Return the names that `--help` lists."""
    return [name for commands in COMMAND_SECTIONS.values() for name in commands]


def is_command_name(name: str) -> bool:
    return name in OTHER_COMMANDS or name in list_command_names()


def load_command(name: str) -> click.Command:
    from importlib import import_module, util

    from afresh.errors import Broken

    file = next((file for file, names in COMMAND_FILES.items() if name in names), name)
    if util.find_spec(f"afresh.cli.{file}") is None:
        raise Broken(f"the command {name!r} is listed in cli/main.py, but there is no cli/{file}.py")
    return getattr(
        import_module(f"afresh.cli.{file}"), "command" if file not in COMMAND_FILES else f"{name.replace('-', '_')}_command"
    )


class LazyCommandGroup(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list_command_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if is_command_name(cmd_name) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in COMMAND_SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=12)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if is_command_name(args[0]) or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
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
