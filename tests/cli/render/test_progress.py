import io
import re

import pytest
from rich.console import Console
from samples import COMMITS, DONE, HOSTILE, told

from afresh.cli.render.console import open_console
from afresh.cli.render.progress import (
    STREAM_LINES,
    LiveProgress,
    ProgressOptions,
    describe_activity,
    describe_figures,
    format_duration,
    render_live_area,
    render_progress_line,
)
from afresh.core.change import Change
from afresh.core.progress_event import (
    BaselineRunBegan,
    CallBegan,
    CallDelayed,
    CallEnded,
    ChangeMade,
    CheckBegan,
    CheckEnded,
    CheckScope,
    ReplyStreamed,
    TestsFinished,
)
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


def test_without_a_terminal_a_step_is_a_line_with_the_thought_under_it_and_no_control_code() -> None:
    text = shown(io.StringIO())
    assert escape_hidden(text) == text
    assert [line.strip() for line in text.splitlines()] == [
        "• t-7f3a: Reduce the complexity of shop/cart.py without changing what it does",
        "• before the first change: 41 passed, 1 check failing, 1 flaky",
        "1 · read cart.py",
        "a thought",
        "2 ↺ extract total() lines 40-58 → undone: 1 regression",
        "a thought",
        "3 ✓ extract discount() x\\x1b]0;owned\\x07\\u202e[red]y[/red] → kept, 13 passed (affected tests)",
        "a thought",
        "4 ✓ reported done → verified: all criteria hold",
        "a thought",
    ]


def test_on_a_terminal_the_live_area_is_drawn_and_the_cursor_is_never_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = shown(io.StringIO(), force_terminal=True)
    assert "prompt 2,400 of 4,000" in text
    hidden, back = text.rindex("\x1b[?25l"), text.rindex("\x1b[?25h")
    assert hidden < back and text.index("\x1b[?25h") < text.index("t-7f3a")
    assert "\x1b]0;owned" not in text and "\u202e" not in text


def test_what_the_model_says_is_shown_as_it_comes_in_and_its_tool_calls_are_not() -> None:
    progress = LiveProgress(Clock(), Console(file=io.StringIO(), width=60))
    for state, entries in told(COMMITS[:3]):
        progress.saw(state, entries)
    progress.follow(CallBegan("m", CallPurpose.WORK))
    said = " ".join(f"word{number}" for number in range(90)) + "\n\n- one\n- two"
    progress.follow(ReplyStreamed("m", said, len(said)))
    progress.follow(ReplyStreamed("m", '{"path": "x"}', len(said) + 13, spoken=False))
    text = drawn(progress, 60)
    assert "word89" in text and "  - one\n  - two\n" in text, "a list is no paragraph"
    assert "word0 " not in text and "path" not in text and "m is writing" in text
    assert len(text.splitlines()) == STREAM_LINES + 2, "the area is small"
    progress.follow(CallBegan("m", CallPurpose.WORK))
    assert "word" not in drawn(progress, 60), "the next reply begins anew"


