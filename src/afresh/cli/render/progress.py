"""Live progress: a panel on a terminal, one line per step elsewhere, nothing with --quiet."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from afresh.cli.render.widgets import render_fields, render_gauge, render_text, render_word
from afresh.core.event import JournalEntry, ReplyReceived
from afresh.core.progress_event import CallDelayed, ProgressEvent
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.ports.watch import Clock
from afresh.views.progress import ProgressLine, RunProgress, describe_progress_event, update_run_progress
from afresh.views.task_status import find_current_verdict, format_count, list_current_runs, sum_check_runs

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


SILENCE_SECONDS = 30.0
INTERACTIVE_SILENCE_SECONDS = 5.0
"""Seconds without output after which a run without a panel reports that it is alive, in an interactive run."""


class LiveProgress:
    """A Watcher, and a context manager for the duration of a run."""

    def __init__(
        self, clock: Clock, console: "Console", quiet: bool = False, plain: bool = False,
        spent: Callable[[str], str] = lambda task: "",
    ) -> None:  # fmt: skip
        """`spent` returns a task's cost as text."""
        self.clock, self.console, self.quiet, self.plain, self.spent = clock, console, quiet, plain, spent
        self.glance = RunProgress(since=clock.now())
        self.live: Any = None
        self.aloud = True
        self.ended = Event()

    def __enter__(self) -> "LiveProgress":
        self.ended = Event()
        if self.quiet:
            return self
        if self.console.is_terminal and not self.plain:
            self._start_panel()
        else:
            Thread(target=self._break_silence, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.live:
            self.glance = replace(self.glance, doing="")
            self.live.stop()

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        self.glance, new = update_run_progress(self.glance, state, entries)
        if not self.quiet and any(isinstance(entry.event, ReplyReceived) for entry in entries):
            self.glance = replace(self.glance, cost=self.spent(state.task.id))
        if not self.quiet and not self.live:
            for line in new:
                self.console.print(render_progress_line(line), soft_wrap=True)

    def alert(self, text: str) -> None:
        """Show a spending alert, even with --quiet."""
        self.console.print(render_text(f"ALERT: {text}", "bold yellow"), soft_wrap=True)

    def follow(self, event: ProgressEvent) -> None:
        if what := describe_progress_event(event):
            self.glance = replace(self.glance, doing=what)
        if isinstance(event, CallDelayed) and not self.quiet and not self.live:
            self.console.print(f"  … {to_one_line(event.why, 200)}", soft_wrap=True)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Pause drawing while a question is asked."""
        panel, self.aloud = self.live, False
        if panel:
            panel.stop()
        try:
            yield
        finally:
            self.aloud = True
            if panel:
                self._start_panel()

    def _start_panel(self) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        spinner = Spinner("dots", style="cyan")
        self.live = Live(
            get_renderable=lambda: render_progress_panel(self.glance, self.clock.now(), spinner),
            console=self.console,
            refresh_per_second=8,
        )
        self.live.start()
        # a killed process cannot restore the cursor, so it is never hidden
        self.console.show_cursor(True)

    def _break_silence(self) -> None:
        while not self.ended.wait(INTERACTIVE_SILENCE_SECONDS if self.plain and self.console.is_terminal else SILENCE_SECONDS):
            if not self.aloud:
                continue
            glance = self.glance
            about = glance.doing or glance.action or "working"
            self.console.print(
                f"  … {to_one_line(about, 100)} ({format_duration(self.clock.now() - glance.since)})", soft_wrap=True
            )


def render_progress_line(line: ProgressLine) -> "Text":
    step = f"{line.step:>3} " if line.step else "    "
    return render_text(f"{step}{line.mark} {line.text}", {"✓": "green", "✗": "red"}.get(line.mark, ""))


def render_progress_panel(glance: RunProgress, now: float, spinner: "RenderableType | None" = None) -> "RenderableType":
    """Render the current state of the run above its last steps."""
    from rich import box
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    state = glance.state
    if state is None:
        return _render_waiting(glance.doing or "starting", spinner)
    title = Text.assemble((f"{to_one_line(state.task.id, 40)} ", "bold"), render_word(state.status.value))
    inside = Panel(
        render_fields(_list_panel_fields(glance, state, now)),
        title=title,
        title_align="left",
        box=box.ROUNDED,
        border_style="bright_black",
    )
    waiting = [_render_waiting(glance.doing, spinner)] if glance.doing else []
    return Group(inside, *(_fit_line(line) for line in glance.lines), *waiting)


def _list_panel_fields(glance: RunProgress, state: State, now: float) -> list[tuple[str, Any]]:
    steps = f"{state.phase}, step {max(glance.step, state.work.step)} of max {state.work.limit}"
    rows: list[tuple[str, Any]] = [("goal", render_text(state.task.goal, limit=160)), ("phase", steps)]
    if glance.budget:
        rows.append(("context", render_gauge(glance.tokens, glance.budget, glance.reserve)))
    rows.append(("last", render_text(glance.action or "nothing yet", limit=120)))
    rows.append(("tests", _render_tests(state)))
    rows.append(
        (
            "changes",
            (
                f"{state.workspace.kept} kept, {state.workspace.reverted} reverted, "
                f"{format_count(len(state.workspace.changed), 'file')} changed"
            ),
        )
    )
    spent = (
        f"{format_count(state.spending.calls, 'call')}, {state.spending.usage.input:,} tokens in, "
        f"{state.spending.usage.output:,} out"
    )
    rows.append(("spent", f"{format_duration(now - glance.since)}, {f'{glance.cost}, ' if glance.cost else ''}{spent}"))
    return rows


def _render_tests(state: State) -> "Text":
    runs = list_current_runs(state)
    total = sum_check_runs(runs)
    if not runs:
        return render_text("not run yet", "dim")
    verdict = find_current_verdict(state)[0]
    before = "" if verdict and verdict.runs else " before the first change"
    return render_text(total.words + before, "red" if total.failed or total.failing else "green")


def _fit_line(line: ProgressLine) -> "Text":
    text = render_progress_line(line)
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _render_waiting(text: str, spinner: "RenderableType | None") -> "RenderableType":
    from rich.table import Table

    row = Table.grid(padding=(0, 1))
    row.add_row(spinner or "…", render_text(text, "dim", limit=100))
    return row


def format_duration(seconds: float) -> str:
    minutes, rest = divmod(int(max(0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
