"""Policies in a real browser: proposals with their proofs, adopted and taken back."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from browsing import open_page, open_profile
from playwright.sync_api import Browser, Page, expect
from served import Served
from synthetic_month import Planted, add_month

from afresh.app.evolve.evolve_policy import to_event
from afresh.app.evolve.task_policy import load_policy_history, record_policy_events
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.policy_history import PolicyProposed
from afresh.evolve.compare_scores import Comparison, RunScore, StepScore, compare_scores, comparison_to_json
from afresh.evolve.find_proposals import Proposal
from afresh.evolve.policy_change import PolicyChange

BETTER = Proposal("cap", "nobody uses the outline <b>here</b>", (PolicyChange("caps.outline", None, 0.0),))
WORSE = Proposal("cap", "a bad idea", (PolicyChange("caps.files", None, 0.0),))


def make_proof(held: int, tokens: int) -> Comparison:
    before, after = (
        [RunScore(f"r{run}", tuple(StepScore(size, 10, kept) for _ in range(9))) for run in range(6)]
        for size, kept in ((1_000, 8), (tokens, held))
    )
    return compare_scores(before, after, resamples=50)


def make_event(plain: Served, one: Proposal, proof: Comparison) -> PolicyProposed:
    event = to_event(plain.project, one)
    return replace(event, proof=comparison_to_json(proof), verdict=proof.verdict, better=proof.is_better)


@pytest.fixture
def page(plain: Served, chromium: Browser) -> Iterator[Page]:
    add_month(plain.project.storage, Planted(tasks=4))
    record_policy_events(
        plain.project,
        [make_event(plain, BETTER, make_proof(8, 700)), make_event(plain, WORSE, make_proof(4, 500))],
    )
    with open_profile(chromium, plain) as profile, open_page(profile, plain) as page:
        yield page


def test_a_proven_proposal_is_adopted_and_taken_back_and_the_picture_shows_what_is_drawn_on(page: Page, plain: Served) -> None:
    page.get_by_label("Pages").get_by_role("link", name="Evolve").click()
    picture = page.get_by_role("img", name="coverage: 0 of 6,400 tokens drawn on")
    expect(picture).to_be_visible()
    expect(page.get_by_role("img", name="files: 6,400 of 6,400 tokens drawn on")).to_be_visible()
    expect(page.locator("main")).to_contain_text("nobody uses the outline <b>here</b>")
    expect(page.locator("main")).to_contain_text("caps.outline: as the template → 0")
    expect(page.locator("main")).to_contain_text("6 newer tasks judged: recall 80.0% → 80.0%")
    assert page.get_by_role("button", name=f"Adopt {WORSE.id}").count() == 0, "what is not better can't be adopted"
    page.evaluate(f"{AXE_SCRIPT};0")
    found = page.evaluate("axe.run({resultTypes: ['violations'], preload: false}).then((said) => said.violations)")
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.get_by_role("button", name=f"Adopt {BETTER.id}").click()
    expect(page.get_by_role("status")).to_contain_text("is used for 25% of the tasks from now on")
    assert page.get_by_role("button", name=f"Adopt {BETTER.id}").count() == 0, "it is in use"
    canary = load_policy_history(plain.project).canary
    assert canary and canary.policy.caps == (("outline", 0.0),)
    page.get_by_role("button", name="Roll back the latest policy").click()
    expect(page.get_by_role("status")).to_contain_text(f"Policy {canary.id} is rolled back")
    expect(page.locator("main")).to_contain_text("taken back in the dashboard")
    expect(page.get_by_role("button", name=f"Adopt {BETTER.id}")).to_be_visible()
    assert load_policy_history(plain.project).stable == DEFAULT_CONTEXT_POLICY
