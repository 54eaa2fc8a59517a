"""What every fact index must do. Subclass it in a test file and give it a `storage`, fresh and empty (and `reopen`)."""

import pytest

from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactCorrected, FactForgotten, FactKind, FactNoted, FactScope
from afresh.core.project_facts import FactQuery, ProjectFact, fact_from_decision
from afresh.core.state import State
from afresh.core.verdict import CheckRun, Ruling, Verdict
from afresh.ports.storage import Storage
from support.sample_journals import create_task, make_entries


def make_fact(subject: str, text: str, step: int = 1, kind: FactKind = FactKind.NOTE) -> Fact:
    return Fact(kind, subject, text, step=step)


class FactLearner:
    """A process that writes to journals, and passes what it has written to the index."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.states: dict[str, State] = {}

    def happens(self, task: str, *events: happened.Event, seen: bool = True) -> None:
        if task not in self.states:
            self.states[task] = create_task(self.storage.journal, task)
            self.storage.facts.saw(self.states[task], list(self.storage.journal.journal(task)))
        entries, self.states[task] = make_entries(self.states[task], events)
        self.storage.journal.append(entries, (), self.states[task])
        if seen:
            self.storage.facts.saw(self.states[task], entries)

    def learns(self, task: str, *facts: Fact, seen: bool = True) -> None:
        self.happens(task, happened.OutputDigested(facts), seen=seen)

    def notes(self, event: happened.Event) -> None:
        self.storage.notebook.append([event])

    def knows(self, words: str, task: str = "", own: bool = False, kinds: tuple[FactKind, ...] = ()) -> list[str]:
        found = self.storage.facts.look_up(FactQuery(words, kinds, task, own))
        return [known.fact.text for known in found]

    def find(self, words: str) -> ProjectFact:
        (known,) = self.storage.facts.look_up(FactQuery(words))
        return known


class FactIndexContract:
    """Fixture `storage`, fresh and empty, is to be given by the subclass."""

    def reopen(self, storage: Storage) -> Storage:
        """The same storage as another process has it."""
        return storage

    @pytest.fixture
    def learner(self, storage: Storage) -> FactLearner:
        return FactLearner(storage)

    def test_a_fact_is_found_by_part_of_an_identifier(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("parser", "parseHTTPHeader drops the last_line"))
        learner.learns("one", make_fact("cache", "entries expire after an hour"))
        for words in ("http header", "parseHTTPHeader", "last_line", "line", "PARSER"):
            assert learner.knows(words, "one") == ["parseHTTPHeader drops the last_line"], words
        assert learner.knows("nothing of the kind") == []

    def test_without_words_the_newest_come_first_and_no_more_than_asked_for(self, learner: FactLearner) -> None:
        learner.learns("one", *[make_fact(f"thing {n}", f"value {n}") for n in range(4)])
        newest = learner.storage.facts.look_up(FactQuery("", limit=2))
        assert [known.fact.text for known in newest] == ["value 3", "value 2"]

    def test_a_newer_fact_about_the_same_takes_the_older_ones_place_and_both_are_history(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("parser", "reads lines"), make_fact("cache", "is empty"))
        learner.learns("one", make_fact("parser", "reads bytes", 2))
        assert learner.knows("parser", "one") == ["reads bytes"] and learner.knows("lines", "one") == []
        history = learner.storage.facts.history(learner.find("parser"))
        assert [(one.fact.text, one.end) for one in history] == [("reads lines", "superseded"), ("reads bytes", "")]

    def test_the_same_words_again_are_one_fact(self, learner: FactLearner) -> None:
        for step in (1, 2, 3):
            learner.learns("one", make_fact("parser", "reads lines", step))
        known = learner.find("parser")
        assert len(learner.storage.facts.known(known.id)) == len(learner.storage.facts.history(known)) == 1

    def test_a_task_sees_its_own_facts_and_the_projects_but_not_what_another_merely_observed(self, learner: FactLearner) -> None:
        seen = make_fact("tests/test_a.py::test_b", "AssertionError in parser", kind=FactKind.OBSERVED)
        learner.learns("one", make_fact("parser", "reads lines of parser"), seen)
        assert sorted(learner.knows("parser", "one")) == ["AssertionError in parser", "reads lines of parser"]
        assert learner.knows("parser", "two") == ["reads lines of parser"]
        assert learner.knows("parser", "two", own=True) == []
        assert learner.knows("parser", "one", kinds=(FactKind.OBSERVED,)) == ["AssertionError in parser"]

    def test_words_of_persons_decisions_and_verified_checks_are_facts_too(self, learner: FactLearner) -> None:
        decision = Decision("keep the table", "model", "it is shorter", 3, "dispatch", 0.7)
        run = CheckRun("pytest -q", 0, passed=3, block="b" * 32)
        learner.happens(
            "one",
            happened.QuestionAnswered("never touch vendored/ files"),
            happened.DecisionMade(decision),
            happened.VerdictReached(4, Verdict(Ruling.PASS, "all fine", (run,), final=True)),
        )
        kinds = {known.fact.kind: known for known in learner.storage.facts.look_up(FactQuery("", task="one"))}
        assert kinds[FactKind.ANSWER].fact.text == "never touch vendored/ files" and kinds[FactKind.ANSWER].by == "person"
        assert kinds[FactKind.DECISION].fact == fact_from_decision(decision)
        assert (kinds[FactKind.CHECK].fact.confidence, kinds[FactKind.CHECK].fact.block) == (1.0, "b" * 32)

    def test_what_was_observed_in_a_step_that_is_undone_no_longer_holds(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("a::b", "fails oddly", 1, FactKind.OBSERVED), make_fact("odd", "stays", 1))
        learner.happens("one", happened.ChangeKeptOrReverted(1, False, "s"))
        assert learner.knows("oddly odd", "one") == ["stays"]
        learner.learns("one", make_fact("t.py::b", "fails oddly", 2, FactKind.OBSERVED))
        green = Verdict(Ruling.PASS, "", (CheckRun("pytest", 0, passed=9),))
        learner.happens("one", happened.VerdictReached(2, green))
        assert learner.knows("oddly odd", "one") == ["stays"]

    def test_what_happened_while_nobody_looked_is_known_to_the_next_process(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("cache", "is cold"), seen=False)
        assert FactLearner(self.reopen(learner.storage)).knows("cold", "one") == ["is cold"]

    def test_what_another_process_writes_into_the_notebook_is_known_at_the_next_question(self, learner: FactLearner) -> None:
        assert learner.knows("tabs") == []
        rule = Fact(FactKind.RULE, "style", "use tabs", scope=FactScope.PROJECT)
        self.reopen(learner.storage).notebook.append([FactNoted(rule, "anna")])
        assert learner.knows("tabs", "any") == ["use tabs"]

    def test_only_rules_for_all_projects_come_out_of_the_users_notebook(self, learner: FactLearner) -> None:
        everywhere = Fact(FactKind.RULE, "language", "answer briefly", scope=FactScope.USER)
        learner.storage.user_notebook.append(
            [FactNoted(everywhere, "anna"), FactNoted(make_fact("other", "answer of another project"), "anna")]
        )
        assert learner.knows("answer", "any") == ["answer briefly"]

    def test_a_correction_puts_a_persons_words_in_the_place_of_a_fact(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("parser", "reads lines"))
        old = learner.find("parser")
        learner.notes(FactCorrected(old.id, "reads bytes", "anna", "I wrote it"))
        now = learner.find("parser")
        assert (now.fact.text, now.by, now.task) == ("reads bytes", "anna", "one")
        assert [one.end for one in learner.storage.facts.history(now)] == ["corrected by anna: I wrote it", ""]
        assert [(edit.id, edit.new) for edit in learner.storage.facts.edits()] == [(old.id, "reads bytes")]

    def test_what_a_person_has_corrected_is_not_learnt_again(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("parser", "reads lines"))
        learner.notes(FactCorrected(learner.find("parser").id, "reads bytes", "anna"))
        assert learner.knows("parser") == ["reads bytes"]
        learner.learns("one", make_fact("parser", "reads lines", 5))
        assert learner.knows("parser") == ["reads bytes"]
        learner.notes(FactCorrected(learner.find("parser").id, "reads lines", "anna"))
        assert learner.knows("parser") == ["reads lines"], "but the person may go back"

    def test_what_is_forgotten_is_not_found_and_not_learnt_again(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("key", "the password is swordfish"))
        known = learner.find("swordfish")
        learner.notes(FactForgotten(known.id, "anna", "a secret"))
        assert learner.knows("swordfish", "one") == []
        learner.learns("one", make_fact("key", "the password is swordfish", 9))
        assert learner.knows("swordfish", "one") == []
        (gone,) = learner.storage.facts.known(known.id)
        assert gone.ended and gone.end == "forgotten by anna: a secret"

    def test_an_index_that_is_made_again_knows_the_same(self, learner: FactLearner) -> None:
        learner.learns("one", make_fact("parser", "reads lines"), make_fact("cache", "is cold"))
        learner.learns("two", make_fact("parser", "takes long", 2))
        learner.notes(FactCorrected(learner.find("cold").id, "is warm", "anna"))
        facts = learner.storage.facts
        before = [*facts.look_up(FactQuery("", limit=99))], [*facts.edits()]
        facts.rebuild()
        after = [*facts.look_up(FactQuery("", limit=99))], [*facts.edits()]
        assert sorted(map(repr, after[0])) == sorted(map(repr, before[0])) and after[1] == before[1]
