"""Each behaviour of a contract goes red for a twin of the real thing that lacks it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afresh.core.event import JournalHead
from afresh.core.fact import FactScope
from afresh.core.ledger import SpendingTally
from afresh.core.project_facts import extract_facts
from afresh.core.spending import LimitScope
from afresh.errors import BadInput, Conflict
from afresh.storage.sql import fact_index, facts
from afresh.storage.sql.fact_index import SqlFactIndex
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_ledger, open_sqlite_storage
from support.fact_index_contract import FactIndexContract, FactLearner
from support.fakes import FakeClock
from support.ledger_contract import LedgerContract, make_order
from support.storage_contract import NotebookContract, StorageContract

RED = (AssertionError, pytest.fail.Exception, ValueError, KeyError)
Instead = dict[str, Callable[..., Any]]


class Twin:
    """The real thing but for some methods, which are given it."""

    def __init__(self, inner: Any, instead: Instead) -> None:
        self.inner, self.instead = inner, instead

    def __getattr__(self, name: str) -> Any:
        if name in self.instead:
            return lambda *args, **more: self.instead[name](self.inner, *args, **more)
        return getattr(self.inner, name)


def behaviours(contract: type) -> set[str]:
    return {name for name in vars(contract) if name.startswith("test_")}


LEDGER: dict[str, Instead] = {
    "test_an_empty_ledger_has_nothing_to_say": {"alerts": lambda inner, most: ["one"]},
    "test_a_booked_call_counts_at_its_worst_and_a_paid_one_as_it_was": {"settle": lambda inner, *args: []},
    "test_a_call_comes_back_as_it_was_written": {
        "settle": lambda inner, number, payment, limits: inner.settle(number, replace(payment, note=""), limits)
    },
    "test_calls_are_found_by_time_project_and_task": {"calls": lambda inner, which: inner.calls(replace(which, task=""))},
    "test_the_worst_of_a_call_must_fit_and_one_that_does_not_trips_the_limit_for_good": {
        "book": lambda inner, order: inner.book(replace(order, limits=()))
    },
    "test_a_narrow_limit_stops_only_its_own": {"tripped": lambda inner, account=None: inner.tripped()},
    "test_days_and_months_are_counted_apart": {
        "book": lambda inner, order: inner.book(replace(order, account=replace(order.account, at=0.0)))
    },
    "test_a_reset_allows_as_much_again_and_what_is_still_open_goes_on_to_count": {
        "settle": lambda inner, number, payment, limits: inner.settle(number, payment, ()),
        "book": lambda inner, order: inner.book(replace(order, worst=order.worst // 2)),
    },
    "test_a_tally_knows_what_was_spent_before_a_reset": {"tally": lambda inner, *args: SpendingTally(inner.tally(*args).total)},
    "test_a_limit_that_tripped_yesterday_is_ended_by_a_reset_of_today": {
        "reset": lambda inner, account, scope: inner.reset(account, LimitScope.TASK)
    },
    "test_a_raised_limit_lets_calls_through_as_far_as_it_goes": {
        "book": lambda inner, order: (inner.tripped() or [inner.book(order)])[0]
    },
    "test_a_model_that_nobody_pays_for_does_not_end_a_tripped_limit_of_money": {
        "book": lambda inner, order: (inner.reset(order.account, LimitScope.DAY), inner.book(order))[1]
    },
    "test_a_call_that_cost_more_than_expected_trips_what_it_broke": {
        "settle": lambda inner, number, payment, limits: inner.settle(number, payment, ())
    },
    "test_a_cancelled_call_costs_nothing": {"cancel": lambda inner, *args: None},
    "test_a_call_cancelled_without_a_refund_stays_at_its_worst_and_is_no_longer_open": {
        "cancel": lambda inner, number, note, refund: inner.cancel(number, note)
    },
    "test_only_what_is_booked_can_be_paid_or_cancelled": {
        "settle": lambda inner, number, payment, limits: inner.enter([(make_order(0), payment)])
    },
    "test_a_part_spends_what_its_whole_may": {
        "book": lambda inner, order: inner.book(replace(order, account=replace(order.account, task=order.call.task)))
    },
    "test_what_was_never_booked_can_be_entered_and_counts": {"enter": lambda inner, made: inner.enter(made[:1])},
    "test_alerts_come_once_each_for_a_limit_and_a_period": {"settle": lambda inner, *args: [*inner.settle(*args)] * 2},
    "test_turns_under_a_rate_limit_are_shared_by_all_workers": {
        "take_turn": lambda inner, model, tokens, limits: inner.take_turn(model, tokens, ())
    },
    "test_a_turn_counts_the_tokens_that_were_used_and_one_that_was_not_taken_counts_nothing": {
        "end_turn": lambda inner, number, tokens: None
    },
}
PARAMETERS = {"test_a_narrow_limit_stops_only_its_own": ("task", ("u", "p"))}


@pytest.mark.parametrize("name", sorted(behaviours(LedgerContract)))
def test_a_broken_ledger_is_noticed(name: str, tmp_path: Path) -> None:
    twin = Twin(open_sqlite_ledger(tmp_path / "ledger.db"), LEDGER[name])
    with pytest.raises(RED):
        getattr(LedgerContract(), name)(twin, *PARAMETERS.get(name, ()))


NOTEBOOK: dict[str, Instead] = {
    "test_a_new_notebook_is_empty": {"head": lambda inner: JournalHead(1, "f" * 64)},
    "test_what_was_appended_is_there_in_order_for_the_next_process": {
        "entries": lambda inner, *after: reversed([*inner.entries(*after)])
    },
    "test_the_head_is_the_last_entry_also_of_another_writer": {"head": lambda inner: JournalHead()},
    "test_reading_can_begin_after_any_entry": {"entries": lambda inner, after=None: inner.entries()},
    "test_entries_from_elsewhere_come_in_as_they_are": {
        "extend": lambda inner, entries: inner.append([entry.event for entry in entries])
    },
    "test_entries_that_do_not_continue_the_chain_are_a_conflict_and_nothing_is_written": {"extend": lambda inner, entries: None},
}


@pytest.mark.parametrize("name", sorted(behaviours(NotebookContract)))
def test_a_broken_notebook_is_noticed(name: str, tmp_path: Path) -> None:
    twin = Twin(SqlNotebook(Database(tmp_path / "user.db"), FakeClock()), NOTEBOOK[name])
    with pytest.raises(RED):
        getattr(NotebookContract(), name)(twin)


def forget_notebooks(index: SqlFactIndex) -> None:
    index._notebooks = ()
    REBUILD(index)


REBUILD = SqlFactIndex.rebuild
NEWEST = fact_index.list_newest_facts
FACTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "test_a_fact_is_found_by_part_of_an_identifier": (facts, "index_words", lambda fact: (fact.subject, fact.text)),
    "test_without_words_the_newest_come_first_and_no_more_than_asked_for": (
        fact_index, "list_newest_facts", lambda connection, question: NEWEST(connection, replace(question, limit=99)),
    ),
    "test_a_newer_fact_about_the_same_takes_the_older_ones_place_and_both_are_history": (facts, "end_fact", lambda *args: None),
    "test_the_same_words_again_are_one_fact": (facts, "find_same_subject", lambda *args: []),
    "test_a_task_sees_its_own_facts_and_the_projects_but_not_what_another_merely_observed": (
        fact_index, "build_conditions", lambda question: ("", ()),
    ),
    "test_words_of_persons_decisions_and_verified_checks_are_facts_too": (facts, "extract_facts", lambda entry: ()),
    "test_what_was_observed_in_a_step_that_is_undone_no_longer_holds": (facts, "apply_event", lambda *args: None),
    "test_what_happened_while_nobody_looked_is_known_to_the_next_process": (SqlJournal, "heads", lambda self, after: {}),
    "test_what_another_process_writes_into_the_notebook_is_known_at_the_next_question": (
        SqlNotebook, "entries", lambda self, after: iter(()),
    ),
    "test_only_rules_for_all_projects_come_out_of_the_users_notebook": (
        facts, "extract_facts", lambda entry: [(replace(fact, scope=FactScope.USER), by) for fact, by in extract_facts(entry)],
    ),
    "test_a_correction_puts_a_persons_words_in_the_place_of_a_fact": (facts, "list_edits", lambda connection: ()),
    "test_what_a_person_has_corrected_is_not_learnt_again": (facts, "is_fact_edited", lambda *args: False),
    "test_what_is_forgotten_is_not_found_and_not_learnt_again": (facts, "is_fact_edited", lambda *args: False),
    "test_an_index_that_is_made_again_knows_the_same": (SqlFactIndex, "rebuild", forget_notebooks),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(behaviours(FactIndexContract)))
def test_a_broken_fact_index_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FACTS[name])
    storage = open_sqlite_storage(tmp_path, tmp_path / "user", FakeClock())
    with pytest.raises(RED):
        getattr(FactIndexContract(), name)(FactLearner(storage))


@contextmanager
def rolling_back(database: Database) -> Iterator[None]:
    with suppress(InterruptedError), database.writing():
        yield
        raise InterruptedError


STORAGE: dict[str, Callable[[Database], AbstractContextManager[None]]] = {
    "test_what_is_written_in_a_transaction_is_there_together": rolling_back,
    "test_nothing_of_a_transaction_that_fails_is_written": lambda database: nullcontext(),
    "test_a_block_of_a_transaction_that_failed_is_kept_when_it_comes_again": lambda database: database.writing(),  # pyright: ignore
    "test_the_first_fault_ends_the_whole_transaction": lambda database: nullcontext(),
}
"""The transaction that is put in the place of the real one. The third does not forget which blocks were written."""


@pytest.mark.parametrize("name", sorted(behaviours(StorageContract)))
def test_a_broken_storage_is_noticed(name: str, tmp_path: Path) -> None:
    storage = open_sqlite_storage(tmp_path, tmp_path / "user", FakeClock())
    database = storage.journal._database  # pyright: ignore
    with pytest.raises((*RED, BadInput, Conflict)):
        getattr(StorageContract(), name)(replace(storage, transaction=lambda: STORAGE[name](database)))
