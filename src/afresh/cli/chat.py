"""`afresh chat`: a conversation at the terminal. Each message is a turn of one task, worked on as by `afresh run`."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from afresh.app.dialogue.chat_commands import run_chat_command
from afresh.app.dialogue.conversation import (
    Conversation,
    ConversationOrder,
    find_latest_conversation,
    read_closing_summary,
    refuse_closed_task,
    take_message,
)
from afresh.app.orders.tasks import find_task
from afresh.app.project import Project
from afresh.app.queue.hold_task import end_pause
from afresh.cli.diff import print_task_diff
from afresh.cli.exit_codes import choose_status_code
from afresh.cli.options import TypeOption, model_option, no_sandbox_option, open_current_project
from afresh.cli.output import echo_wrapped, print_blocks, print_markdown
from afresh.cli.render.questions import list_open_question
from afresh.cli.report_error import describe_error
from afresh.cli.run import RunFlags, run_with_progress
from afresh.core.state import State
from afresh.core.task import TaskStatus, name_briefly
from afresh.core.text import escape_hidden
from afresh.errors import AfreshError, Cancelled
from afresh.views.task_facts import describe_outcome

CHAT_HELP = """\
  /undo [N] [WHY]   take back the last change, or the last N steps
  /diff             show what was changed so far
  /cost             show what the conversation has cost
  /model NAME       use another model from the next turn on
  /apply            merge the result (--unverified: even without a PASS)
  /help             show this
  /quit             leave; `afresh chat --resume` continues
  Ctrl-C stops a turn. Enter alone continues one that was stopped. A line that ends with \\ goes on in the next."""


@click.command("chat")
@click.argument("task", required=False)
@click.option("--resume", is_flag=True, help="Continue the latest conversation.")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--check", "-c", "checks", multiple=True, metavar="COMMAND", help="Command that must exit 0. Repeatable.")
@click.option("--with-changes", is_flag=True, help="Include the uncommitted changes of your checkout.")
@model_option
@no_sandbox_option
def command(task: str | None, resume: bool, model: str, no_sandbox: bool, **order: Any) -> int:
    """Talk with the agent: it works on each message, shows what it did, and waits for the next.

    A conversation is one task on one branch: nothing changes in your checkout until /apply. TASK continues a conversation, or
    goes on with any task that is not applied yet. /help lists the commands. Without a terminal each line of the input is a
    message, and the exit code is that of the last one.
    """

    project = open_current_project()
    name = find_task(project, task) if task else find_latest_conversation(project) if resume else ""
    if name:
        refuse_closed_task(project.store.load(name))
    flags = RunFlags(no_sandbox=no_sandbox)
    wanted = ConversationOrder(order["type_"], order["checks"], order["with_changes"])
    with Interrupts() as interrupts:
        return Chat(project, Conversation(name, model=model), flags, wanted, interrupts).talk()


class Interrupts:
    """Ctrl-C interrupts what it may, once: one more must not end the conversation while the first is answered."""

    def __init__(self) -> None:
        self.allowed = False

    def receive(self, *_: object) -> None:
        if self.allowed:
            self.allowed = False
            raise KeyboardInterrupt

    @contextmanager
    def allow(self) -> Generator[None]:
        self.allowed = True
        try:
            yield
        finally:
            self.allowed = False

    def __enter__(self) -> "Interrupts":
        self._before = signal.signal(signal.SIGINT, self.receive)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)


class Chat:
    """The loop at the terminal. All that lasts is in the task's journal."""

    def __init__(
        self, project: Project, now: Conversation, flags: RunFlags, order: ConversationOrder, interrupts: Interrupts
    ) -> None:
        self.project, self.now, self.way, self.order, self.interrupts = project, now, flags, order, interrupts
        self.open, self.code = True, 0
        self.is_attended = sys.stdin.isatty()

    def talk(self) -> int:
        """Take messages until there are no more; return the exit code."""
        if self.is_attended:
            greeting = "What shall I do? /help lists commands, /quit leaves."
            print_text(f"Continuing {self.now.task}." if self.now.task else greeting, dim=True)
            if self.now.task:
                show_state(self.project, self.load())
        while self.open and (line := read_message(self.interrupts)) is not None:
            self.take(line)
        if self.now.task:
            name = name_briefly(self.now.task)
            merges = f", `afresh apply {name}` merges it" if self.load().status == "done" else ""
            print_text(f"Kept as {self.now.task}: `afresh chat {name}` continues it{merges}.", err=True, dim=True)
        elif not self.is_attended and not self.now.applied and not self.code:
            raise click.UsageError("no message came. Type at a terminal, or: echo MESSAGE | afresh chat")
        return 0 if self.is_attended else self.code

    def take(self, line: str) -> None:
        """Do what a line asks. Show an error and continue the conversation."""
        try:
            with self.interrupts.allow():
                self.command(line) if line.startswith("/") else self.turn(line)
        except KeyboardInterrupt:
            if not self.is_attended:
                raise
            print_text("Stopped. What was done so far is kept; Enter continues, or say what to do instead.", fg="yellow")
        except Cancelled:
            raise
        except (AfreshError, OSError) as error:
            failure = describe_error(error)
            self.code = failure.code
            print_text(failure.text(), err=not self.is_attended, fg="yellow")

    def turn(self, text: str) -> None:

        if text.strip():
            self.now = take_message(self.project, self.now, text, self.order)
        elif not self.now.task or self.load().status not in ("ready", "running"):
            return
        state = self.load()
        if not state.status.over:  # an answer may have accepted the work
            end_pause(self.project, self.now.task)
            state = run_with_progress(self.project, self.now.task, replace(self.way, model=self.now.model))
        assert state, "a named task is claimed or refused"
        self.code = choose_status_code([state.status])
        show_state(self.project, state)

    def command(self, line: str) -> None:

        name, _, rest = line[1:].strip().partition(" ")
        if name == "quit":
            self.open = False
        elif name == "help":
            print_text(CHAT_HELP)
        elif name == "diff" and self.now.task:
            self.diff()
        else:
            self.now, said = run_chat_command(self.project, self.now, name, rest.strip(), ("help", "quit"))
            print_text(said)

    def load(self) -> State:
        return self.project.store.load(self.now.task)

    def diff(self) -> None:

        print_task_diff(self.project.paths.root, self.load())


