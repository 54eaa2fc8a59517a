"""Live progress: a line for each step, and below them on a terminal what happens right now. Nothing with --quiet."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from afresh.cli.render.draw_diff import list_diff_lines
from afresh.cli.render.widgets import Line, quote_text, wrap_line
from afresh.core.change import Change
from afresh.core.event import JournalEntry, ReplyReceived
from afresh.core.progress_event import CallDelayed, ChangeMade, ProgressEvent
from afresh.core.state import State
from afresh.core.text import escape_hidden, format_count
from afresh.core.truncate import to_one_line, truncate_text
from afresh.ports.watch import Clock
from afresh.views.progress import ProgressLine, RunProgress, follow_progress_event, update_run_progress
from afresh.views.step_line import find_first_sentence

SILENCE_SECONDS = 30.0
"""Seconds without output after which a run without a terminal reports that it is alive."""
MIN_SHOWN_SECONDS = 3.0
"""Seconds after which the duration of what it does is shown."""
MAX_DIFF_LINES = 40
"""Lines of one step's diff that are shown."""
MAX_THOUGHT_CHARACTERS = 1_500
MAX_DID_CHARACTERS = 80
MIN_DID_CHARACTERS = 32
"""What was done is cut for the result to fit on the line, but not to less than this."""
MAX_RESULT_CHARACTERS = 160
STREAM_LINES = 8
INDENT = "      "
"""Under the text of a step: its number, its mark and the blanks between them."""
MARK_STYLES = {"✓": "green", "✗": "red", "↺": "yellow", "·": "dim", "•": "dim"}


@dataclass(frozen=True, slots=True)
class ProgressOptions:
    quiet: bool = False
    verbose: bool = False
    spent: Callable[[str], str] = lambda task: ""
    """Returns a task's cost as text."""


