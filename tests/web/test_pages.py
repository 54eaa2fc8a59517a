"""Every page and every button, in a real browser, over real runs."""

import re
from collections.abc import Iterator
from zipfile import ZipFile

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from browsing import open_page, open_profile
from dashboard_store import BIDI, MARKUP
from playwright.sync_api import Browser, BrowserContext, Page, expect
from served import Served

from afresh.app.memory.curate_lessons import list_lessons
from afresh.core.project_facts import FactQuery

SERIOUS = ("serious", "critical")
ALL_RULES = "{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}"
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def profile(filled: Served, chromium: Browser) -> Iterator[BrowserContext]:
    with open_profile(chromium, filled) as profile:
        yield profile


@pytest.fixture
def page(filled: Served, profile: BrowserContext) -> Iterator[Page]:
    with open_page(profile, filled) as page:
        yield page


def list_every_page(served: Served) -> list[str]:
    done, hostile = served.tasks["done"], served.tasks["hostile"]
    lesson = list_lessons(served.project, learn=False).rows[0].knowledge.id
    fact = served.project.facts.look_up(FactQuery(""))[0].id
    tabs = [f"tasks/{done}{tab}" for tab in ("", "/steps/3", "/decisions", "/files", "/context", "/audit")]
    lists = ["", "inbox", "queue", "context", "spend", "knowledge", "memory", "heartbeats", "audit", "replay", "evolve"]
    hostiles = [f"tasks/{hostile}", f"tasks/{hostile}/steps/1"]
    return [*lists, *tabs, f"knowledge/{lesson}", f"memory/{fact}", *hostiles, find_output(served, done), "tasks/none"]


def find_output(served: Served, task: str) -> str:
    """The address of an output that has a page of its own."""
    found = re.search(r"/p/repo/(blocks/[^\"]+)", served.get(f"/p/repo/tasks/{task}/steps/3").text)
    assert found
    return found[1]


