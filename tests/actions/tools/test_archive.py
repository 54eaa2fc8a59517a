"""Archived outputs as the model reads and searches them: what is shown, how it says what is missing, and whose it refuses."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.actions.tools import read, search
from afresh.core import event as happened
from afresh.core.archived_block import BlockIndexLine, block_id_from_text
from afresh.core.change import Change
from afresh.core.project_facts import EmptyFactIndex, FactCorrection
from afresh.core.state import State
from afresh.core.step_history import Passage, PassageVoice
from afresh.core.tokens import estimate_tokens
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.fakes import DictFiles, TableSandbox
from support.sample_journals import append_events, create_task, make_block
from support.states import replace_in_parts

OUTPUT = "\n".join(
    [
        "$ pytest", "exit 1", *[f"tests/test_{number}.py ...." for number in range(200)],
        "_______________ test_parse_header _______________", "", "    def test_parse_header():", "        data = load('x')",
        ">       assert parse_header(data) == 3", "E       AssertionError: assert 2 == 3", "",
        "Traceback (most recent call last):", '  File "/project/store.py", line 3, in main', "    run()",
        '  File "/project/store.py", line 9, in run', "    raise KeyError('fooBar')", "KeyError: 'fooBar'",
        *[f"captured noise {number} of the other tests" for number in range(200)], "2 failed, 200 passed in 0.3s",
    ]
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> SqlJournal:
    return open_sqlite_journal(tmp_path / "afresh.db")


def kept(store: SqlJournal, task: str, *texts: str) -> State:
    return append_events(store, create_task(store, task), [happened.TaskClaimed("worker")], [make_block(text) for text in texts])


def recall(store: SqlJournal, state: State, id: str, about: str = "", **lines: int) -> str:
    context = ToolContext(state, DictFiles(), TableSandbox({}), store, None)  # type: ignore[arg-type]
    if about:
        return search.tool.run({"path": f"@{id}", "text": about}, context).text
    return read.tool.run({"path": f"@{id}", **lines}, context).text


def test_it_brings_the_test_that_was_asked_about_whole_with_line_numbers(store: SqlJournal):
    told = recall(store, kept(store, "one", OUTPUT), id=block_id_from_text(OUTPUT)[:8], about="why does parseHeader fail?")
    assert "207 >       assert parse_header(data) == 3" in told.replace("\n ", "\n") and "def test_parse_header" in told
    assert "E       AssertionError" in told and "noise 100 " not in told and told.count("\n") < 25
    assert re.search(r"^… lines 1-\d+$", told, re.MULTILINE)


def test_a_frame_of_a_traceback_comes_with_its_source_and_the_exception(store: SqlJournal):
    told = recall(store, kept(store, "one", OUTPUT), id=block_id_from_text(OUTPUT)[:8], about="fooBar")
    assert 'File "/project/store.py", line 9, in run' in told and "raise KeyError" in told and "KeyError: 'fooBar'" in told


def test_what_was_left_out_can_be_had_by_its_lines(store: SqlJournal):
    state = kept(store, "one", OUTPUT)
    first = recall(store, state, id=block_id_from_text(OUTPUT)[:8])
    assert "$ pytest" in first and "2 failed, 200 passed" in first
    left_out = re.search(r"(\d+) lines left out; `read` @\w{8} start=(\d+) lines=(\d+)", first)
    assert left_out
    more = recall(store, state, id=block_id_from_text(OUTPUT)[:8], start=int(left_out[2]), lines=int(left_out[3]))
    assert f"{left_out[2]} {OUTPUT.splitlines()[int(left_out[2]) - 1]}" in more.replace("\n ", "\n")


def test_going_on_by_lines_reaches_the_end(store: SqlJournal):
    state, seen, ask = kept(store, "one", OUTPUT), set[int](), (1, 500)
    for _ in range(30):
        told = recall(store, state, id=block_id_from_text(OUTPUT)[:8], start=ask[0], lines=ask[1])
        seen |= {int(number) for number in re.findall(r"^ *(\d+) ", told, re.MULTILINE)}
        if len(seen) == len(OUTPUT.splitlines()):
            break
        left_out = re.search(r"start=(\d+) lines=(\d+) shows", told)
        assert left_out
        ask = (int(left_out[1]), int(left_out[2]))
    assert seen == set(range(1, len(OUTPUT.splitlines()) + 1))


def test_a_short_block_comes_whole(store: SqlJournal):
    told = recall(store, kept(store, "one", "alpha\nbeta"), id=block_id_from_text("alpha\nbeta"))
    assert "all of 2 lines" in told and "left out" not in told


def test_words_that_stand_nowhere_are_said_to_stand_nowhere(store: SqlJournal):
    told = recall(store, kept(store, "one", OUTPUT), id=block_id_from_text(OUTPUT)[:8], about="zzzyx")
    assert "no line holds 'zzzyx'" in told and "2 failed" in told


@pytest.mark.parametrize("question", ["", "captured noise of the other tests"])
def test_it_never_shows_more_than_the_policy_allows(store: SqlJournal, question: str):
    told = recall(store, kept(store, "one", OUTPUT * 4), id=block_id_from_text(OUTPUT * 4), about=question)
    assert estimate_tokens(told) <= 1_200


def test_the_diff_of_a_changed_file_can_be_had_by_its_path(store: SqlJournal):
    change = Change("tests/A.py", "modified", patch="\n".join(f"-line {number}" for number in range(900)))
    context = ToolContext(kept(store, "one"), DictFiles(), TableSandbox({}), store, None, list_changes=lambda: [change])  # type: ignore[arg-type]
    told = read.tool.run({"path": "@changes/tests/A.py"}, context).text
    assert "-line 0\n" in told and "left out; `read` @changes/tests/A.py start=" in told


def test_an_id_as_a_heading_shows_it_is_enough(store: SqlJournal):
    state = kept(store, "one", OUTPUT)
    state = replace(
        state, memory=replace(state.memory, passages=(Passage(12, PassageVoice.OUTPUT, block_id_from_text(OUTPUT), len(OUTPUT)),))
    )
    context = ToolContext(state, DictFiles(), TableSandbox({}), store, None)  # type: ignore[arg-type]
    assert "$ pytest" in read.tool.run({"path": block_id_from_text(OUTPUT)[:8]}, context).text


def test_the_output_of_another_task_is_not_to_be_had(store: SqlJournal):
    kept(store, "one", OUTPUT)
    other = kept(store, "two", "mine")
    with pytest.raises(ModelMistake, match="this task has archived no output"):
        recall(store, other, id=block_id_from_text(OUTPUT)[:8])


def test_what_another_task_printed_first_can_be_had_by_the_task_that_saw_it_too(store: SqlJournal):
    kept(store, "one", OUTPUT)
    other = replace_in_parts(
        kept(store, "two", OUTPUT), index=(BlockIndexLine(block_id_from_text(OUTPUT), "run", "pytest", 9, "2 failed", 3),)
    )
    assert "$ pytest" in recall(store, other, id=block_id_from_text(OUTPUT)[:8])


def test_a_search_without_a_hit_says_so(store: SqlJournal):
    state = replace_in_parts(
        kept(store, "one", OUTPUT), index=(BlockIndexLine(block_id_from_text(OUTPUT), "run", "pytest", 9, "2 failed", 3),)
    )
    context = ToolContext(state, DictFiles(), TableSandbox({}), store, None)  # type: ignore[arg-type]
    told = search.tool.run({"path": "@index", "text": "value_10000"}, context).text
    assert told.startswith("[@index: no line holds 'value_10000'; it lists outputs and does not search inside them")
    assert "run pytest" in search.tool.run({"path": "@index", "text": "pytest"}, context).text
    one = {"path": f"@{block_id_from_text(OUTPUT)[:8]}"}
    assert (
        "no line holds 'pytest_elsewhere'; lines with a part of it:"
        in search.tool.run({**one, "text": "pytest_elsewhere"}, context).text
    )


@pytest.mark.parametrize("id", ["deadbeef", "deadbeefdeadbeefdeadbeefdeadbeef"])
def test_an_unknown_id_says_where_ids_stand(store: SqlJournal, id: str):
    with pytest.raises(ModelMistake, match=r"archived no output .* Archived outputs"):
        recall(store, kept(store, "one"), id=id)


@pytest.mark.parametrize("path", ["@abc", "step 4", "the pytest output", "@%%%%%%%%", "facade"])
def test_what_is_neither_a_file_nor_an_id_is_a_missing_file(store: SqlJournal, path: str):
    context = ToolContext(kept(store, "one"), DictFiles(), TableSandbox({}), store, None)  # type: ignore[arg-type]
    with pytest.raises(ModelMistake, match="no such file"):
        read.tool.run({"path": path}, context)


def test_a_prefix_that_fits_several_blocks_names_them(store: SqlJournal):
    twins = [BlockIndexLine("abcdef00" + sign * 24, "run", "x", 9, "", 1) for sign in "12"]
    with pytest.raises(ModelMistake, match=r"fits 2 outputs .abcdef001111, abcdef002222"):
        recall(store, replace_in_parts(kept(store, "one"), index=tuple(twins)), id="abcdef00")


def test_lines_that_are_not_there_are_refused(store: SqlJournal):
    with pytest.raises(ModelMistake, match="has lines 1-"):
        recall(store, kept(store, "one", OUTPUT), id=block_id_from_text(OUTPUT)[:8], start=700)


def test_a_file_whose_name_looks_like_an_id_is_read_as_a_file(store: SqlJournal):
    files = DictFiles(**{"deadbeef01": "x = 1\n"})
    context = ToolContext(kept(store, "one"), files, TableSandbox({}), store, None)  # type: ignore[arg-type]
    assert read.tool.run({"path": "deadbeef01"}, context).text == "deadbeef01: lines 1-1 of 1"


def test_a_line_that_a_person_wants_forgotten_is_not_recalled(store: SqlJournal):
    class Edited(EmptyFactIndex):
        def edits(self) -> tuple[FactCorrection, ...]:
            return (FactCorrection("m1", "captured noise 7 of the other tests"),)

    state = kept(store, "one", OUTPUT)
    context = ToolContext(state, DictFiles(), TableSandbox({}), store, None, 8_000, facts=Edited())  # type: ignore[arg-type]
    told = read.tool.run({"path": f"@{block_id_from_text(OUTPUT)[:8]}", "start": 215, "lines": 20}, context).text
    assert "captured noise 8 of" in told and "captured noise 7 of" not in told
