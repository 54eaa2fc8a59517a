"""What the project's memory offers to a window."""

from collections.abc import Sequence

from afresh.core.context_item import Note
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind, FactScope
from afresh.core.project_facts import EmptyFactIndex, FactQuery, ProjectFact, fact_from_decision, make_fact_id
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.task import Task
from afresh.memory.recall_facts import recall_project_facts

NOTE = Fact(FactKind.NOTE, "parser", "reads tokens lazily", step=3, scope=FactScope.PROJECT)
CHOICE = Decision("keep the parser lazy", "model", "memory", 4, "parser laziness")
STATE = State(task=Task(id="t", goal="Make the parser read tokens at once"))


class Shelf(EmptyFactIndex):
    def __init__(self, *known: ProjectFact) -> None:
        self.held = known

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        return [one for one in self.held if not question.kinds or one.fact.kind in question.kinds]


def known(fact: Fact, task: str = "t", by: str = "model") -> ProjectFact:
    return ProjectFact(make_fact_id(task, fact), task, fact, by, 1.0)


def looks(state: State, *held: ProjectFact) -> list[Note]:
    return list(recall_project_facts(state, Shelf(*held)))


def test_what_the_state_holds_is_not_offered_a_second_time() -> None:
    held = known(NOTE), known(fact_from_decision(CHOICE))
    assert {look.kind for look in looks(STATE, *held)} == {"memory", "decision"}
    full = State(task=STATE.task, memory=MemoryState(facts=(NOTE,), decisions=(CHOICE,)))
    assert looks(full, *held) == []


def test_a_fact_of_another_task_must_share_two_words_with_the_work() -> None:
    near, far = known(NOTE, "other"), known(Fact(FactKind.NOTE, "cache", "tokens expire", scope=FactScope.PROJECT), "other")
    assert [look.text for look in looks(STATE, near, far)] == ["parser: reads tokens lazily (noted in other)"]


def test_an_older_decision_says_when_and_by_whom() -> None:
    (look,) = looks(STATE, known(fact_from_decision(CHOICE)))
    assert look.text == "step 4, model: parser laziness: keep the parser lazy (memory)"


def test_rules_of_the_project_come_in_the_order_in_which_they_were_given_and_the_tasks_own_words_not_again() -> None:
    first, second = (Fact(FactKind.RULE, f"rule {n}", f"rule {n} it is", scope=FactScope.PROJECT) for n in (1, 2))
    own = known(Fact(FactKind.RULE, "mine", "be quick"), by="person")
    newest_first = known(second, "notebook"), own, known(first, "notebook")
    assert [look.text for look in looks(STATE, *newest_first)] == ["rule 1 it is", "rule 2 it is"]