def drawn(progress: LiveProgress, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(render_live_area(progress.glance, 1_700_000_075.0, width))
    return stream.getvalue()


def test_verbose_shows_the_diff_as_it_is_made_and_every_detail() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n" + "+more\n" * 50
    change = ChangeMade((Change("x.py", "modified", 51, 1, patch),))
    quiet, verbose = io.StringIO(), io.StringIO()
    for stream, options in ((quiet, ProgressOptions()), (verbose, ProgressOptions(verbose=True))):
        LiveProgress(Clock(), Console(file=stream, width=80), options).follow(change)
    assert quiet.getvalue() == ""
    assert (
        "      --- x.py (modified)\n      @@ -1 +1 @@\n      -old\n      +new\n" in verbose.getvalue()
        and verbose.getvalue().endswith("… 14 more lines\n")
    )


@pytest.mark.parametrize("width", [30, 44, 60, 80, 120])
def test_the_line_of_figures_fits_and_keeps_cost_and_time(width: int) -> None:
    progress = LiveProgress(Clock(), Console(file=io.StringIO(), width=width), ProgressOptions(spent=lambda task: "$12.3456"))
    for state, entries in told(COMMITS[:-2]):
        progress.saw(state, entries)
    line = describe_figures(progress.glance, progress.glance.since + 4_000, width)
    assert len(line) <= width and "$12.3456" in line and "1 h 06 min" in line
    assert ("prompt " in line) == (width >= 60)


def test_quiet_says_nothing() -> None:
    stream = io.StringIO()
    with LiveProgress(Clock(), Console(file=stream), ProgressOptions(quiet=True)) as progress:
        for state, entries in told():
            progress.saw(state, entries)
    assert stream.getvalue() == ""


def test_money_is_shown_as_it_is_spent_and_alerts_are_told_even_when_quiet() -> None:
    stream = io.StringIO()
    options = ProgressOptions(spent=lambda task: f"$1.23 of {task}")
    progress = LiveProgress(Clock(), Console(file=stream, width=100), options)
    for state, entries in told():
        progress.saw(state, entries)
    assert "· $1.23 of t-7f3a · " in drawn(progress, 100)
    quiet = io.StringIO()
    LiveProgress(Clock(), Console(file=quiet), ProgressOptions(quiet=True)).alert("80 % of the limit")
    assert quiet.getvalue() == "ALERT: 80 % of the limit\n"


def test_a_long_wait_shows_what_it_is_about() -> None:
    state, entries = told(COMMITS[:2])[-1]
    progress = LiveProgress(Clock(), Console(file=io.StringIO(), width=80))
    progress.saw(state, entries)
    progress.follow(CheckBegan(CheckScope.BASELINE))
    assert "running the checks before the first change" in drawn(progress, 80)


def test_once_the_checks_beside_a_call_have_ended_it_says_that_it_waits_for_the_model() -> None:
    clock = Clock()
    progress = LiveProgress(clock, Console(width=80))
    progress.follow(CallBegan("the model", CallPurpose.WORK))
    progress.follow(BaselineRunBegan("pytest", 1, 1))
    progress.follow(TestsFinished(3))
    assert describe_activity(progress.glance, clock.now()).startswith("pytest before the first change")
    progress.follow(CheckEnded(CheckScope.BASELINE))
    assert describe_activity(progress.glance, clock.now()) == "waiting for the model"


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
        assert told_so.wait(600)


def test_another_task_starts_with_its_own_figures() -> None:
    glance = RunProgress(0.0)
    for state, entries in told():
        glance, _ = update_run_progress(glance, state, entries)
    assert glance.tokens and glance.step == 4
    from dataclasses import replace

    other = replace(DONE, task=replace(DONE.task, id="t-2"))
    glance, _ = update_run_progress(glance, other, ())
    assert not glance.tokens and not glance.said and not glance.step


def test_a_stream_that_can_not_show_our_signs_gets_plain_ones() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console = open_console(stream, width=80)
    glance = RunProgress(0.0)
    for state, entries in told():
        glance, new = update_run_progress(glance, state, entries)
        for line in new:
            console.print(render_progress_line(line))
    console.print(render_live_area(glance, 75.0))
    console.print("漢")
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert re.search(r"1 - read cart.py\n", text) and re.search(r"3 \+ extract .* > kept", text, re.DOTALL)
    assert "2 < extract" in text and "\\u6f22" in text
    assert HOSTILE not in text


def test_durations_are_words() -> None:
    assert [format_duration(seconds) for seconds in (-1, 5, 75, 3_700)] == ["0 s", "5 s", "1 min 15 s", "1 h 01 min"]


def test_a_delay_is_told_at_once_with_what_matters_first() -> None:
    stream = io.StringIO()
    progress = LiveProgress(Clock(), Console(file=stream, width=80))
    progress.follow(ReplyStreamed("m", "ten letter", 10))
    progress.follow(CallEnded("m", ok=True))
    assert progress.glance.doing == "m is writing"
    progress.follow(CallDelayed("rate limited (429), retry 1 of 6 in 4 s; " + "the provider says a lot " * 9))
    assert stream.getvalue().startswith("  … rate limited (429), retry 1 of 6 in 4 s; the")
    assert "rate limited (429), retry 1 of 6 in 4 s" in drawn(progress, 80)
