"""The books of a run: prices, odd usage, calls that failed, and what happens when nothing can be written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core import spending
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose, LimitScope, LimitUnit, SpendingAccount, SpendingLimits
from afresh.core.usage import Usage
from afresh.errors import NeedsPerson, OverLimit, TryAgain
from afresh.spending.ledger import MAX_CREDIBLE_TOKENS, SpendingLedger, SpendingTerms, correct_usage
from afresh.spending.price_list import FreePrices, Price, PriceTable, UserPrice
from afresh.storage.sql.ledger import SqlLedger
from afresh.storage.sqlite.storage import open_sqlite_ledger
from support.fakes import FakeClock

CALL = CallBooking(
    task="t", project="p", kind=CallPurpose.WORK, model="lab:one", step=1, ceiling=4_000, tokens=3_000, reserve=1_000
)
RATE = UserPrice(input=2.0, output=10.0, cached=0.2, written=2.5)
RATES = {"lab:one": RATE, "lab:liar": RATE}
LIES = replace(CALL, model="lab:liar")
UNSET = SpendingLimits()


@dataclass
class LedgerFolder:
    folder: Path
    told: list[str] = field(default_factory=list[str])

    def books(
        self, limits: SpendingLimits = UNSET, prices: Mapping[str, UserPrice] = RATES, free: bool = False
    ) -> SpendingLedger:
        terms = SpendingTerms("p", FreePrices() if free else PriceTable(prices), limits, free, "CONFIG")
        return SpendingLedger(open_sqlite_ledger(self.folder / "ledger.db"), terms, FakeClock(), self.told.append)

    def rows(self, columns: str) -> list[tuple]:
        with open_sqlite_ledger(self.folder / "ledger.db")._database.reading() as connection:
            return connection.execute(f"SELECT {columns} FROM call ORDER BY number").fetchall()


@pytest.fixture
def ledgers(tmp_path: Path) -> LedgerFolder:
    return LedgerFolder(tmp_path)


def counted(*usage: int) -> Reply:
    return Reply(usage=Usage(*usage), counted=True)


def test_the_worst_is_all_uncached_at_the_price_of_writing_with_the_longest_reply(ledgers: LedgerFolder):
    ledgers.books().book(CALL)
    assert ledgers.rows("worst, state, estimated, reserve") == [(3_000 * 2_500 + 1_000 * 10_000, "booked", 3_000, 1_000)]


def test_what_was_cached_and_written_is_paid_at_its_own_price(ledgers: LedgerFolder):
    books = ledgers.books()
    cost = books.settle(books.book(CALL), counted(3_000, 100, 1_000, 500))
    read = 1_500 * 2_000 + 1_000 * 200 + 500 * 2_500
    assert cost == read + 100 * 10_000
    assert ledgers.rows("paid, paid_input, cached, written, counted") == [(read + 100 * 10_000, read, 1_000, 500, 1)]


@given(st.builds(Usage, *[st.integers(-(10**20), 10**20)] * 5))
def test_whatever_is_reported_can_be_written_down_and_never_pays_back(usage: Usage):
    checked, _ = correct_usage(Reply(usage=usage, counted=True), CALL)
    assert (
        0 <= checked.cached + checked.written <= checked.input <= MAX_CREDIBLE_TOKENS
        and 0 <= checked.thinking <= checked.output <= MAX_CREDIBLE_TOKENS
    )
    price = Price(75.0, 7.5, "", 300.0, 90.0)
    assert 0 <= price.read(checked) + price.said(checked) < 2**63


def test_a_usage_that_makes_no_sense_is_booked_as_reported_and_flagged(ledgers: LedgerFolder):
    books = ledgers.books(SpendingLimits(day=1_000, task=1_000))
    books.settle(books.book(LIES), counted(900_000, 40))
    assert ledgers.rows("input, output") == [(900_000, 40)]
    assert ledgers.rows("note")[0][0] == "900,040 tokens were reported, 4,000 is the limit"


def test_a_missing_usage_is_our_estimate_and_flagged(ledgers: LedgerFolder):
    books = ledgers.books()
    books.settle(books.book(CALL), Reply("a thought"))
    ((sent, said, paid, note),) = ledgers.rows("input, output, paid, note")
    assert sent == 3_000 and said > 0 and paid > 3_000 * 2_000 and note == "no usage was reported: our estimate"


def test_a_huge_report_trips_the_limits_and_the_reply_is_not_lost(ledgers: LedgerFolder):
    books = ledgers.books(SpendingLimits(call=9, task=1))
    books.settle(books.book(LIES), counted(900_000, 40))
    with pytest.raises(OverLimit, match=r"the limit of \$1.00 for one task is reached") as refused:
        books.book(CALL)
    assert refused.value.scope == "task" and "`afresh spend --reset task t`" in refused.value.next
    assert ledgers.told[-1].startswith("the limit of $1.00 for one task (task t) is reached")


def test_a_failed_call_costs_nothing_unless_the_fault_knows_better(ledgers: LedgerFolder):
    books = ledgers.books()
    books.cancel(books.book(CALL), TryAgain("busy"))
    paid = TryAgain("cut off")
    paid.usage = Usage(3_000, 10)  # pyright: ignore[reportAttributeAccessIssue]
    books.cancel(books.book(CALL), paid)
    assert ledgers.rows("state, paid, note") == [
        ("cancelled", 0, "busy"), ("settled", 3_000 * 2_000 + 10 * 10_000, "no reply, paid all the same"),
    ]  # fmt: skip


def test_an_unknown_price_is_refused_only_under_a_limit_of_the_user_s_own(ledgers: LedgerFolder):
    with pytest.raises(OverLimit, match="the price of lab:one is unknown") as refused:
        ledgers.books(SpendingLimits(day=3), {}).book(CALL)
    assert '[prices."lab:one"]' in refused.value.next and "CONFIG" in refused.value.next
    books = ledgers.books(prices={})
    assert books.settle(books.book(CALL), counted(3_000, 10)) is None
    assert ledgers.rows("price, worst, paid") == [("unknown", 0, 0)]
    tokens = ledgers.books(SpendingLimits(task_tokens=7_000), {})
    with pytest.raises(OverLimit, match="7,000 tokens for one task"):
        tokens.book(CALL)


def test_without_a_price_a_limit_of_tokens_stands_in(ledgers: LedgerFolder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spending, "UNPRICED_LIMITS_TOKENS", {LimitScope.TASK: 7_000, LimitScope.DAY: 7_200})
    books = ledgers.books(prices={})
    books.settle(books.book(CALL), counted(3_000, 500))
    with pytest.raises(OverLimit, match="7,000 tokens of unknown price for one task") as refused:
        books.book(CALL)
    assert "no calls of models without a known price for this task" in refused.value.what
    assert "raise `task_tokens`" in refused.value.next
    with pytest.raises(OverLimit, match="7,200 tokens of unknown price a day"):
        books.book(replace(CALL, task="another"))
    priced = ledgers.books()
    priced.settle(priced.book(CALL), counted(3_000, 500))
    with pytest.raises(OverLimit):
        books.book(CALL)
    raised = ledgers.books(SpendingLimits(task_tokens=100_000, day_tokens=100_000), {})
    assert raised.book(CALL)


def test_tokens_of_free_and_priced_calls_are_not_taken_for_unpriced_ones(ledgers: LedgerFolder):
    books, free, priced = ledgers.books(), ledgers.books(free=True), ledgers.books()
    free.settle(free.book(CALL), counted(3_000, 10))
    priced.settle(priced.book(CALL), counted(3_000, 10))
    account = SpendingAccount("p", CALL.payer, 0.0)
    assert not books.ledger.tally(account, LimitScope.TOTAL, LimitUnit.UNPRICED).total
    unknown = ledgers.books(prices={})
    unknown.settle(unknown.book(CALL), counted(3_000, 10))
    assert books.ledger.tally(account, LimitScope.TOTAL, LimitUnit.UNPRICED).total == 3_010


def test_a_model_that_nobody_pays_for_is_written_down_once_it_has_answered(ledgers: LedgerFolder):
    books = ledgers.books(SpendingLimits(day=0), free=True)
    first, second = books.book(CALL), books.book(CALL)
    assert books.settle(second, Reply(usage=Usage(2_000, 30))) == 0
    books.cancel(first, TryAgain("gone"))
    assert ledgers.rows("state, price, input, output, paid") == [("settled", "free", 2_000, 30, 0)]


def test_limits_of_tokens_count_for_models_that_nobody_pays_for(ledgers: LedgerFolder):
    books = ledgers.books(SpendingLimits(day_tokens=5_000), free=True)
    books.settle(books.book(CALL), Reply(usage=Usage(2_000, 30)))
    with pytest.raises(OverLimit):
        books.book(CALL)


def broken(path: Path) -> None:
    path.write_text("no database at all " * 100)


def blocked(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("spoil", [broken, blocked])
def test_without_books_no_model_is_called_that_somebody_pays_for(ledgers: LedgerFolder, spoil: Callable[[Path], None]):
    spoil(ledgers.folder / "ledger.db")
    with pytest.raises(NeedsPerson, match="can't be written, so no model is called") as refused:
        ledgers.books().book(CALL)
    assert "nothing was sent" in refused.value.safe and "afresh doctor --rebuild" in refused.value.next
    free = ledgers.books(free=True)
    free.settle(free.book(CALL), counted(1, 1))
    limited = ledgers.books(SpendingLimits(day_tokens=5_000), free=True)
    limited.settle(limited.book(CALL), counted(1, 1))


def test_a_payment_that_could_not_be_written_is_made_up_for_before_the_next_call(
    ledgers: LedgerFolder, monkeypatch: pytest.MonkeyPatch
):
    books = ledgers.books()
    booked = books.book(CALL)
    with monkeypatch.context() as patch:
        patch.setattr(SqlLedger, "settle", lambda *args: (_ for _ in ()).throw(NeedsPerson("no room left")))
        assert books.settle(booked, counted(2_000, 10)) == 2_000 * 2_000 + 10 * 10_000
        assert "no other call is made" in ledgers.told[-1] and ledgers.rows("state") == [("booked",)]
        with pytest.raises(NeedsPerson, match="no room left"):
            books.book(CALL)
    books.book(CALL)
    assert ledgers.rows("state, input") == [("settled", 2_000), ("booked", 0)]


def test_long_calls_are_priced_by_their_tier():
    pytest.importorskip("genai_prices")
    table = PriceTable()
    short, long = table.of("anthropic:claude-sonnet-4-5", 4_000), table.of("anthropic:claude-sonnet-4-5", 300_000)
    assert short and long and long.input > short.input and long.output > short.output
    assert short.written > short.input > short.cached
    assert table.of("anthropic:no-such-model") is None


def test_what_the_user_says_counts_before_the_list():
    table = PriceTable({"openai:gpt-5": UserPrice(1.0, 2.0)})
    assert table.of("openai:gpt-5") == Price(1.0, 1.0, "your config", 2.0, 0.0)
