"""Long lists are shown a page at a time, and every entry can be reached by links."""

import re
from collections.abc import Iterator

import pytest
from dashboard_store import make_repository, set_homes
from served import Served, serve

from afresh.app.project import open_project
from afresh.core.task import TaskStatus
from afresh.web.pages.queue import TASKS_PER_PAGE
from afresh.web.pages.task import STEPS_PER_PAGE
from support.sample_journals import append_step, create_task, end_task

TASKS = TASKS_PER_PAGE + 7
STEPS = STEPS_PER_PAGE + 5


@pytest.fixture(scope="module")
def long(bare_machine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("long")
    with set_homes(folder):
        project = open_project(make_repository(folder).repo)
        for number in range(TASKS):
            end_task(project.store, create_task(project.store, f"t{number}"), TaskStatus.FAILED)
        state = create_task(project.store, "steps")
        for _ in range(STEPS):
            state = append_step(project.store, state)
        project.storage.close()
        with serve(folder / "repo", {}) as served:
            yield served


def follow(served: Served, path: str, link: str, entry: str) -> list[set[str]]:
    """The entries of each page, by the links from one to the next."""
    pages = list[set[str]]()
    while path:
        text = served.get(path).text
        pages.append(set(re.findall(entry, text.partition("All tasks")[2] or text)))
        path = next(iter(re.findall(rf'href="([^"]+)">{link}', text)), "").replace("&amp;", "&")
    return pages


def test_all_tasks_are_reached_from_the_queue(long: Served) -> None:
    first, second = follow(long, "/p/repo/queue", "older", r"/tasks/(t\d+|steps)\"")
    assert len(first) == TASKS_PER_PAGE and len(first | second) == TASKS + 1 and not first & second


def test_all_steps_are_reached_from_the_task(long: Served) -> None:
    first, second = follow(long, "/p/repo/tasks/steps", "older", r"/steps/(\d+)\"")
    assert len(first) == STEPS_PER_PAGE and len(first | second) == STEPS and not first & second
    assert follow(long, f"/p/repo/tasks/steps?to={len(second)}", "← newer", r"/steps/(\d+)\"") == [second, first]


@pytest.mark.parametrize("query", ["to=0", "to=99999", "to=999999999"])
def test_a_page_beyond_the_ends_is_the_nearest(long: Served, query: str) -> None:
    assert long.get(f"/p/repo/tasks/steps?{query}").status == 200


@pytest.mark.parametrize("query", ["to=-1", "to=x", "to=9999999999", "to=%D9%A1"])
def test_what_is_no_number_is_told(long: Served, query: str) -> None:
    answer = long.get(f"/p/repo/tasks/steps?{query}")
    assert answer.status == 404 and "is not a number" in answer.text
