"""The one journal that all projects read: only rules that the user has laid down for all of them come out of it."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.decision import Decision
from afresh.core.event import DecisionMade, Event, OutputDigested
from afresh.core.fact import NOTEBOOK_JOURNAL, USER_JOURNAL, Fact, FactCorrected, FactForgotten, FactKind, FactNoted, FactScope
from afresh.core.project_facts import FactQuery, fact_from_decision, make_fact_id
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_facts
from support.fakes import FakeClock


class Home:
    """The notebook of a user, and a project that reads it."""

    def __init__(self, folder: Path) -> None:
        clock, database = FakeClock(), Database(folder / "afresh.db")
        self.own = SqlNotebook(Database(folder / "user.db"), clock, USER_JOURNAL)
        self.notebook = SqlNotebook(database, clock)
        self.facts = open_sqlite_facts(folder / "memory.db", SqlJournal(database), [self.notebook, self.own])

    def known(self) -> dict[str, str]:
        return {one.id: one.fact.text for one in self.facts.look_up(FactQuery("", limit=100))}


RULE = Fact(FactKind.RULE, "language", "Answer in plain English", scope=FactScope.USER)
HERE = Fact(FactKind.RULE, "indent", "Use tabs", scope=FactScope.PROJECT)
facts = st.builds(
    Fact, st.sampled_from(list(FactKind)), st.sampled_from(("language", "indent")), st.text("ab", min_size=1, max_size=4),
    scope=st.sampled_from(list(FactScope)),
)  # fmt: skip
names = st.sampled_from(
    [make_fact_id(NOTEBOOK_JOURNAL, HERE), make_fact_id(USER_JOURNAL, RULE), make_fact_id("some-task-1f2e", HERE)]
)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(FactNoted, facts, st.just("anna")),
    st.builds(lambda fact: OutputDigested((fact,)), facts),
    st.builds(lambda text: DecisionMade(Decision(text, "model")), st.text("cd", min_size=1, max_size=4)),
    st.builds(FactCorrected, names, st.text("ef", min_size=1, max_size=4), st.just("anna")),
    st.builds(FactForgotten, names, st.just("anna")),
)


@given(st.lists(events, max_size=6))
def test_whatever_stands_in_it_no_project_reads_more_than_the_users_own(tmp_path_factory, told: list[Event]) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    home.notebook.append([FactNoted(HERE, "anna")])
    home.own.append([FactNoted(RULE, "anna"), *told])
    known = home.facts.look_up(FactQuery("", limit=100))
    assert {one.task for one in known} <= {NOTEBOOK_JOURNAL, USER_JOURNAL}
    assert all(one.fact.scope is FactScope.USER for one in known if one.task == USER_JOURNAL)
    assert [one.fact for one in known if one.task == NOTEBOOK_JOURNAL] == [HERE], "nor can it change what is the project's"
    assert {edit.id for edit in home.facts.edits()} <= {one.id for one in home.facts.known(make_fact_id(USER_JOURNAL, RULE))} | {
        make_fact_id(USER_JOURNAL, fact)
        for event in told
        if isinstance(event, FactNoted | OutputDigested)
        for fact in all_of(event)
    }


def all_of(event: FactNoted | OutputDigested) -> tuple[Fact, ...]:
    return (event.fact,) if isinstance(event, FactNoted) else event.facts


def test_a_rule_for_all_projects_is_read_corrected_and_forgotten(tmp_path: Path) -> None:
    home, name = Home(tmp_path), make_fact_id(USER_JOURNAL, RULE)
    home.own.append([FactNoted(RULE, "anna")])
    assert home.known() == {name: RULE.text}
    home.own.append([FactCorrected(name, "Answer in short sentences", "anna")])
    (now,) = home.known()
    assert home.known() == {now: "Answer in short sentences"}
    home.own.append([FactForgotten(now, "anna")])
    assert home.known() == {}


def test_a_decision_that_got_into_it_is_nobodys(tmp_path: Path) -> None:
    home, decision = Home(tmp_path), Decision("use the ledger of project A", "model")
    home.own.append([DecisionMade(decision)])
    assert home.known() == {} and not home.facts.known(make_fact_id(USER_JOURNAL, fact_from_decision(decision)))
