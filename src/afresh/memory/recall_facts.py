"""What the project's memory has to say to a window: rules in force, what was decided and tried before, what other tasks found."""

from collections.abc import Iterator

from afresh.core.action import describe_subject
from afresh.core.context_item import Note
from afresh.core.fact import FactKind, FactScope
from afresh.core.project_facts import FactQuery, ProjectFact, fact_from_decision, make_fact_id
from afresh.core.search_words import drop_stop_words, split_words
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.ports.storage import FactIndex

MAX_OWN_FACTS = 8
MAX_FOREIGN_FACTS = 4
MIN_SHARED_WORDS = 2  # with what the work is about: one is chance
MAX_FACT_CHARACTERS = 200

MAX_RULES_LOOKED_UP = 200
MAX_FACTS_LOOKED_UP = 24
"""Rules that are looked up, more than can be added; and facts."""
LOOKED_UP_KINDS = (FactKind.NOTE, FactKind.FAILED_APPROACH, FactKind.DECISION)
OWN_ITEM_KINDS = {FactKind.DECISION: "decision", FactKind.FAILED_APPROACH: "failed"}


def recall_project_facts(state: State, facts: FactIndex) -> Iterator[Note]:
    whose = state.task.id
    for rule in reversed(facts.look_up(FactQuery("", (FactKind.RULE,), whose, limit=MAX_RULES_LOOKED_UP))):
        if rule.task != whose:
            yield Note("rule", rule.id, rule.fact.text)
    about, held = describe_focus(state), _list_state_fact_ids(state)
    project_facts = [
        fact for fact in facts.look_up(FactQuery(about, LOOKED_UP_KINDS, whose, limit=MAX_FACTS_LOOKED_UP)) if fact.id not in held
    ]
    yield from _list_own_facts([fact for fact in project_facts if fact.task == whose])
    words = frozenset(drop_stop_words(split_words(about)))
    yield from _list_foreign_facts([fact for fact in project_facts if fact.task != whose], words)


def _list_state_fact_ids(state: State) -> frozenset[str]:
    """Ids of the facts that every prompt shows."""
    whose = state.task.id
    return frozenset(
        (
            *[make_fact_id(whose, fact) for fact in state.memory.facts],
            *[make_fact_id(whose, fact_from_decision(decision)) for decision in state.memory.decisions],
        )
    )


def _list_own_facts(facts: list[ProjectFact]) -> Iterator[Note]:
    """The task's facts that have left the state, by step."""
    for fact in sorted(facts[:MAX_OWN_FACTS], key=lambda project_fact: project_fact.fact.step):
        by = f", {fact.by}" if fact.fact.kind is FactKind.DECISION else ""
        text = f"step {fact.fact.step}{by}: {_render_fact(fact)}"
        older = OWN_ITEM_KINDS.get(fact.fact.kind)
        yield Note(older, fact.fact.subject, text) if older else Note("memory", fact.id, text)


def _render_fact(fact: ProjectFact) -> str:
    return f"{to_one_line(fact.fact.subject, MAX_FACT_CHARACTERS)}: {to_one_line(fact.fact.text, MAX_FACT_CHARACTERS)}"


def _list_foreign_facts(facts: list[ProjectFact], about: frozenset[str]) -> Iterator[Note]:
    fitting = [
        project_fact
        for project_fact in facts
        if len(about.intersection(drop_stop_words(split_words(f"{project_fact.fact.subject} {project_fact.fact.text}"))))
        >= MIN_SHARED_WORDS
    ]
    for fact in fitting[:MAX_FOREIGN_FACTS]:
        whose = "all projects" if fact.fact.scope is FactScope.USER else fact.origin
        yield Note("memory", fact.id, f"{_render_fact(fact)} ({FACT_KIND_WORDS.get(fact.fact.kind, 'noted')} in {whose})")


FACT_KIND_WORDS = {FactKind.FAILED_APPROACH: "failed", FactKind.DECISION: "decided"}


FOCUS_STEPS = 2


def describe_focus(state: State) -> str:
    """Newest first: what was just said and done, what comes next, and the goal."""
    return "\n".join((*list_current_focus(state), *list_wider_focus(state)))


def list_current_focus(state: State) -> list[str]:
    """The subjects of the current work."""
    last = state.memory.recent[-1:]
    ahead = [item.text for item in state.work.plan if not item.done]
    return [
        *[step.thought for step in last],
        *ahead[:1],
        *[describe_subject(seen.action) for step in last for seen in step.observations],
    ]


def list_wider_focus(state: State) -> list[str]:
    """Further subjects of the work."""
    before = state.memory.recent[-FOCUS_STEPS:-1]
    ahead = [item.text for item in state.work.plan if not item.done]
    failing = [
        failure.test
        for run in (state.verification.verdict.runs if state.verification.verdict else ())
        for failure in run.failures
    ]
    lines = [*ahead[1:3], *state.dialogue.words[-1:], *failing[:3], state.task.goal]
    return [
        *lines,
        *[step.thought for step in before],
        *[describe_subject(seen.action) for step in before for seen in step.observations],
    ]
