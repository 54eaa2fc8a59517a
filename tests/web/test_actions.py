"""What a person does with tasks that are at work or wait, in a real browser. Each test has a project of its own."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import PATIENCE_MS, open_page, open_profile
from dashboard_store import make_repository, set_homes
from person import COMPLETE, MEND, Person
from playwright.sync_api import Browser, Page, expect
from served import serve

from afresh.app.heartbeat.heartbeat import load_heartbeat_state
from afresh.core.event import TaskClaimed
from support.sample_journals import append_events

POLL_SECONDS = 0.1


@pytest.fixture
def one(bare_machine: None, chromium: Browser, tmp_path: Path) -> Iterator[Person]:
    """A person with a small repository."""
    with set_homes(tmp_path):
        yield make_repository(tmp_path)


def find_card(page: Page, task: str):
    return page.locator(".cards > li", has=page.locator(f"a.goal[href$='{task}']"))


def wait_for_request(one: Person, box: Path) -> None:
    """Until the worker asks for a reply: it goes no further by itself."""
    for _ in range(int(PATIENCE_MS / 1_000 / POLL_SECONDS)):
        if list(box.glob("*.request.md")):
            return
        time.sleep(POLL_SECONDS)
    raise AssertionError("it has not asked")


def test_a_worker_is_started_and_paused_from_the_queue(
    one: Person, chromium: Browser, requires_sandbox: Callable[..., None]
) -> None:
    requires_sandbox()
    box = one.folder / "box"
    task = one.types("add", "double is wrong", "--check", "true", "--model", f"mailbox:{box}", "--json").json["task"]
    with serve(one.repo, {}) as served, open_profile(chromium, served) as profile, open_page(profile, served) as page:
        page.goto("queue")
        find_card(page, task).get_by_role("button", name="Start").click()
        expect(page.get_by_role("status").first).to_contain_text("A worker has been started")
        wait_for_request(one, box)
        page.goto("queue")
        expect(find_card(page, task).get_by_text("Change its priority")).to_have_count(0)
        find_card(page, task).get_by_role("button", name="Pause").click()
        expect(page.get_by_role("status").first).to_contain_text("stops as soon as the call that it is making has been answered")
        assert one.types("mailbox", str(box), "read", "path=calc.py").code == 0
        expect(page.locator(".head .status")).to_have_text("paused")
        expect(page.get_by_role("button", name="Continue")).to_be_visible()
        assert one.types("edit", task, "--label", "ui").code == 0
        page.goto("queue?label=ui&state=paused")
        expect(page.locator("table")).to_contain_text("#ui")
        find_card(page, task).get_by_role("button", name="Continue").click()
        expect(page.get_by_role("status").first).to_contain_text("It has its turn again")
        assert len(list(box.glob("*.request.md"))) == 1 and served.project.store.load(task).spending.calls == 1


def test_home_and_queue_say_on_which_machine_a_task_is_worked_on(one: Person) -> None:
    task, worker = one.adds("double is wrong"), "builder-2-1a2b3c:7:99"
    with serve(one.repo, {}) as served:
        assert served.project.queue.claim(worker, task) == task
        append_events(served.project.store, served.project.store.load(task), [TaskClaimed(worker)])
        for address in ("/p/repo/", "/p/repo/queue"):
            assert "process 7 on builder-2<" in served.get(address).text


def test_a_limit_that_stopped_a_task_is_reset_and_its_last_change_undone(
    one: Person, chromium: Browser, requires_sandbox: Callable[..., None]
) -> None:
    requires_sandbox()
    task = one.types("add", "double is wrong", "--check", "true", "--model", one.script([MEND]), "--json").json["task"]
    assert "the script has 1 repl" in one.types("resume", task).words
    settings = one.folder / "config/afresh/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[limits]\nday_tokens = 1\n")
    assert one.types("resume", task).code == 3, "no call is made"
    with serve(one.repo, {}) as served, open_profile(chromium, served) as profile, open_page(profile, served) as page:
        page.goto("spend")
        page.get_by_role("button", name="Reset: count from now on").click()
        expect(page.get_by_role("status").first).to_contain_text("Calls are possible again: the limit of 1 tokens a day")
        expect(page.get_by_role("button", name="Reset")).to_have_count(0)
        assert not served.project.ledger.tripped()
        page.goto(f"tasks/{task}/files")
        expect(page.locator(".patch").first).to_contain_text("x * 2")
        page.once("dialog", lambda question: question.dismiss())
        page.get_by_role("button", name="Undo last change").click()
        assert served.project.store.load(task).workspace.changed, "not without a confirmation"
        page.once("dialog", lambda question: question.accept())
        page.get_by_role("button", name="Undo last change").click()
        expect(page.get_by_role("status").first).to_contain_text("The last change has been undone.")
        expect(page.get_by_role("button", name="Undo last change")).to_have_count(0)
        assert not served.project.store.load(task).workspace.changed


def test_a_checklist_is_run_and_paused_and_a_task_scheduled(one: Person, chromium: Browser) -> None:
    with serve(one.repo, {}) as served, open_profile(chromium, served) as profile, open_page(profile, served) as page:
        page.get_by_label("Pages").get_by_role("link", name="Heartbeats").click()
        expect(page.locator("main")).to_contain_text("Nothing is watched")
        one.write(".afresh/HEARTBEAT.md", "- <b>notes</b> are kept\n")
        page.reload()
        page.get_by_role("button", name="Check now").click()
        expect(page.get_by_role("status").first).to_contain_text("A check has been started")
        expect(page.locator(".cards > li")).to_contain_text("first run: this output is what the next ones are compared with")
        expect(page.locator(".cards > li")).to_contain_text("<b>notes</b> are kept")
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("main")).to_contain_text("Paused: nothing is checked until you resume.")
        assert load_heartbeat_state(served.project).paused
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Check now")).to_be_visible()
        schedule_task(page, "look for dead code", "soon")
        expect(page.locator("main")).to_contain_text("'soon' is no interval")
        page.goto("heartbeats")
        schedule_task(page, "look for dead code", "2w")
        expect(page.get_by_role("region", name="Scheduled tasks")).to_contain_text("every 2w")
        page.once("dialog", lambda question: question.accept())
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("region", name="Scheduled tasks")).to_contain_text("No task is scheduled.")
        assert not load_heartbeat_state(served.project).schedules


def schedule_task(page: Page, goal: str, every: str) -> None:
    page.get_by_text("Schedule a task").click()
    page.get_by_label("Goal").fill(goal)
    page.get_by_label("Every", exact=True).fill(every)
    page.get_by_role("button", name="Schedule", exact=True).click()


def test_a_task_is_added_and_started_and_work_that_nobody_verified_is_applied(
    one: Person, chromium: Browser, requires_sandbox: Callable[..., None]
) -> None:
    requires_sandbox()
    script = one.script([MEND], [COMPLETE])
    one.git("rm", "-q", "test_calc.py")
    one.commit("no tests")
    blocked = one.runs(script, "--no-check", "--json", goal="nobody can verify this", check="").json["task"]
    with serve(one.repo, {}) as served, open_profile(chromium, served) as profile, open_page(profile, served) as page:
        page.goto("queue")
        page.locator(".add summary").click()
        page.get_by_label("Goal").fill("double is wrong")
        page.get_by_label("Check that must pass").fill("true")
        page.get_by_label("Model").fill(script)
        page.get_by_role("button", name="Add and start").click()
        expect(page.get_by_role("status").first).to_contain_text("A worker has been started.")
        expect(page.locator(".head .status")).to_have_text("done")
        page.goto(f"tasks/{blocked}")
        page.once("dialog", lambda question: question.dismiss())
        page.get_by_role("button", name="Apply unverified").click()
        assert "x + 2" in (one.repo / "calc.py").read_text(), "not without a confirmation"
        page.once("dialog", lambda question: question.accept())
        page.get_by_role("button", name="Apply unverified").click()
        expect(page.locator(".head .status")).to_have_text("applied")
        assert "x * 2" in (one.repo / "calc.py").read_text()


def test_one_switches_between_projects_and_changes_whose_turn_it_is(one: Person, chromium: Browser) -> None:
    here = [one.adds(goal) for goal in ("first in line", "second in line", "third in line")]
    other = make_repository(one.folder / "elsewhere")
    there = other.adds("a task of another project")
    with (
        serve(one.repo, {}, others=[other.repo]) as served,
        open_profile(chromium, served) as profile,
        open_page(profile, served) as page,
    ):
        page.get_by_label("Projects").get_by_role("link").nth(1).click()
        expect(page).to_have_url(f"{served.base}/p/repo~2/")
        page.get_by_label("Pages").get_by_role("link", name="Queue").click()
        expect(page.locator(".board .goal")).to_have_text(["a task of another project"])
        assert served.get(f"/p/repo~2/tasks/{here[0]}").status == 404 == served.get(f"/p/repo/tasks/{there}").status
        assert served.post(f"/p/repo~2/queue/{here[0]}/place", {"priority": "1"}).status == 409
        page.get_by_label("Projects").get_by_role("link").first.click()
        page.get_by_label("Pages").get_by_role("link", name="Queue").click()
        goals = page.locator(".board .goal")
        expect(goals).to_have_text(["first in line", "second in line", "third in line"])
        change_turn(page, here[2], "7")
        expect(page.get_by_role("status").first).to_contain_text("“third in line” has priority 7 now.")
        expect(goals).to_have_text(["third in line", "first in line", "second in line"])
        change_turn(page, here[0], "7", here[1])
        expect(find_card(page, here[0])).to_contain_text("after second in line")
        change_turn(page, here[1], "1", here[0])
        expect(page.get_by_role("heading", level=1)).to_have_text("That did not work")
        expect(page.locator("main")).to_contain_text(f"{here[1]} needs {here[0]} needs {here[1]}")
        places = {ticket.task: (ticket.priority, ticket.needs) for ticket in served.project.queue.tickets()}
        assert places == {here[0]: (7, (here[1],)), here[1]: (0, ()), here[2]: (7, ())}


def change_turn(page: Page, task: str, priority: str, needs: str = "") -> None:
    page.goto("queue")
    card = find_card(page, task)
    card.get_by_text("Change its priority").click()
    card.get_by_label("Priority").fill(priority)
    card.get_by_label("After").fill(needs)
    card.get_by_role("button", name="Save").click()
