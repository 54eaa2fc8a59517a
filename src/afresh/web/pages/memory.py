"""Memory: facts by subject with their history; a person can add rules, correct and forget."""

from itertools import groupby

from starlette.responses import Response

from afresh.app.memory.edit_facts import add_rule, correct_fact, forget_fact, load_fact_details, search_project_facts
from afresh.core.fact import FactKind
from afresh.errors import BadInput
from afresh.web.visit import PageRoute, Visit

MAX_FACTS_SHOWN = 60


def show_memory(visit: Visit) -> Response:
    wanted, kind = visit.get_query("q").strip(), visit.get_query("kind")
    if kind and kind not in [fact_kind.value for fact_kind in FactKind]:
        raise BadInput(f"no such kind of fact: {kind}", next="choose one of the list")
    facts = search_project_facts(visit.project, wanted, kind, limit=MAX_FACTS_SHOWN)
    ordered = facts if wanted else sorted(facts, key=lambda fact: fact.fact.subject.lower())
    subjects = [(subject, list(some)) for subject, some in groupby(ordered, key=lambda fact: fact.fact.subject)]
    return visit.show(
        "memory.html",
        subjects=subjects,
        full=len(facts) == MAX_FACTS_SHOWN,
        wanted=wanted,
        kind=kind,
        kinds=[fact_kind.value for fact_kind in FactKind],
    )


def show_fact(visit: Visit) -> Response:
    return visit.show("fact.html", found=load_fact_details(visit.project, visit.get_part("fact")))


def add_new_rule(visit: Visit) -> Response:
    with visit.open_to_change() as project:
        add_rule(project, visit.form.get("text", "").strip(), visit.form.get("about", "").strip())
    return visit.go(visit.link("memory"), "The rule is in every prompt from now on.")


def change_fact(visit: Visit) -> Response:
    name, how = visit.get_part("fact"), visit.get_part("change")
    why = visit.form.get("why", "").strip()
    with visit.open_to_change() as project:
        if how == "correct":
            known = correct_fact(project, name, visit.form.get("text", "").strip(), why)
            said = "Corrected: prompts have your words from now on."
        elif how == "forget":
            known, said = forget_fact(project, name, why), "Forgotten: it is in no later prompt."
        else:
            raise BadInput("no such action", next="use the buttons of the page", safe="nothing was changed")
    return visit.go(visit.link("memory", known.id), said)


ROUTES = [
    PageRoute("/memory", show_memory),
    PageRoute("/memory", add_new_rule, "POST"),
    PageRoute("/memory/{fact}", show_fact),
    PageRoute("/memory/{fact}/{change}", change_fact, "POST"),
]
