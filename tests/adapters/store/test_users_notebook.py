"""The one journal that all projects read: only rules that the user has laid down for all of them come out of it."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.adapters.store.database import Database
from afresh.adapters.store.lore import SqliteLore
from afresh.adapters.store.notebook import SqliteNotebook
from afresh.adapters.store.sqlite import SqliteStore
from afresh.domain.event import Corrected, Decided, Digested, Event, Forgotten, Noted
from afresh.domain.fact import Decision, Fact, FactKind, Scope
from afresh.domain.known import Question, decided, fact_id
from afresh.domain.notes import NOTEBOOK, USER
from afresh.testing.memory import FakeClock


class Home:
    """The notebook of a user, and a project that reads it."""

    def __init__(self, folder: Path) -> None:
        clock, database = FakeClock(), Database(folder / "afresh.db")
        self.own = SqliteNotebook(Database(folder / "user.db"), clock, USER)
        self.notebook = SqliteNotebook(database, clock)
        self.lore = SqliteLore(folder / "memory.db", SqliteStore(database), lambda: [self.notebook, self.own])

    def known(self) -> dict[str, str]:
        return {one.id: one.fact.text for one in self.lore.look_up(Question("", limit=100))}


RULE = Fact(FactKind.RULE, "language", "Answer in plain English", scope=Scope.USER)
HERE = Fact(FactKind.RULE, "indent", "Use tabs", scope=Scope.PROJECT)
facts = st.builds(
    Fact, st.sampled_from(list(FactKind)), st.sampled_from(("language", "indent")), st.text("ab", min_size=1, max_size=4),
    scope=st.sampled_from(list(Scope)),
)  # fmt: skip
names = st.sampled_from([fact_id(NOTEBOOK, HERE), fact_id(USER, RULE), fact_id("some-task-1f2e", HERE)])
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Noted, facts, st.just("anna")),
    st.builds(lambda fact: Digested((fact,)), facts),
    st.builds(lambda text: Decided(Decision(text, "model")), st.text("cd", min_size=1, max_size=4)),
    st.builds(Corrected, names, st.text("ef", min_size=1, max_size=4), st.just("anna")),
    st.builds(Forgotten, names, st.just("anna")),
)


@settings(max_examples=25)
@given(st.lists(events, max_size=6))
def test_whatever_stands_in_it_no_project_reads_more_than_the_users_own(tmp_path_factory, told: list[Event]) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    home.notebook.append([Noted(HERE, "anna")])
    home.own.append([Noted(RULE, "anna"), *told])
    known = home.lore.look_up(Question("", limit=100))
    assert {one.task for one in known} <= {NOTEBOOK, USER}
    assert all(one.fact.scope is Scope.USER for one in known if one.task == USER)
    assert [one.fact for one in known if one.task == NOTEBOOK] == [HERE], "nor can it change what is the project's"
    assert {edit.id for edit in home.lore.edits()} <= {one.id for one in home.lore.known(fact_id(USER, RULE))} | {
        fact_id(USER, fact) for event in told if isinstance(event, Noted | Digested) for fact in all_of(event)
    }


def all_of(event: Noted | Digested) -> tuple[Fact, ...]:
    return (event.fact,) if isinstance(event, Noted) else event.facts


def test_a_rule_for_all_projects_is_read_corrected_and_forgotten(tmp_path: Path) -> None:
    home, name = Home(tmp_path), fact_id(USER, RULE)
    home.own.append([Noted(RULE, "anna")])
    assert home.known() == {name: RULE.text}
    home.own.append([Corrected(name, "Answer in short sentences", "anna")])
    (now,) = home.known()
    assert home.known() == {now: "Answer in short sentences"}
    home.own.append([Forgotten(now, "anna")])
    assert home.known() == {}


def test_a_decision_that_got_into_it_is_nobodys(tmp_path: Path) -> None:
    home, decision = Home(tmp_path), Decision("use the ledger of project A", "model")
    home.own.append([Decided(decision)])
    assert home.known() == {} and not home.lore.known(fact_id(USER, decided(decision)))
