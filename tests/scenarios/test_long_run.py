"""More than a hundred steps: the window after a crash is the one before it, and every name can be accounted for."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from long_run import Forgetful, agent, ordered, run_until

from afresh.actions.tools import read, search
from afresh.app.inspect.inspect_calls import explain_name_in_call, load_call, verify_calls
from afresh.cli.render.context import build_name_explanation
from afresh.cli.render.draw_page import draw_blocks
from afresh.cli.render.widgets import draw_lines
from afresh.core.event import CallRequested
from afresh.core.prompt import Request
from afresh.core.state import State
from afresh.core.step_history import PassageVoice
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_journal

STEPS = 106


@pytest.fixture(scope="module")
def lived(made_once: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory):
    """The database of a task that died before its last call, and the requests that it made."""
    whole, requests = made_once("long-run", live)
    path = tmp_path_factory.mktemp("long") / "afresh.db"
    path.write_bytes(whole)
    return path, requests


def live(folder: Path) -> tuple[bytes, list[Request]]:
    store = open_sqlite_journal(folder / "afresh.db")
    ordered(store)
    requests = run_until(store, STEPS)
    store.close()
    return (folder / "afresh.db").read_bytes(), requests


@pytest.fixture
def project(lived) -> Any:
    return SimpleNamespace(store=open_sqlite_journal(lived[0]))


def state(path: Path) -> State:
    return open_sqlite_journal(path).load("t")


def rendered(told) -> str:
    return draw_lines(draw_blocks(build_name_explanation(told).blocks, 140), colour=False)


def test_the_window_after_a_crash_is_the_window_before_it(lived, tmp_path: Path):
    path, requests = lived
    assert len(requests) == STEPS
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    store = Forgetful(Database(copy))
    again = run_until(store, STEPS)
    assert [request.text for request in again] == [requests[-1].text]
    before = state(path)
    known = {one.block for one in before.memory.passages} | {seen.block for seen in before.memory.recent[-1].observations}
    assert set(store.blocks) <= known and len(store.blocks) <= len(before.memory.passages) + len(
        before.memory.recent[-1].observations
    )
    assert before.memory.forgotten > 20, "memory is bounded, so the number of blocks does not grow with the steps"


@pytest.mark.promise('"why did it do that?"')
def test_every_call_is_rebuilt_to_the_byte(project):
    calls = verify_calls(project, "t")
    assert len(calls) == STEPS - 1 and all(one.same for one in calls)


def test_each_heading_of_the_work_so_far_can_be_recalled(lived, project):
    audits = [e.event.audit for e in project.store.journal("t") if isinstance(e.event, CallRequested)]
    works = [project.store.read(ref.block) for one in audits for ref in one.sections if ref.name == "work"]
    headings = {line for work in works for line in work.splitlines() if re.match(r"\d+= [0-9a-f]{8}", line)}
    runtime, now = agent(project.store, 0)[0], state(lived[0])
    assert headings
    for heading in headings:
        told = read.tool.run({"path": heading.split()[1]}, runtime.tool_context(now)).text
        step, _ = heading.split("=")
        assert f"python job_{step}.py" in told


def test_old_outputs_can_still_be_recalled_and_the_footer_counts_all_of_them(lived, project):
    now = state(lived[0])
    blocks = [e.event for e in project.store.journal("t") if type(e.event).__name__ == "OutputDigested"]
    outputs = {one.block for event in blocks for one in event.passages if one.voice is PassageVoice.OUTPUT}
    assert (
        now.memory.archived == len(outputs) == STEPS - 1
        and f"{STEPS - 2} archived outputs" in load_call(project, "t", None).sections[-1].text
    )
    context = agent(project.store, 0)[0].tool_context(now)
    first = blocks[0].index[0].block
    assert first not in {one.block for one in now.memory.passages} and first not in {line.block for line in now.memory.index}
    assert "record_1_30" in search.tool.run({"path": first[:8], "text": "record_1_30"}, context).text
    pages = [
        read.tool.run({"path": "@index", "start": at, "lines": 10}, context).text for at in range(1, now.memory.archived + 1, 10)
    ]
    listed = [line for page in pages for line in page.splitlines()]
    assert len([line for line in listed if " step " in line]) == now.memory.archived, "what the footer counts is listed"
    found = search.tool.run({"path": "@index", "text": "job_7.py"}, context).text
    assert "job_7.py" in found


def test_why_tells_where_a_name_stands_and_where_it_came_from(project):
    told = explain_name_in_call(project, "t", f"record_{STEPS - 2}_1")
    assert told.step == STEPS - 1 and told.places
    assert {place.section for place in told.places} & {"last", "work"}
    shown = load_call(project, "t", None)
    for place in told.places:
        text = next(section.text for section in shown.sections if section.name == place.section)
        assert text.splitlines()[place.line - 1].strip() == place.text
    assert "is in the call" in rendered(told)
    old = explain_name_in_call(project, "t", "prints record_100_1", 105)
    assert [place.section for place in old.places] == ["known"] and old.places[0].origin == "a note, or what an output said"


def test_why_tells_when_it_was_forgotten_and_what_brings_it_back(lived, project):
    told = explain_name_in_call(project, "t", "record_5_33")
    assert not told.places and "no longer in memory: forgotten after step" in told.reason
    assert told.copies[0].step == 5 and 5 < told.copies[0].forgotten < STEPS
    context = agent(project.store, 0)[0].tool_context(state(lived[0]))
    assert "record_5_33" in search.tool.run({"path": told.copies[0].block[:8], "text": told.name}, context).text
    assert f'search(text="record_5_33", path="@{told.copies[0].block[:8]}")' in rendered(told)


def test_why_says_that_a_name_was_never_seen(project):
    told = explain_name_in_call(project, "t", "no_such_name")
    assert not told.places and not told.copies and "this task had not seen it" in told.reason
    early = explain_name_in_call(project, "t", "record_50_1", 40)
    assert not early.copies and "this task had not seen it before the call" in early.reason