def print_text(text: str, **style: Any) -> None:
    echo_wrapped(escape_hidden(text), **style)


def read_message(interrupts: Interrupts) -> str | None:
    """Return what the person types, lines that end with a backslash joined; None at the end of the input."""
    lines: list[str] = []
    while True:
        try:
            with interrupts.allow():
                line = prompt_line("... " if lines else "> ")
        except EOFError:
            return "\n".join(lines) or None
        except KeyboardInterrupt:
            click.echo()
            print_text("/quit or Ctrl-D leaves.", dim=True)
            lines = []
            continue
        if not line.endswith("\\"):
            return "\n".join([*lines, line])
        lines.append(line.removesuffix("\\"))


def prompt_line(prompt: str) -> str:
    """Read a line, at a terminal with the keys for editing and history."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        import readline  # noqa: F401  input() uses it

        return input(prompt)
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line.rstrip("\n")


def show_state(project: Project, state: State) -> None:
    """Show how the turn ended: what the model says, whole; its question, or why it gave up."""
    if summary := read_closing_summary(project, state.task.id):
        click.echo()
        print_markdown(summary.strip())
        click.echo()
    if state.dialogue.question:
        print_blocks(list_open_question(state))
    elif state.status in (TaskStatus.DONE, TaskStatus.FAILED):
        changed = ", ".join(state.workspace.changed) or "nothing"
        print_text(f"{describe_outcome(state)} · changed so far: {changed}", dim=True)