class LiveProgress:
    """A Watcher, and a context manager for the duration of a run."""

    def __init__(self, clock: Clock, console: Console, options: ProgressOptions = ProgressOptions()) -> None:  # noqa: B008
        self.clock, self.console, self.options = clock, console, options
        self.glance = RunProgress(since=clock.now())
        self.live: Any = None
        self.aloud = True
        self.ended = Event()
        self.updating = Lock()
        """Checks that run beside a call report from their own thread."""

    def __enter__(self) -> "LiveProgress":
        self.ended = Event()
        if self.options.quiet:
            return self
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self._start_live_area()
        else:
            Thread(target=self._break_silence, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self.live:
            self.live.stop()
            self.live = None

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        with self.updating:
            self.glance, new = update_run_progress(self.glance, state, entries)
        if self.options.quiet:
            return
        if any(isinstance(entry.event, ReplyReceived) for entry in entries):
            self.glance = replace(self.glance, cost=self.options.spent(state.task.id))
        self.show_lines(new)

    def show_lines(self, lines: Iterable[ProgressLine]) -> None:
        for line in lines:
            if self.options.verbose or not line.detail:
                self._print(render_progress_line(line, self._width, self.options.verbose))

    def alert(self, text: str) -> None:
        """Show a spending alert, even with --quiet."""
        self._print(_join_rows(_hang_rows([], quote_text(f"ALERT: {text}", "bold yellow"), "", self._width)))

    def follow(self, event: ProgressEvent) -> None:
        with self.updating:
            self.glance = follow_progress_event(self.glance, event, self.clock.now())
        if self.options.quiet:
            return
        if isinstance(event, CallDelayed) and not self.live:
            self._print(_indent_text(f"… {to_one_line(event.why, 200)}", self._width))
        if isinstance(event, ChangeMade) and self.options.verbose:
            self._print(render_made_changes(event, self._width))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Pause drawing while a question is asked."""
        area, self.aloud = self.live, False
        if area:
            area.stop()
        try:
            yield
        finally:
            self.aloud = True
            if area:
                self._start_live_area()

    def ring(self) -> None:
        """Ring the terminal's bell: it is over, or needs an answer."""
        if not self.options.quiet and self.console.is_terminal:
            self.console.bell()

    @property
    def _width(self) -> int:
        """Lines are wrapped for a terminal only: a log keeps them whole."""
        return self.console.width if self.console.is_terminal else 0

    def _print(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True)

    def _start_live_area(self) -> None:

        spinner = Spinner("dots", style="cyan")
        self.live = Live(
            get_renderable=lambda: render_live_area(self.glance, self.clock.now(), self.console.width, spinner),
            console=self.console,
            refresh_per_second=8,
            transient=True,
        )
        self.live.start()
        # a killed process cannot restore the cursor, so it is never hidden
        self.console.show_cursor(True)

    def _break_silence(self) -> None:
        while not self.ended.wait(SILENCE_SECONDS):
            if self.aloud:
                what = describe_activity(self.glance, self.clock.now())
                self._print(_indent_text(f"… {to_one_line(what, 200)}", self._width))


def render_progress_line(line: ProgressLine, width: int = 0, verbose: bool = False) -> Text:
    """Render a line, and under it what the model said. `width` 0: lines are not wrapped."""
    number = f"{line.step:>3} " if line.step else "  "
    result = to_one_line(line.result, MAX_RESULT_CHARACTERS)
    room = width - len(INDENT) - len(" → ") - len(result) if width else MAX_DID_CHARACTERS
    did = truncate_text(line.text, max(room, MIN_DID_CHARACTERS)) if result else line.text
    spans = [(did, ""), (f" → {result}", {"✓": "green", "✗": "red", "↺": "yellow"}.get(line.mark, ""))]
    text = [span for span in spans if line.result or span is spans[0]]
    head = [(number, "dim"), (f"{line.mark} ", MARK_STYLES.get(line.mark, ""))]
    blank = " " * len(f"{number}{line.mark} ")
    note = to_one_line(line.thought, MAX_THOUGHT_CHARACTERS) if verbose else find_first_sentence(line.thought)
    rows = _hang_rows(head, [part for one, style in text for part in quote_text(one, style)], blank, width)
    return _join_rows([*rows, *(_hang_rows([(INDENT, "")], quote_text(note, "dim"), INDENT, width) if note else [])])


def render_made_changes(event: ChangeMade, width: int = 0) -> Text:
    """Render the diff of a step, as far as it is shown, without git's own lines."""
    bare = [replace(change, patch=_strip_git_lines(change)) for change in event.changes]
    lines, left = list_diff_lines((change.patch for change in bare), MAX_DIFF_LINES)
    rows = [Text(escape_hidden(text), style) for ((text, style),) in lines]
    for row in rows:
        row.pad_left(len(INDENT))
        if width:
            row.truncate(width, overflow="ellipsis")
    more = [Text(f"{INDENT}… {format_count(left, 'more line')}", "dim")] if left else []
    return Text("\n").join([*rows, *more])


def _strip_git_lines(change: Change) -> str:
    lines = change.patch.splitlines(keepends=True)
    start = next((place for place, line in enumerate(lines) if line.startswith("@@")), 0)
    return f"--- {change.path} ({change.kind})\n{''.join(lines[start:])}"


def render_live_area(glance: RunProgress, now: float, width: int = 80, spinner: RenderableType | None = None) -> RenderableType:
    """Render the end of what the model says, what is done right now, and one line of figures."""
    said = wrap_line(quote_text(glance.said.strip(), "italic"), width - 2)[-STREAM_LINES:] if glance.said else []
    doing = Table.grid(padding=(0, 1))
    doing.add_row(spinner or "…", _join_rows(wrap_line(quote_text(describe_activity(glance, now), limit=300), width - 2)[:2]))
    rows = [_join_rows([[("  ", ""), *row]]) for row in said]
    figures = Text(f"  {describe_figures(glance, now, width - 2)}", "dim")
    return Group(*rows, doing, *([figures] if glance.state else []))


def describe_activity(glance: RunProgress, now: float) -> str:
    """Say what is done right now, how far it is and since when."""
    tests = glance.tests
    share = f" ({tests.percent}%)" if tests.percent else ""
    count = f"{tests.done:,} of {tests.total:,} tests" if tests.total else f"{format_count(tests.done, 'test')} done{share}"
    count = count if tests.done else ""
    seconds = now - glance.doing_since if glance.doing else 0.0
    lasts = format_duration(seconds) if seconds >= MIN_SHOWN_SECONDS else ""
    return ", ".join(part for part in (glance.doing or "working", count, lasts) if part)


def describe_figures(glance: RunProgress, now: float, width: int) -> str:
    """Return cost, prompt and time in one line; the step too where there is room."""
    state = glance.state
    if state is None:
        return ""
    usage = state.spending.usage
    cost = glance.cost or (f"{usage.input + usage.output:,} tokens" if usage.input else "")
    prompt = f"prompt {glance.tokens:,} of {glance.budget:,}" if glance.budget else ""
    number = max(glance.step, state.work.step)
    step = f"step {number} of max {state.work.limit}" if number else ""
    elapsed = format_duration(now - glance.since)
    choices = ([step, cost, prompt, elapsed], [cost, prompt, elapsed], [cost, elapsed])
    lines = [" · ".join(part for part in parts if part) for parts in choices]
    return next((line for line in lines if len(line) <= width), truncate_text(lines[-1], width))


def _hang_rows(head: Line, text: Line, blank: str, width: int) -> list[Line]:
    """Wrap text behind its head; later rows begin below its first word."""
    if not width:
        return [[*head, *text]]
    rows = wrap_line(text, width - len(blank))
    return [[*(head if place == 0 else [(blank, "")]), *row] for place, row in enumerate(rows)]


def _indent_text(text: str, width: int) -> Text:
    return _join_rows(_hang_rows([("  ", "")], quote_text(text, "dim"), "  ", width))


def _join_rows(rows: Sequence[Line]) -> Text:
    return Text("\n").join(Text.assemble(*row) for row in rows)


def format_duration(seconds: float) -> str:
    minutes, rest = divmod(int(max(0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
