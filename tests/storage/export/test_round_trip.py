"""What goes out comes back the same: exports of generated stores, imported, gone on with, and exported again."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from projects import Projects, content, kept

from afresh.app.project import Project
from afresh.app.stored_state.export_import import export_project_tasks, import_project_tasks
from afresh.core.event import QuestionAnswered
from afresh.core.fact import Fact, FactKind, FactNoted
from afresh.core.reducer import fold_entries
from afresh.core.task import TaskStatus
from afresh.errors import BadInput
from afresh.storage.export.read_export import JournalRelation
from support.sample_journals import (
    append_events,
    append_step,
    create_task,
    end_task,
    make_action_events,
    make_block,
    make_call_events,
)


def told(project: Project, steps: dict[str, int]) -> Project:
    """Tasks with so many steps each; every second one waits for the one before it, every third rests."""
    before = ""
    for place, (task, count) in enumerate(steps.items()):
        state = create_task(project.store, task, priority=place % 3, needs=(before,) if before and place % 2 else ())
        for _ in range(count):
            state = append_step(project.store, state)
        if place % 3 == 2:
            end_task(project.store, state, TaskStatus.BLOCKED)
        before = task
    return project


def test_an_export_imported_into_an_empty_store_gives_back_everything_and_exports_to_the_same_bytes(projects: Projects):
    here, there = told(projects.fresh(), {"one": 3, "two": 0, "three": 5}), projects.fresh()
    here.notebook.append([FactNoted(Fact(FactKind.NOTE, "a.py", "says one"), "person")])
    first, second = projects.place(), projects.place()
    export_project_tasks(here, first)
    arrivals = import_project_tasks(there, first)
    assert [(one.task, one.relation) for one in arrivals] == [(task, JournalRelation.NEW) for task in ("", "one", "two", "three")]
    assert kept(there) == kept(here)
    assert [ticket.task for ticket in there.queue.tickets()] == ["one", "two", "three"]
    assert there.store.read(there.store.load("three").memory.index[-1].block).startswith("raw output of three in step 5")
    assert there.store.find(there.store.load("one").memory.index[0].block[:8], "one") and not there.store.find("000000", "one")
    assert [entry.body for entry in there.notebook.entries()] == [entry.body for entry in here.notebook.entries()]
    export_project_tasks(there, second)
    assert content(second) == content(first)


def test_a_second_export_writes_nothing_and_a_longer_journal_only_adds_lines(projects: Projects):
    here, folder = told(projects.fresh(), {"one": 2, "two": 1}), projects.place()
    export_project_tasks(here, folder)
    before = content(folder)
    assert not export_project_tasks(here, folder).written and content(folder) == before
    append_step(here.store, here.store.load("one"))
    assert set(export_project_tasks(here, folder).written) == {"blocks/one.jsonl", "journals/one.jsonl", "queue.json"}
    after = content(folder)
    for name in ("blocks/one.jsonl", "journals/one.jsonl"):
        assert after[name].startswith(before[name]) and len(after[name]) > len(before[name])
    assert after["journals/two.jsonl"] == before["journals/two.jsonl"]


def test_every_line_is_plain_json_with_sorted_keys_and_readable_text(projects: Projects):
    here, folder = told(projects.fresh(), {"one": 2}), projects.place()
    export_project_tasks(here, folder)
    for line in (folder / "journals/one.jsonl").read_text("utf-8").splitlines():
        plain = json.loads(line)
        assert list(plain) == ["entry", "hash"] and list(plain["entry"]) == ["at", "data", "kind", "seq", "task"]
    assert "ünïcode ✓" in (folder / "queue.json").read_text("utf-8")
    texts = [json.loads(line)["text"] for line in (folder / "blocks/one.jsonl").read_text("utf-8").splitlines()]
    assert [text.split("\n")[0] for text in texts] == [f"raw output of one in step {step}" for step in (1, 2)]


def test_a_second_import_changes_nothing(projects: Projects):
    here, there, folder = told(projects.fresh(), {"one": 2, "two": 2}), projects.fresh(), projects.place()
    export_project_tasks(here, folder)
    import_project_tasks(there, folder)
    before, log = kept(there), there.storage.journal._database.path.with_name("afresh.db-wal")  # pyright: ignore
    size = log.stat().st_size
    arrivals = import_project_tasks(there, folder)
    assert {one.relation for one in arrivals} == {JournalRelation.SAME} and not any(one.added for one in arrivals)
    assert kept(there) == before and log.stat().st_size == size


def test_a_prefix_is_extended_and_a_longer_journal_here_is_left(projects: Projects):
    here, there, folder = told(projects.fresh(), {"one": 2}), projects.fresh(), projects.place()
    export_project_tasks(here, folder)
    import_project_tasks(there, folder)
    append_step(there.store, there.store.load("one"))
    (arrival,) = import_project_tasks(there, folder)
    assert arrival.relation is JournalRelation.BEHIND and not arrival.refused and there.store.load("one").work.step == 3
    export_project_tasks(there, folder)
    (arrival,) = import_project_tasks(here, folder)
    assert arrival.relation is JournalRelation.LONGER and (arrival.here, arrival.entries) == (13, 19)
    assert kept(here) == kept(there)


def test_diverged_journals_are_refused_by_name_and_entry_and_the_others_come_in(projects: Projects):
    here, there, folder = told(projects.fresh(), {"one": 2}), projects.fresh(), projects.place()
    export_project_tasks(here, folder)
    import_project_tasks(there, folder)
    append_events(there.store, there.store.load("one"), [QuestionAnswered("there")])
    append_step(here.store, here.store.load("one"))
    create_task(here.store, "two")
    export_project_tasks(here, folder)
    before = there.store.load("one")
    one, two = import_project_tasks(there, folder)
    assert (one.task, one.relation, one.parting, one.refused) == ("one", JournalRelation.DIVERGED, 14, True)
    assert (
        two.added and there.store.load("one") == before and there.store.load("two").task.goal == here.store.load("two").task.goal
    )


def test_what_is_new_goes_to_the_end_of_the_queue_in_its_order(projects: Projects):
    here, folder = told(projects.fresh(), {"one": 0, "two": 0, "three": 0}), projects.place()
    export_project_tasks(here, folder)
    busy = told(projects.fresh(), {"mine": 0, "own": 0})
    import_project_tasks(busy, folder)
    assert [ticket.task for ticket in busy.queue.tickets()] == ["mine", "own", "one", "two", "three"]


def test_some_tasks_go_with_what_they_wait_for_and_the_rest_of_an_export_stays(projects: Projects):
    here, folder = told(projects.fresh(), {"one": 1, "two": 1, "three": 1}), projects.place()
    assert export_project_tasks(here, folder, ["two"]).tasks == 2
    other = told(projects.fresh(), {"elsewhere": 1})
    done = export_project_tasks(other, folder)
    assert (done.tasks, done.kept) == (1, 2)
    there = projects.fresh()
    assert {one.task for one in import_project_tasks(there, folder)} == {"one", "two", "elsewhere"}


def test_a_block_of_two_tasks_belongs_again_to_the_one_that_had_it_first(projects: Projects):
    here, there, folder = projects.fresh(), projects.fresh(), projects.place()
    early, late = create_task(here.store, "late"), create_task(here.store, "early")
    same = make_block("printed by both\n" * 20)
    append_events(here.store, late, [*make_call_events(1), *make_action_events(1, same)], [same], at=5.0)
    append_events(here.store, early, [*make_call_events(1), *make_action_events(1, same)], [same], at=9.0)
    assert here.store.find(same.id, "early") and not here.store.find(same.id, "late")
    export_project_tasks(here, folder)
    import_project_tasks(there, folder)
    assert there.store.find(same.id, "early") and not there.store.find(same.id, "late")
    assert there.store.read(same.id) == same.text


MOVES = st.lists(
    st.tuples(st.sampled_from(["create", "step", "half", "end", "export", "import", "import"]), st.booleans(), st.integers(0, 3)),
    min_size=4,
    max_size=14,
)


@given(moves=MOVES)
@settings(max_examples=settings.default.max_examples // 2)
def test_whatever_is_done_on_two_machines_no_store_loses_an_entry_and_each_stays_whole(projects: Projects, moves):
    pair, folder = (projects.fresh(), projects.fresh()), projects.place()
    for kind, side, number in moves:
        project, before = pair[side], [kept(one)[1] for one in pair]
        act(project, kind, f"t{number}", folder)
        for one, was in zip(pair, before, strict=True):
            _, now, states = kept(one)
            assert all(now[task][: len(hashes)] == hashes for task, hashes in was.items())
            assert all(fold_entries(None, one.store.journal(task)) == state for task, state in states.items())


def act(project: Project, kind: str, task: str, folder) -> None:
    known = {ticket.task for ticket in project.queue.tickets()}
    if kind == "create" and task not in known:
        create_task(project.store, task)
    elif kind in ("step", "half", "end") and task in known:
        state = project.store.load(task)
        if kind == "step" and not state.work.pending:
            append_step(project.store, state)
        elif kind == "half" and not state.work.pending:
            append_events(project.store, state, make_call_events(state.work.step + 1), at=2.0)
        elif kind == "end":
            end_task(project.store, state, TaskStatus.BLOCKED)
    elif kind == "export":
        try:
            export_project_tasks(project, folder)
        except BadInput as refused:
            assert "that this project does not have" in str(refused)
    elif kind == "import" and (folder / "queue.json").exists():
        import_project_tasks(project, folder)


def test_an_export_never_makes_a_journal_shorter(projects: Projects):
    here, there, folder = told(projects.fresh(), {"one": 2}), projects.fresh(), projects.place()
    export_project_tasks(here, folder)
    import_project_tasks(there, folder)
    append_step(here.store, here.store.load("one"))
    export_project_tasks(here, folder)
    before = content(folder)
    with pytest.raises(BadInput, match=r"contains entries of one that this project does not have \(up to 19\)"):
        export_project_tasks(there, folder)
    assert content(folder) == before