def find_faults(page: Page, rules: str) -> list[str]:
    options = f"{{resultTypes: ['violations'], preload: false, runOnly: {rules}}}"
    found = page.evaluate(f"axe.run({options}).then((said) => said.violations)")
    return [f"{page.url} {one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in SERIOUS]


@pytest.mark.parametrize("both", [False, pytest.param(True, marks=pytest.mark.torture)], ids=["either", "both"])
def test_every_page_is_readable_for_everybody_light_or_dark_and_on_a_phone(page: Page, filled: Served, both: bool) -> None:
    faults = list[str]()
    for number, address in enumerate(list_every_page(filled)):
        answer = page.goto(address)
        assert answer and answer.status == (404 if address == "tasks/none" else 200), address
        if page.locator("[hx-trigger=load]").count():
            page.locator("table").last.wait_for()
        page.evaluate(f"document.querySelectorAll('details.place').forEach((fold) => {{ fold.open = true }}); {AXE_SCRIPT};0")
        for scheme in SCHEMES if both else SCHEMES[number % 2 :][:1]:
            page.emulate_media(color_scheme=scheme)
            faults += find_faults(page, ALL_RULES)
        page.set_viewport_size({"width": 390, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"{address} is wider than a phone")
        page.set_viewport_size({"width": 1280, "height": 900})
    assert not faults


def test_one_finds_out_why_a_step_was_undone_what_it_cost_and_what_was_not_used(page: Page, filled: Served) -> None:
    page.get_by_role("link", name="double adds instead of multiplying").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("double adds instead of multiplying")
    expect(page.locator(".facts")).to_contain_text("free (no model was paid)")
    column = page.locator(".timeline tr:not(.note) td:nth-child(3)").all_inner_texts()
    sent = filled.project.store.load(filled.tasks["done"]).spending.usage.input
    assert sum(int(text.replace(",", "")) for text in column) == sent, "the steps add up to the total"
    row = page.locator("tr.undone")
    expect(row).to_contain_text("1 test passed before and fails now")
    row.locator(".did").click()
    expect(page.get_by_role("heading", name="Why it was undone")).to_be_visible()
    expect(page.locator("main")).to_contain_text("AssertionError: 2 != 4")
    expect(page.locator("main")).to_contain_text("Left out")
    page.locator(".name", has_text="verification").click()
    expect(page.get_by_role("region", name="Text of verification")).to_be_visible()
    page.get_by_role("link", name="4 →").click()
    expect(page.locator(".patch .added").first).to_contain_text("return x * 2")
    page.get_by_role("link", name="double adds instead").click()
    page.get_by_label("Task", exact=True).get_by_role("link", name="Context").click()
    expect(page.locator(".chart canvas")).to_be_visible()
    expect(page.locator("#unused")).to_contain_text("Most tokens not used, apart from tools")
    expect(page.locator("tfoot")).to_contain_text(f"{sent:,}")
    page.get_by_role("link", name="Decisions").click()
    expect(page.locator(".tree").first).to_contain_text("multiply")
    page.get_by_role("link", name="Files").click()
    expect(page.locator(".patch").first).to_contain_text("x * 2")


def test_a_question_is_answered_and_the_task_goes_on_while_one_watches(page: Page, filled: Served) -> None:
    task = filled.tasks["blocked"]
    page.get_by_label("Pages").get_by_role("link", name="Inbox").click()
    asked = page.locator(f"[id='{task}']")
    expect(asked).to_contain_text("Shall double accept text, too?")
    asked.get_by_text("numbers only").click()
    asked.get_by_role("button", name="Answer and let it continue").click()
    expect(page.locator(".head .status")).to_have_text("done")
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator(".timeline")).to_contain_text("numbers only")
    expect(page.locator(".facts")).to_contain_text("You said: “numbers only")
    page.get_by_role("link", name="See the changes").click()
    expect(page.locator(".patch").first).to_contain_text("x * 2")
    page.once("dialog", lambda question: question.accept())
    page.get_by_role("button", name="Discard").click()
    expect(page.locator(".head .status")).to_have_text("discarded")


def test_hostile_names_outputs_and_answers_stay_text(page: Page, filled: Served) -> None:
    task, alarms = filled.tasks["hostile"], list[str]()
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.goto("inbox")
    asked = page.locator(f"[id='{task}']")
    asked.get_by_label("Or in your own words").fill(f"use {MARKUP}")
    asked.get_by_role("button", name="Save the answer only").click()
    expect(page.get_by_role("status").first).to_contain_text("Your answer is recorded")
    for tab in ("", "/steps/1", "/steps/2", "/decisions", "/files", "/context"):
        page.goto(f"tasks/{task}{tab}")
        assert not page.locator("main img, main script").count()
        if tab != "/context":
            expect(page.locator("main")).to_contain_text("<img src=x onerror")
    page.goto(f"tasks/{task}/files")
    expect(page.locator(".file code").first).to_contain_text("onerror=alert(3)")
    page.goto(f"tasks/{task}")
    expect(page.locator(".facts")).not_to_contain_text("asks:")
    page.get_by_role("button", name="Resume now").click()
    expect(page.get_by_role("alert")).to_contain_text("It stopped: the script has 2 replies")
    expect(page.get_by_role("alert")).to_contain_text("add replies to the script")
    expect(page.locator(".notice")).to_have_count(0)
    for address in ("", "queue"):
        page.goto(address)
        card = page.locator(".cards > li", has=page.locator(f"a[href$='{task}']"))
        expect(card).to_contain_text("It stopped: the script has 2 replies")
        expect(card).not_to_contain_text("asks:")
    page.goto("memory?q=gnp")
    expect(page.locator("main")).to_contain_text("user\\u202egnp.exe")
    expect(page.locator("main")).not_to_contain_text(BIDI)
    assert not alarms


def test_the_failed_one_is_retried_from_home_and_applied(page: Page, filled: Served) -> None:
    card = page.locator(".cards > li", has_text="double is wrong for odd numbers")
    expect(card).to_contain_text("it reported done 3 times and was refused each time")
    card.get_by_role("button", name="Retry").click()
    expect(page.locator(".head .status")).to_have_text("done")
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator(".log")).to_contain_text("PASS")
    page.get_by_role("button", name="Apply to my branch").click()
    expect(page.locator(".head .status")).to_have_text("applied")
    assert "x * 2" in (filled.project.paths.root / "calc.py").read_text()
    page.get_by_label("Pages").get_by_role("link", name="Home").click()
    expect(page.get_by_text("Finished since you last looked")).to_be_visible()
    page.get_by_role("button", name="Mark as seen").click()
    expect(page.get_by_role("region", name="Finished")).not_to_contain_text("double is wrong for odd numbers")


