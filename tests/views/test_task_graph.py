"""What waits for what, as text, Mermaid and data."""

import json

from afresh.core.task import TaskStatus
from afresh.views.task_graph import draw_graph_lines, graph_to_json, read_task_graph, render_mermaid
from support.fakes import FakeClock, MemoryQueue, MemoryStore
from support.sample_journals import create_task, end_task


def make_queue() -> MemoryQueue:
    store = MemoryStore()
    end_task(store, create_task(store, "base"), TaskStatus.APPLIED)
    create_task(store, "left", needs=("base",))
    create_task(store, "right", needs=("base",))
    create_task(store, "top", needs=("left", "right"))
    create_task(store, "alone")
    return MemoryQueue(store, FakeClock())


def test_each_task_stands_above_those_that_it_waits_for() -> None:
    lines = draw_graph_lines(read_task_graph(make_queue()), 40)
    assert [line.split()[:3] for line in lines] == [
        ["top", "pending", "goal"],
        ["├─", "left", "ready"],
        ["│", "└─", "base"],
        ["└─", "right", "ready"],
        ["└─", "base", "applied"],
    ]
    assert all(len(line) <= 40 for line in lines)


def test_programs_read_it_too() -> None:
    graph = read_task_graph(make_queue())
    told = json.loads(json.dumps(graph_to_json(graph)))
    assert ["base", "left"] in told["edges"] and [row["task"] for row in told["tasks"]] == ["base", "left", "right", "top"]
    assert "t1 --> t2" in render_mermaid(graph) and render_mermaid(graph).startswith("graph LR")


def test_a_goal_with_quotes_does_not_break_mermaid() -> None:
    store = MemoryStore()
    create_task(store, 'a"b')
    create_task(store, "c", needs=('a"b',))
    graph = read_task_graph(MemoryQueue(store, FakeClock()))
    assert "#quot;b" in render_mermaid(graph)


def test_tasks_that_wait_for_each_other_end_the_drawing() -> None:
    store = MemoryStore()
    create_task(store, "one", needs=("two",))
    create_task(store, "two", needs=("one",))
    graph = read_task_graph(MemoryQueue(store, FakeClock()))
    assert set(graph.tickets) == {"one", "two"} and len(draw_graph_lines(graph, 80)) == 3
