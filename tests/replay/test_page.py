"""The page holds what it says, and nothing of a session can become part of it."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afresh.replay import html_page as pages
from afresh.replay.html_page import ContextSampler, render_page
from afresh.replay.measure_run import measure_run
from afresh.replay.report import ReplayReport, RunMeasurement, drop_texts, estimate_input_cost, sum_steps
from afresh.replay.run import RecordedRun, RecordedStep
from afresh.spending.price_list import Price

READ = RecordedStep("I look.", "bash", "cat lib/core.py", "def load_all(path):\n    return [read_one(path)]")
EDIT = RecordedStep("I mend.", "bash", "edit load_all\n    return [read_one(path)]", "done")
RUN = RecordedRun("session-1", "Claude Code", "some-model", "Mend it.", (READ, EDIT, EDIT), path="a.jsonl")
HOSTILE = "</script><script>document.title='taken'</script><!--<img src=x onerror=document.title='taken'>{{script}}\u202e"


def made(
    *runs: RecordedRun, context: str = "## Task\nMend it.\n\n## Files\nlib/core.py\n"
) -> tuple[ReplayReport, ContextSampler]:
    album, found = ContextSampler(), []
    for index, run in enumerate(runs):
        moments = list(measure_run(run, lambda plain, *_: [context] * len(plain["steps"]), 4000, 4000, len))
        for moment in moments:
            album.offer(index, moment)
        price = Price(3.0, 0.3, "as given")
        slimmed = tuple(map(drop_texts, moments))
        found.append(
            RunMeasurement(replace(run, steps=()), slimmed, sum_steps(moments), price, estimate_input_cost(moments, price))
        )
    return ReplayReport(4000, 12_000, tuple(found), ("b.jsonl: line 3 is no JSON",)), album


def data(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def context_of(payload: dict[str, Any], run: int, step: int) -> str:
    ranges: Iterable[int] = payload["runs"][run]["shown"][str(step)]["context"]
    numbers = list(ranges)
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return "\n".join(line for start, length in pairs for line in payload["lines"][start : start + length])


def test_figures_needs_and_contexts_are_on_the_page():
    payload = data(render_page(*made(RUN)))
    run = payload["runs"][0]
    assert (run["id"], run["theirs"], payload["total"]["steps"]) == ("session-1", [8, 79, 133], 3)
    assert [need[:2] for need in run["needs"]["2"]] == [
        ["line", "return [read_one(path)]"], ["name", "load_all"], ["name", "read_one"]
    ]  # fmt: skip
    assert {tuple(need[2:]) for need in run["needs"]["2"]} == {(0, 0, 1, payload["parts"].index("an output"))}
    assert context_of(payload, 0, 2) == "## Task\nMend it.\n\n## Files\nlib/core.py\n"
    assert run["shown"]["2"]["action"] == EDIT.action
    assert payload["problems"] == ["b.jsonl: line 3 is no JSON"]
    assert payload["stored"] == 3


def test_the_same_report_gives_the_same_bytes():
    assert render_page(*made(RUN)) == render_page(*made(RUN))


def test_a_page_needs_nothing_from_outside():
    text = render_page(*made(RUN))
    assert not re.findall(r"https?:|//\w+\.|@import|url\(", text)


def test_only_our_own_script_and_style_may_run():
    text = render_page(*made(RUN))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert (len(scripts), len(styles)) == (1, 1)
    for body in (*scripts, *styles):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in text
    assert "innerHTML" not in scripts[0]
    assert "default-src 'none'" in text


def hostile_run() -> RecordedRun:
    step = RecordedStep(HOSTILE, HOSTILE, f"some_name {HOSTILE}", f"some_name {HOSTILE}", HOSTILE)
    return RecordedRun(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (step, step), path=HOSTILE)


def test_session_text_cannot_leave_its_place():
    text = render_page(*made(hostile_run(), context=HOSTILE))
    body = text.split('id="data">')[1].split("</script>")[0]
    assert "<" not in body
    assert len(re.findall(r"<script", text)) == 2
    payload = data(text)
    assert payload["runs"][0]["shown"]["1"]["action"].startswith("some_name </script><script>")
    assert "\u202e" not in text


def test_the_title_is_ours_and_escaped():
    assert "<title>1 session, 3 calls: 220 tokens against 117</title>" in render_page(*made(RUN))


def long_run(steps: int) -> RecordedRun:
    return replace(
        RUN, steps=tuple(replace(EDIT, action=f"edit file_{n % 50}.py", observation=f"value_{n}") for n in range(steps))
    )


def test_a_large_page_stays_bounded_and_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch):
    whole = len(render_page(*made(long_run(300)))) - len(render_page(*made(RUN)))
    monkeypatch.setattr(pages, "MAX_STEP_FIGURES_CHARACTERS", whole)
    monkeypatch.setattr(pages, "MAX_CONTEXTS_CHARACTERS", 2_000)
    text = render_page(*made(long_run(300), long_run(300), long_run(300), context="\n".join(f"line {n}" for n in range(100))))
    payload = data(text)
    assert len(text) < len(render_page(*made(RUN))) + whole + 2 * 2_000
    assert payload["stored"] < payload["total"]["steps"] == 900
    assert ["theirs" in run for run in payload["runs"]] == [True, True, False]


def test_shared_lines_are_stored_once():
    payload = data(render_page(*made(long_run(100), context="\n".join(f"a line that repeats {n}" for n in range(400)))))
    assert (payload["stored"], len(payload["lines"])) == (100, 400)
    assert payload["runs"][0]["shown"]["7"]["context"] == [0, 400]


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if not found:
        pytest.skip("no Chromium on this machine to draw the page with")
    return found


def drawn(browser: str, path: Path) -> str:
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout


def test_a_browser_draws_it(browser: str, tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text(render_page(*made(RUN, replace(RUN, id="session-2"))), "utf-8")
    shown = drawn(browser, path)
    assert "fewer tokens for the same steps" in shown
    assert 'aria-label="tokens sent before each step"' in shown
    assert '<mark class="lost">load_all</mark>' in shown
    assert "last seen 1 step before, in an output" in shown
    assert "b.jsonl: line 3 is no JSON" in shown


def test_hostile_text_does_not_run_in_a_browser(browser: str, tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text(render_page(*made(hostile_run(), context=HOSTILE)), "utf-8")
    shown = drawn(browser, path)
    assert "<title>taken" not in shown
    assert "<img" not in shown
    assert "What afresh would have sent" in shown
