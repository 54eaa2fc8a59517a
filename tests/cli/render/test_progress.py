import io
import re

import pytest
from rich.console import Console
from samples import COMMITS, DONE, HOSTILE, told

from afresh.cli.render.console import open_console
from afresh.cli.render.progress import LiveProgress, format_duration, render_progress_line, render_progress_panel
from afresh.core.progress_event import CallBegan, CallDelayed, CallEnded, CheckBegan, CheckScope, ReplyStreamed
from afresh.core.spending import CallPurpose
from afresh.core.text import escape_hidden
from afresh.views.progress import RunProgress, update_run_progress


class Clock:
    def now(self) -> float:
        return 1_700_000_075.0


def shown(stream: io.StringIO, **options: object) -> str:
    with LiveProgress(Clock(), Console(file=stream, width=100, highlight=False, **options)) as progress:
        for state, entries in told():
            progress.follow(CallBegan("the model", CallPurpose.WORK))
            progress.saw(state, entries)
    return stream.getvalue()


def test_without_a_terminal_there_is_one_line_a_step_and_no_control_code() -> None:
    text = shown(io.StringIO())
    assert escape_hidden(text) == text
    assert [line.strip() for line in text.splitlines()] == [
        "• t-7f3a: Reduce the complexity of shop/cart.py without changing what it does",
        "• before the first change: 41 passed, 1 check failing, 1 flaky",
        "1 ✓ read shop/cart.py → read 120 lines",
        "2 ✗ apply extract total() lines 40-58 → reverted: test_total failed",
        "3 ✓ apply extract discount() x\\x1b]0;owned\\x07\\u202… → kept, 13 passed (targeted)",
        "4 ✓ complete done → verified",
        "• done: all criteria hold",
    ]


def test_on_a_terminal_the_panel_is_drawn_and_the_cursor_is_never_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = shown(io.StringIO(), force_terminal=True)
    assert "context" in text and "2,400 of 4,000" in text
    hidden, back = text.rindex("\x1b[?25l"), text.rindex("\x1b[?25h")
    assert hidden < back and text.index("\x1b[?25h") < text.index("t-7f3a")
    assert "\x1b]0;owned" not in text and "\u202e" not in text


def test_quiet_says_nothing() -> None:
    stream = io.StringIO()
    with LiveProgress(Clock(), Console(file=stream), quiet=True) as progress:
        for state, entries in told():
            progress.saw(state, entries)
    assert stream.getvalue() == ""


def test_money_is_shown_as_it_is_spent_and_alerts_are_told_even_when_quiet() -> None:
    stream = io.StringIO()
    progress = LiveProgress(Clock(), Console(file=stream, width=100), spent=lambda task: f"$1.23 of {task}")
    for state, entries in told():
        progress.saw(state, entries)
    progress.console.print(render_progress_panel(progress.glance, 1_700_000_075.0))
    assert "$1.23 of t-7f3a, " in stream.getvalue()
    quiet = io.StringIO()
    LiveProgress(Clock(), Console(file=quiet), quiet=True).alert("80 % of the limit")
    assert quiet.getvalue() == "ALERT: 80 % of the limit\n"


def test_a_long_wait_shows_what_it_is_about() -> None:
    state, entries = told(COMMITS[:2])[-1]
    stream = io.StringIO()
    console = Console(file=stream, width=80)
    progress = LiveProgress(Clock(), console)
    progress.saw(state, entries)
    progress.follow(CheckBegan(CheckScope.BASELINE))
    console.print(render_progress_panel(progress.glance, 1_700_000_075.0))
    assert "running the checks twice before the first change" in stream.getvalue()


def test_a_silent_run_without_a_terminal_says_that_it_is_still_there(monkeypatch) -> None:
    from threading import Event

    monkeypatch.setattr("afresh.cli.render.progress.SILENCE_SECONDS", 0.001)
    told_so = Event()

    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            if "waiting for the model" in text:
                told_so.set()
            return super().write(text)

    with LiveProgress(Clock(), Console(file=Stream(), width=80)) as progress:
        progress.follow(CallBegan("the model", CallPurpose.WORK))
        assert told_so.wait(20)


def test_another_task_starts_with_an_empty_gauge_and_keeps_the_lines() -> None:
    glance = RunProgress(0.0)
    for state, entries in told():
        glance, _ = update_run_progress(glance, state, entries)
    assert glance.tokens and glance.step == 4
    from dataclasses import replace

    other = replace(DONE, task=replace(DONE.task, id="t-2"))
    glance, _ = update_run_progress(glance, other, ())
    assert not glance.tokens and not glance.action and glance.lines


def test_a_stream_that_can_not_show_our_signs_gets_plain_ones() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console = open_console(stream, width=80)
    glance = RunProgress(0.0)
    for state, entries in told():
        glance, new = update_run_progress(glance, state, entries)
        for line in new:
            console.print(render_progress_line(line))
    console.print(render_progress_panel(glance, 75.0))
    console.print("漢")
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert re.search(r"1 \+ read shop/cart.py > read", text) and "#####" in text and "\\u6f22" in text
    assert HOSTILE not in text


def test_durations_are_words() -> None:
    assert [format_duration(seconds) for seconds in (-1, 5, 75, 3_700)] == ["0 s", "5 s", "1 min 15 s", "1 h 01 min"]


def test_how_far_a_reply_has_come_is_told_now_and_then_and_a_delay_at_once() -> None:
    stream = io.StringIO()
    progress = LiveProgress(Clock(), Console(file=stream, width=80))
    shown = []
    for characters in range(10, 510, 10):
        progress.follow(ReplyStreamed("m", "ten letter", characters))
        shown.append(progress.glance.doing)
    progress.follow(CallEnded("m", ok=True))
    assert [*dict.fromkeys(shown)] == ["", "m answers: about 50 tokens so far", "m answers: about 100 tokens so far"]
    progress.follow(CallDelayed("busy; retry 1 of 6"))
    assert progress.glance.doing == "busy; retry 1 of 6" and stream.getvalue() == "  … busy; retry 1 of 6\n"