def test_tasks_are_added_and_what_waits_for_what_is_drawn(page: Page, filled: Served) -> None:
    page.goto("queue")
    expect(page.locator(".graph")).to_contain_text("write down what double does")
    page.locator(".add summary").click()
    page.get_by_label("Goal").fill("double needs a <b>test</b> for zero")
    page.get_by_label("Check that must pass").fill("true")
    page.get_by_label("Priority", exact=True).fill("3")
    page.get_by_label("Model").fill("offline")
    page.get_by_label("Type").select_option("fix_violation")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("double needs a <b>test</b> for zero")
    page.goto(f"tasks/{filled.tasks['waiting']}")
    page.get_by_role("button", name="Start without those").click()
    expect(page.get_by_role("status").first).to_contain_text("no longer waits for")
    page.goto("queue")
    page.locator(".add summary").click()
    page.get_by_label("Goal").fill("x")
    page.get_by_label("Priority", exact=True).fill("soon")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("main")).to_contain_text("'soon' is not a whole number")


def test_lessons_are_judged_and_edited(page: Page, filled: Served) -> None:
    page.goto("knowledge")
    link = page.locator(".cards .goal").first
    name = page.locator(".cards .when").first.inner_text()
    link.click()
    page.get_by_text(re.compile("^Edit ")).click()
    text = page.get_by_label("Text of the file")
    kept = text.input_value()
    text.fill("no front matter")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("That did not work")
    page.goto(f"knowledge/{name}")
    page.get_by_text(re.compile("^Edit ")).click()
    expect(page.get_by_label("Text of the file")).to_have_value(kept)
    page.get_by_label("Text of the file").fill(kept + "\nSeen twice.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("pre").first).to_contain_text("Seen twice.")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("li", has_text=name)).to_contain_text("approved")
    page.get_by_label("What would a task").fill("double is wrong")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Found")).to_be_visible()
    page.goto(f"knowledge/{name}")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("li", has_text=name)).to_contain_text("rejected")


def test_facts_are_found_corrected_and_forgotten(page: Page) -> None:
    page.goto("memory")
    page.get_by_text("Add a rule").click()
    page.get_by_label("Rule", exact=True).fill("Call <i>nothing</i> foo")
    page.get_by_role("button", name="Add rule").click()
    page.goto("memory?kind=nonsense")
    expect(page.locator("main")).to_contain_text("no such kind of fact: nonsense")
    page.goto("memory?kind=rule")
    page.get_by_label("Search facts").fill("nothing foo")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Call <i>nothing</i> foo").click()
    page.get_by_label("What is true instead").fill("Call nothing bar")
    page.get_by_role("button", name="Correct").click()
    expect(page.locator(".lead")).to_have_text("Call nothing bar")
    page.once("dialog", lambda question: question.accept())
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".line")).to_contain_text("forgotten")


def test_spending_is_broken_down_the_journal_verified_and_everything_downloaded(page: Page, filled: Served) -> None:
    page.goto("spend")
    expect(page.locator("main")).to_contain_text("double adds instead of multiplying")
    expect(page.locator("main table").last).not_to_contain_text("Paid as")
    page.get_by_role("link", name="by section").click()
    expect(page.locator("main table").last).to_contain_text("what the model can call")
    page.goto(f"tasks/{filled.tasks['done']}/audit")
    page.get_by_role("button", name="Verify the hash chain").click()
    expect(page.locator("#chain-result")).to_contain_text("entries are intact")
    page.get_by_role("button", name="Rebuild all calls").click()
    expect(page.locator("#calls-result")).to_contain_text("5 of 5 calls rebuilt byte for byte")
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download").click()
    assert any("journal" in name for name in ZipFile(coming.value.path()).namelist())
    page.goto("replay")
    page.get_by_role("button", name="Show the report").click()
    expect(page.locator("body")).to_contain_text("tokens")
    assert page.evaluate("origin") == "null", "the report has no part in the dashboard"


def test_the_theme_can_be_switched_and_stays(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    light = page.evaluate(
        "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor"
    )
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = page.evaluate(
        "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor"
    )
    assert dark != light
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light", "as other tests expect it"
