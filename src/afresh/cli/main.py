"""The command line's front door: finds the command, runs it, and turns errors into sentences."""

import gc
import os
import sys
from collections.abc import Sequence

import click

from afresh import __version__

COMMAND_SECTIONS = {
    "Work": {
        "init": "Make this repository ready for afresh.",
        "run": "Work on a goal until it is verified, or say why not.",
        "resume": "Go on with a task that was interrupted.",
        "inbox": "Show the questions that wait for you.",
        "answer": "Answer a task's question, so that it can go on.",
        "demo": "Watch it work on a sample project; needs no key.",
        "mailbox": "Be the model: read what a task asks, and answer.",
    },
    "Queue": {
        "add": "Put a task in the queue.",
        "list": "Show the tasks of this project.",
        "work": "Take the next ready task, and the next.",
        "status": "Show where things stand.",
        "show": "Show one task: what was done, checked and reverted.",
    },
    "Result": {
        "apply": "Merge a finished task's branch into yours.",
        "undo": "Take back what a task did last.",
        "discard": "Throw a task's work away.",
    },
    "Move": {
        "export": "Write queue and journals to files that git can keep.",
        "import": "Bring tasks back from such files, here or on another machine.",
    },
    "Code": {
        "map": "Show the files and symbols that matter, and why.",
        "find": "Find a function, class or constant by its name or a part of it.",
        "who-calls": "Show who calls a function or class, and who hands it on.",
        "watch": "Keep what is known of the code current while you work.",
        "violations": "Show which functions are too complex, and what would help.",
    },
    "Look inside": {
        "decisions": "Show who decided what in a task, and what followed.",
        "spend": "Show what calls of models cost, against your limits.",
        "context": "Show, compare and verify what the model was sent.",
        "memory": "Find, correct and forget what it remembers.",
        "knowledge": "What tasks have learnt: list, approve, search.",
        "replay": "See what it would have sent in sessions that your agent recorded.",
        "instructions": "Show what AGENT.md and its like tell a task, line by line.",
        "fingerprint": "Show what it has found out about this project.",
        "template": "Show and check how windows are laid out, by type of task.",
        "doctor": "Tell what works on this machine.",
        "models": "Show which models can be used, and try one.",
        "rebuild": "Make session files and other views again from the journal.",
    },
}
"""Each command lives in `afresh.cli.<name>` as `command`; its line stands here so that `--help` need not import it."""


def list_command_names() -> list[str]:
    return [name for commands in COMMAND_SECTIONS.values() for name in commands]


def load_command(name: str) -> click.Command:
    from importlib import import_module, util

    from afresh.errors import Broken

    file = name.replace("-", "_")
    if util.find_spec(f"afresh.cli.{file}") is None:
        raise Broken(f"the command {name!r} is listed in cli/main.py, but there is no cli/{file}.py")
    return import_module(f"afresh.cli.{file}").command


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

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in list_command_names() or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        near = get_close_matches(args[0], list_command_names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "'afresh --help' lists them all."
        raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)


def measure_help_width() -> int:
    """Of the help text. Click would find it too, but by way of modules that nothing else needs at the start."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 80
    return max(50, min(columns, 100) - 2)


CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "terminal_width": measure_help_width()}


@click.group(cls=LazyCommandGroup, invoke_without_command=True, context_settings=CONTEXT_SETTINGS)
@click.version_option(__version__, prog_name="afresh")
@click.pass_context
def root_command(context: click.Context) -> None:
    """A coding agent that starts every step afresh and loses nothing."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run_command_line(args: Sequence[str]) -> int:
    """Run one command line. The exit code: 0 done, 1 an error, 2 wrong usage, 130 interrupted, or what the command returns."""
    try:
        result = root_command.main(args=list(args), prog_name="afresh", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        from afresh.cli import report_error as failure

        return failure.report_error(error, as_json=failure.wants_json(args))
    return result if isinstance(result, int) else 0


def main() -> None:
    # What is imported lives as long as the process: the collector need not walk it, least of all on the way out.
    gc.freeze()
    code = run_command_line(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
