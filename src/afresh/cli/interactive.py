"""Shows the status to a person at the terminal and asks what to do before the next step."""

import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from afresh.cli.render.draw_page import draw_blocks
from afresh.cli.render.questions import list_changes, list_input_help, list_open_question, list_step_status
from afresh.core.states.supervision_state import AUTONOMOUS_MODE, PersonAct, PersonRequest
from afresh.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from afresh.app.project import Project
    from afresh.cli.render.progress import LiveProgress
    from afresh.core.state import State
    from afresh.views.page import Block


GO_ON_REQUEST = PersonRequest(PersonAct.GO)
STOP_REQUEST = PersonRequest(PersonAct.STOP)


class PersonAtTerminal:
    """A Person at the terminal. The app checks their input before the task gets it."""

    def __init__(
        self,
        project: "Project",
        progress: "LiveProgress",
        lines: TextIO,
        heeds_interrupts: bool = False,
        call_user: "Callable[[State], None]" = lambda state: None,
        unattended: bool = False,
    ) -> None:
        """`call_user` is called with each question; `unattended`: questions of autonomous tasks wait in the inbox."""
        self.project, self.progress, self.lines, self.heeds_interrupts = project, progress, lines, heeds_interrupts
        self.call_user, self.unattended = call_user, unattended
        self.left, self.told, self.asking = 0, False, False
        self.wanted = False
        """Ctrl-C during a step sets it: pause after the step."""

    @property
    def console(self) -> "Console":
        return self.progress.console

    def at_pause(self, state: "State") -> PersonRequest | None:
        if self.unattended and (state.dialogue.supervision.mode or AUTONOMOUS_MODE) == AUTONOMOUS_MODE:
            return None
        if self.left and not self.wanted and not state.dialogue.question:
            self.left -= 1
            return GO_ON_REQUEST
        self.left, self.wanted = 0, False
        with self.progress.aside():
            self.asking = True
            try:
                self._show(state)
                if state.dialogue.question:
                    self.call_user(state)
                return self._ask(state)
            except KeyboardInterrupt:
                self.console.print()
                return STOP_REQUEST
            finally:
                self.asking = False

    def _show(self, state: "State") -> None:
        self._print(list_open_question(state) if state.dialogue.question else list_step_status(state))
        if not self.told or state.dialogue.question:
            self._print(list_input_help(state))
        self.told = True

    def _ask(self, state: "State") -> PersonRequest | None:
        while True:
            self.console.print("> ", end="", style="bold cyan")
            line = self.lines.readline()
            if not line:
                self.console.print()
                return None
            try:
                if word := self._meant(line.strip(), state):
                    return word
            except BadInput as fault:
                self.console.print(f"  {fault.what}; {fault.next}", style="yellow")

    def _meant(self, line: str, state: "State") -> PersonRequest | None:
        """Return the request, or None if the person only looked at something and is asked again."""
        if line.startswith("/"):
            name, _, rest = line[1:].partition(" ")
            return self._command(name, rest, state)
        if not line and state.dialogue.network.offered:
            raise BadInput("Enter alone does not open the network", next="answer 1, 2 or 3")
        if not line and (not state.dialogue.question or state.dialogue.asked_by == "harness"):
            return GO_ON_REQUEST
        if line.isdecimal() and not state.dialogue.question:
            self.left = max(0, int(line) - 1)
            return GO_ON_REQUEST
        return self._worded(line, state)

    def _command(self, name: str, rest: str, state: "State") -> PersonRequest | None:
        commands: dict[str, Callable[[], PersonRequest | None]] = {
            "new": lambda: self._worded(rest, state, redirects=True),
            "undo": lambda: self._undo(rest, state),
            "stop": lambda: STOP_REQUEST,
            "diff": lambda: self._print(list_changes(self._changes(state))),
            "help": lambda: self._print(list_input_help(state)),
        }
        if name not in commands:
            raise BadInput(f"no such command: /{name}", next=f"commands: {', '.join(f'/{command}' for command in commands)}")
        return commands[name]()

    def _worded(self, text: str, state: "State", redirects: bool = False) -> PersonRequest:
        from afresh.app.dialogue.answer_question import parse_user_message

        return parse_user_message(self.project, state, text, redirects)

    def _undo(self, rest: str, state: "State") -> PersonRequest:
        from afresh.app.results.task_result import refuse_empty_undo

        count, _, why = rest.partition(" ")
        steps, why = (int(count), why) if count.isdecimal() else (0, rest)
        refuse_empty_undo(self.project, state, steps)
        return PersonRequest(PersonAct.UNDO, why.strip(), steps)

    def _changes(self, state: "State") -> Any:
        from afresh.app.results.task_result import list_task_changes

        return list_task_changes(self.project, state)

    def _print(self, blocks: "Sequence[Block]") -> None:
        from rich.text import Text

        for line in draw_blocks(blocks, self.console.width):
            self.console.print(Text.assemble(*line), soft_wrap=True)

    def interrupted(self, *_: object) -> None:
        """Pause after the step at the first Ctrl-C; stop at once at the second."""
        if self.asking or self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        self.console.print("  pausing after this step; press Ctrl-C again to stop now", style="dim")

    def __enter__(self) -> "PersonAtTerminal":
        self._before = signal.signal(signal.SIGINT, self.interrupted) if self.heeds_interrupts else None
        return self

    def __exit__(self, *_: object) -> None:
        if self.heeds_interrupts:
            signal.signal(signal.SIGINT, self._before)
