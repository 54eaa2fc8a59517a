"""`afresh replay` from the command line: what it reads, says and writes, and what it must not."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from afresh.app.inspect import replay_sessions as replays
from afresh.app.inspect.replay_sessions import (
    LONG_TEXT_CHARACTERS,
    ReplayProgress,
    ReplayRequest,
    count_ceiling_tokens,
    replay_sessions,
)
from afresh.cli import main
from afresh.cli.render.replay import show_progress_bar
from afresh.core.tokens import EstimatingCounter
from afresh.errors import BadInput, OverCeiling
from afresh.replay.measure_run import CountTokens

OURS = replays.load_replay_builder
RUNS = Path(__file__).parents[1] / "replay" / "runs"
TASK = "Mend the parser."
READ = {"thought": "I look.", "action": {"tool": "bash", "text": "cat lib/core.py"}, "observation": "def load_all(path): ..."}
EDIT = {"thought": "I mend.", "action": {"tool": "bash", "text": "sed s/x/y/ lib/core.py # load_all"}, "observation": "x" * 900}


def tail(trajectory: Mapping[str, Any], budget: int, count: CountTokens) -> Iterator[str]:
    """A builder that keeps the task and the step before."""
    last = ""
    for step in trajectory["steps"]:
        yield f"## Task\n{trajectory['task']}\n\n## Last step\n{last}"
        last = f"{step['action']['text']}\n{step['observation']}"


@pytest.fixture(autouse=True)
def builder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replays, "load_replay_builder", lambda rates: tail)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def session(path: Path, *steps: Mapping[str, Any], **fields: Any) -> Path:
    run = {"id": path.stem, "agent": "Claude Code", "model": "my-own-model", "task": TASK, "steps": list(steps), **fields}
    with path.open("a") as file:
        file.write(json.dumps(run) + "\n")
    return path


def said(capsys: pytest.CaptureFixture[str], *args: str | Path) -> str:
    assert main.run_command_line(["replay", *map(str, args)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return " ".join(out.split())


def test_a_summary_tells_tokens_and_recall(here: Path, capsys: pytest.CaptureFixture[str]):
    shown = said(capsys, session(here / "one.jsonl", READ, EDIT, EDIT))
    assert re.search(r"one Claude\S* (?:\S+ )*3 \d+ → \d+ ", shown)
    assert re.search(r"sent [\d,]+ → [\d,]+ in 3 calls: \d+% fewer", shown)
    assert re.search(r"paid [\d,]+ → [\d,]+ if what was sent before is cached: \d+% (fewer|more)", shown)
    assert (
        "names 5 of the 5 needed by the next action were in the prompt, 100%; of the latest steps in as many tokens 100%" in shown
    )
    assert "No step would have missed anything." in shown
    assert "--html writes a page" in shown


def test_something_missing_is_told_with_its_age_and_place(here: Path, capsys: pytest.CaptureFixture[str]):
    other = {"thought": "", "action": {"tool": "bash", "text": "ls"}, "observation": "nothing"}
    shown = said(capsys, session(here / "one.jsonl", READ, other, other, EDIT))
    assert "1 step would have missed something" in shown
    assert "step 4 needed 'lib/core.py', last seen 3 steps before, in an action, and 1 more" in shown


def test_an_agent_that_shortened_its_history_is_not_taken_for_one_that_kept_it(here: Path, capsys: pytest.CaptureFixture[str]):
    many, few, fewest = ([{**EDIT, "tokens": tokens}] * 10 for tokens in (50_000, 400, 20))
    shown = said(capsys, session(here / "many.jsonl", *many))
    assert "reported 500,000 by the provider" in shown
    assert "shortened" not in shown
    assert re.search(
        r"so the agent compacted it; compared with that, \d+% fewer", said(capsys, session(here / "few.jsonl", *few))
    )
    assert "compared with that, no saving" in said(capsys, session(here / "fewest.jsonl", *fewest))


def test_the_session_that_comes_with_it_is_read(here: Path, capsys: pytest.CaptureFixture[str]):
    shown = said(capsys, "--sample")
    assert "in 48 calls" in shown


def test_with_the_prompts_of_live_work_the_sample_is_cheaper(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replays, "load_replay_builder", OURS)
    report = replay_sessions([replays.find_sample_session()], ReplayRequest())
    assert (report.total.steps, report.total.over) == (57, 0)
    assert 4_000 < report.total.peak_ours <= 12_000 and report.paid.saving > 0.1


def test_json_is_the_same_twice_and_holds_every_step(here: Path, capsys: pytest.CaptureFixture[str]):
    path = session(here / "one.jsonl", READ, EDIT)
    texts = []
    for _ in range(2):
        assert main.run_command_line(["replay", str(path), "--json"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    found = json.loads(texts[0])
    assert [step["step"] for step in found["runs"][0]["steps"]] == [1, 2]
    assert {need["text"] for need in found["runs"][0]["steps"][1]["needs"]} == {"lib/core.py", "load_all"}
    assert found["page"] is None


def test_an_unknown_model_has_no_price_until_one_is_given(here: Path, capsys: pytest.CaptureFixture[str]):
    path = session(here / "one.jsonl", READ, EDIT)
    assert "--price" in said(capsys, path)
    shown = said(capsys, path, "--price", "1000")
    assert "nothing cached $" in shown
    assert "both cached $" in shown
    assert "--price IN" not in shown


def test_money_is_never_called_saved_where_it_is_not(here: Path, capsys: pytest.CaptureFixture[str]):
    shown = said(capsys, session(here / "one.jsonl", READ, READ), "--price", "100000")
    assert re.search(r"both cached \$[\d.]+ → \$[\d.]+ for input: \$[\d.]+ more", shown)
    assert "saved" not in shown
    assert "no saving" in shown


def test_a_broken_file_is_named_and_the_rest_is_read(here: Path, capsys: pytest.CaptureFixture[str]):
    good = session(here / "good.jsonl", READ, EDIT)
    with good.open("a") as file:
        file.write('{"id": "half a line", "ste')
    (here / "foreign.txt").write_text("not a session\n")
    shown = said(capsys, "good.jsonl", "foreign.txt", "nowhere.jsonl")
    problems = shown.split("Skipped or unreadable")[1]
    assert "foreign.txt" in problems
    assert "nowhere.jsonl does not exist" in problems
    assert "good.jsonl" in problems


def test_nothing_readable_is_an_error_that_names_the_formats(here: Path, capsys: pytest.CaptureFixture[str]):
    (here / "foreign.txt").write_text("not a session\n")
    assert main.run_command_line(["replay", "foreign.txt", "--html"]) == 2
    told = capsys.readouterr().err
    assert "foreign.txt" in told
    assert "Claude Code" in told
    assert not list(here.glob("*.html"))


def test_no_file_at_all_is_wrong_usage(here: Path, capsys: pytest.CaptureFixture[str]):
    assert main.run_command_line(["replay"]) == 2
    assert "--sample" in capsys.readouterr().err


def test_a_folder_is_read_whole(here: Path, capsys: pytest.CaptureFixture[str]):
    (here / "runs").mkdir()
    session(here / "runs" / "a.jsonl", READ, EDIT)
    session(here / "runs" / "b.jsonl", READ, EDIT, EDIT)
    assert "in 5 calls" in said(capsys, here / "runs")


@pytest.mark.parametrize("path", sorted(RUNS.glob("*")), ids=lambda path: path.name)
def test_a_recording_of_every_kind_becomes_a_report_and_a_page(path: Path, here: Path, capsys: pytest.CaptureFixture[str]):
    assert main.run_command_line(["replay", str(path), "--json", "--html", "--price", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"]
    assert all(run["steps"] and run["money"] for run in found["runs"])
    assert (here / found["page"]).stat().st_size > 20_000


def test_the_page_goes_where_it_is_asked_for_and_may_be_made_again(here: Path, capsys: pytest.CaptureFixture[str]):
    path = session(here / "one.jsonl", READ, EDIT)
    for _ in range(2):
        assert "Page: out.html" in said(capsys, path, "--html", "out.html")
    assert "one.jsonl" in (here / "out.html").read_text("utf-8")


def test_a_session_after_html_is_read_and_never_written_over(here: Path, capsys: pytest.CaptureFixture[str]):
    one, other = session(here / "one.jsonl", READ, EDIT), session(here / "other.jsonl", READ, EDIT)
    before = one.read_bytes()
    assert "in 4 calls" in said(capsys, "--html", one, other)
    assert one.read_bytes() == before
    assert (here / "afresh-replay.html").exists()


def test_a_page_of_somebody_else_is_not_written_over(here: Path, capsys: pytest.CaptureFixture[str]):
    path = session(here / "one.jsonl", READ, EDIT)
    (here / "index.html").write_text("<h1>mine</h1>")
    assert main.run_command_line(["replay", str(path), "--html", "index.html"]) == 2
    assert "not written by 'afresh replay'" in capsys.readouterr().err
    assert (here / "index.html").read_text() == "<h1>mine</h1>"


def test_a_page_that_cannot_be_written_is_told(here: Path, capsys: pytest.CaptureFixture[str]):
    path = session(here / "one.jsonl", READ, EDIT)
    assert main.run_command_line(["replay", str(path), "--html", "no/such/place.html"]) == 2
    assert "can't be written" in capsys.readouterr().err


def test_a_run_that_cannot_fit_is_named_and_the_others_are_measured(here: Path, monkeypatch: pytest.MonkeyPatch):
    def strict(trajectory: Mapping[str, Any], budget: int, count: CountTokens) -> Iterator[str]:
        if trajectory["id"] == "big":
            raise OverCeiling("the task alone is larger")
        yield from tail(trajectory, budget, count)

    monkeypatch.setattr(replays, "load_replay_builder", lambda rates: strict)
    files = [session(here / f"{name}.jsonl", READ, EDIT) for name in ("big", "small")]
    report = replay_sessions(files, ReplayRequest())
    assert [one.run.id for one in report.runs] == ["small"]
    assert "the task alone is larger" in report.problems[0]
    with pytest.raises(BadInput, match="the task alone is larger"):
        replay_sessions(files[:1], ReplayRequest())


def test_progress_grows_to_the_end(here: Path):
    seen: list[ReplayProgress] = []
    files = [session(here / f"{name}.jsonl", *[EDIT] * 20) for name in ("a", "b")]
    replay_sessions(files, ReplayRequest(), seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.1
    assert 0.9 < shares[-1] <= 1
    assert seen[-1].words == "b.jsonl: step 20 of 20"


@pytest.mark.parametrize("terminal", [True, False])
def test_the_bar_is_drawn_only_on_a_terminal(terminal: bool, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    with show_progress_bar(Console(file=stream, force_terminal=terminal, width=90)) as watch:
        watch(ReplayProgress(0.5, "a.jsonl: step 1 of 2"))
    assert ("50 %" in stream.getvalue()) is terminal
    assert bool(stream.getvalue()) is terminal


@pytest.mark.parametrize("length", [10, LONG_TEXT_CHARACTERS - 1, LONG_TEXT_CHARACTERS, 3 * LONG_TEXT_CHARACTERS])
def test_tokens_are_counted_as_the_ceiling_counts_them(length: int):
    text = ("def load_all(path): return 42  # ünïcode\n" * length)[:length]
    assert count_ceiling_tokens(text) == EstimatingCounter()(text)
