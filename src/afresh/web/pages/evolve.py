"""Evolve: what prompts were used for, proposals with their proofs, and the history of policies with a way back."""

from starlette.responses import Response

from afresh.app.evolve.evolve_page import read_policy_page
from afresh.app.evolve.evolve_policy import report_use, roll_back
from afresh.app.evolve.watch_policy import adopt_as_canary
from afresh.core.policy_history import BY_PERSON
from afresh.web.visit import PageRoute, Visit

MAX_SECTIONS_DRAWN = 16
MAX_TASKS_READ = 30
"""A page is answered while somebody waits."""


def show_evolve(visit: Visit) -> Response:
    return visit.show("evolve.html", policies=read_policy_page(visit.project))


def show_section_use(visit: Visit) -> Response:
    """The part that reads journals; it is loaded after the page."""
    report = report_use(visit.project, MAX_TASKS_READ)
    drawn = report.sections[:MAX_SECTIONS_DRAWN]
    return visit.show(
        "evolve_use.html", report=report, sections=drawn, most=max([section.tokens for section in drawn], default=1.0)
    )


def adopt_policy(visit: Visit) -> Response:
    with visit.open_to_change() as project:
        text = adopt_as_canary(project, visit.get_part("proposal"), BY_PERSON)
    return visit.go(visit.link("evolve"), f"{text}.")


def take_back_policy(visit: Visit) -> Response:
    with visit.open_to_change() as project:
        gone = roll_back(project, "taken back in the dashboard")
    return visit.go(visit.link("evolve"), f"Policy {gone.id} is rolled back.")


ROUTES = [
    PageRoute("/evolve", show_evolve),
    PageRoute("/evolve/use", show_section_use),
    PageRoute("/evolve/rollback", take_back_policy, "POST"),
    PageRoute("/evolve/{proposal}/adopt", adopt_policy, "POST"),
]
