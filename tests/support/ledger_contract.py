"""What every ledger must do. Subclass it in a test file and give it a `ledger`, fresh and empty (and `reopen`)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from afresh.core.ledger import CallPayment, CallStatus, LedgerCall, PricedBooking, SpendingFilter, SpendingTally
from afresh.core.rate_limit import WINDOW_SECONDS, RateLimit
from afresh.core.spending import CallBooking, CallPurpose, LimitScope, LimitUnit, SpendingAccount, SpendingLimit, TrippedLimit
from afresh.core.usage import Usage
from afresh.ports.storage import LedgerStore

DAY_SECONDS = 86_400.0
NOON = 1_760_000_000.0
SAMPLE_CALL = CallBooking(
    task="t", project="shop", kind=CallPurpose.WORK, model="m", step=1, ceiling=4_000, tokens=900, reserve=100,
    sections=(("system", 100), ("files", 300)),
)  # fmt: skip
SAMPLE_ACCOUNT = SpendingAccount("p", "t", NOON)


def make_limits(**most: int) -> tuple[SpendingLimit, ...]:
    """Limits of money by scope, in nano-dollars."""
    return tuple(SpendingLimit(LimitScope(name), LimitUnit.MONEY, amount) for name, amount in most.items())


def make_order(
    worst: int, limits: Sequence[SpendingLimit] = (), task: str = "t", project: str = "p", at: float = NOON
) -> PricedBooking:
    account = SpendingAccount(project, task, at)
    return PricedBooking(replace(SAMPLE_CALL, task=task), account, worst, "known", "worker", limits)


def make_payment(amount: int, tokens: int = 1_000) -> CallPayment:
    return CallPayment(Usage(tokens, 0), True, amount, amount)


def book_call(ledger: LedgerStore, order: PricedBooking) -> int:
    number = ledger.book(order)
    assert isinstance(number, int), number.words
    return number


def refuse_call(ledger: LedgerStore, order: PricedBooking) -> TrippedLimit:
    refusal = ledger.book(order)
    assert isinstance(refusal, TrippedLimit)
    return refusal


def pay_call(ledger: LedgerStore, order: PricedBooking, amount: int | None = None) -> list[int]:
    """Book and settle; the percentages of the alerts."""
    paid = make_payment(order.worst if amount is None else amount)
    return [alert.percent for alert in ledger.settle(book_call(ledger, order), paid, order.limits)]


def sum_money(ledger: LedgerStore) -> int:
    return sum(call.charge.money for call in ledger.calls(SpendingFilter()))


class LedgerContract:
    """Fixture `ledger`, fresh and empty, is to be given by the subclass."""

    def reopen(self, ledger: LedgerStore) -> LedgerStore:
        """The same ledger as a new process would find it."""
        return ledger

    def test_an_empty_ledger_has_nothing_to_say(self, ledger: LedgerStore) -> None:
        assert not ledger.calls(SpendingFilter()) and not ledger.tripped() and not ledger.alerts(9)
        assert ledger.tally(SAMPLE_ACCOUNT, LimitScope.TOTAL, LimitUnit.MONEY) == SpendingTally()

    def test_a_booked_call_counts_at_its_worst_and_a_paid_one_as_it_was(self, ledger: LedgerStore) -> None:
        number = book_call(ledger, make_order(70))
        assert sum_money(ledger) == ledger.tally(SAMPLE_ACCOUNT, LimitScope.TASK, LimitUnit.MONEY).spent == 70
        ledger.settle(number, make_payment(30), ())
        assert sum_money(ledger) == ledger.tally(SAMPLE_ACCOUNT, LimitScope.TASK, LimitUnit.MONEY).spent == 30
        assert ledger.tally(SAMPLE_ACCOUNT, LimitScope.TASK, LimitUnit.TOKENS).spent == 1_000

    def test_a_call_comes_back_as_it_was_written(self, ledger: LedgerStore) -> None:
        order = make_order(70)
        order = replace(order, call=replace(order.call, parent="whole"), account=SpendingAccount("p", "whole", NOON + 0.25))
        payment = CallPayment(Usage(800, 50, 300, 20, 10), True, 40, 25, "odd")
        number = book_call(ledger, order)
        ledger.settle(number, payment, ())
        assert list(self.reopen(ledger).calls(SpendingFilter())) == [LedgerCall(number, CallStatus.SETTLED, order, payment)]

    def test_calls_are_found_by_time_project_and_task(self, ledger: LedgerStore) -> None:
        part = make_order(4, task="part")
        orders = [make_order(1), make_order(2, task="u"), make_order(3, project="q", at=NOON + 9)]
        orders.append(replace(part, call=replace(part.call, parent="t"), account=SAMPLE_ACCOUNT))
        for order in orders:
            pay_call(ledger, order)
        open_call = book_call(ledger, make_order(5, at=NOON + 9))

        def found(**which: object) -> list[int]:
            return [call.booking.worst for call in ledger.calls(SpendingFilter(**which))]  # pyright: ignore[reportArgumentType]

        assert found() == [1, 2, 3, 4, 5] and found(since=NOON + 1) == [3, 5] and found(project="q") == [3]
        assert found(project="p", task="t") == [1, 4, 5], "with what its parts have taken"
        assert found(only_booked=True) == [5]
        ledger.cancel(open_call, "no answer")
        assert found() == [1, 2, 3, 4], "what was cancelled is not listed"

    def test_the_worst_of_a_call_must_fit_and_one_that_does_not_trips_the_limit_for_good(self, ledger: LedgerStore) -> None:
        limits = make_limits(day=100)
        pay_call(ledger, make_order(90, limits), 40)
        assert refuse_call(ledger, make_order(61, limits)).words.startswith("the limit of $0.0000001 a day is reached")
        assert refuse_call(self.reopen(ledger), make_order(1, limits)).asked == 61, "small ones are stopped, too"
        later = make_order(1, limits, "other", "another", NOON + 40 * DAY_SECONDS)
        assert refuse_call(ledger, later), "and those of other days and projects"
        assert len(ledger.tripped()) == 1 and sum_money(ledger) == 40, "nothing of it is booked"

    @pytest.mark.parametrize(("scope", "other"), [("task", ("u", "p")), ("project", ("t", "q")), ("call", ("u", "p"))])
    def test_a_narrow_limit_stops_only_its_own(self, ledger: LedgerStore, scope: str, other: tuple[str, str]) -> None:
        limits = make_limits(**{scope: 100})
        assert refuse_call(ledger, make_order(101, limits)) and refuse_call(ledger, make_order(1, limits))
        assert book_call(ledger, make_order(100, limits, *other))
        assert ledger.tripped(SAMPLE_ACCOUNT) and not ledger.tripped(SpendingAccount(other[1], other[0], NOON))

    def test_days_and_months_are_counted_apart(self, ledger: LedgerStore) -> None:
        limits = make_limits(day=100, month=250)
        for day in range(2):
            pay_call(ledger, make_order(100, limits, at=NOON + day * DAY_SECONDS))
        assert refuse_call(ledger, make_order(60, limits, at=NOON + 2 * DAY_SECONDS)).limit.scope is LimitScope.MONTH

    def test_a_reset_allows_as_much_again_and_what_is_still_open_goes_on_to_count(self, ledger: LedgerStore) -> None:
        limits, today = make_limits(day=100), SpendingAccount("p", "", NOON)
        pay_call(ledger, make_order(60, limits))
        open_call = book_call(ledger, make_order(40, limits))
        assert refuse_call(ledger, make_order(1, limits))
        assert [ended.limit.scope for ended in ledger.reset(today, LimitScope.DAY)] == [LimitScope.DAY]
        assert refuse_call(ledger, make_order(61, limits)), "40 are still booked"
        ledger.reset(today, LimitScope.DAY)
        ledger.settle(open_call, make_payment(10), limits)
        assert book_call(ledger, make_order(90, limits)) and refuse_call(ledger, make_order(1, limits))

    def test_a_tally_knows_what_was_spent_before_a_reset(self, ledger: LedgerStore) -> None:
        pay_call(ledger, make_order(60), 50)
        ledger.reset(SAMPLE_ACCOUNT, LimitScope.TASK)
        book_call(ledger, make_order(7))
        assert ledger.tally(SAMPLE_ACCOUNT, LimitScope.TASK, LimitUnit.MONEY) == SpendingTally(7, 50)

    def test_a_limit_that_tripped_yesterday_is_ended_by_a_reset_of_today(self, ledger: LedgerStore) -> None:
        limits = make_limits(day=100)
        refuse_call(ledger, make_order(101, limits))
        ledger.reset(SpendingAccount("p", "", NOON + DAY_SECONDS), LimitScope.DAY)
        assert book_call(ledger, make_order(100, limits, at=NOON + DAY_SECONDS)) and not ledger.tripped()

    def test_a_raised_limit_lets_calls_through_as_far_as_it_goes(self, ledger: LedgerStore) -> None:
        pay_call(ledger, make_order(90, make_limits(day=100)))
        assert refuse_call(ledger, make_order(20, make_limits(day=100)))
        assert refuse_call(ledger, make_order(20, make_limits(day=90))), "lower is not higher"
        raised = make_limits(day=110)
        assert book_call(ledger, make_order(20, raised)) and refuse_call(ledger, make_order(1, raised))
        assert book_call(ledger, make_order(1)), "a limit that is gone stops nothing"

    def test_a_model_that_nobody_pays_for_does_not_end_a_tripped_limit_of_money(self, ledger: LedgerStore) -> None:
        refuse_call(ledger, make_order(101, make_limits(day=100)))
        tokens = (SpendingLimit(LimitScope.DAY, LimitUnit.TOKENS, 1_500),)
        assert book_call(ledger, make_order(0, tokens))
        assert refuse_call(ledger, make_order(1, make_limits(day=100))), "still tripped"
        assert refuse_call(ledger, make_order(0, tokens)).limit.unit is LimitUnit.TOKENS

    def test_a_call_that_cost_more_than_expected_trips_what_it_broke(self, ledger: LedgerStore) -> None:
        limits = make_limits(call=50, day=100)
        pay_call(ledger, make_order(10, limits), 120)
        assert {one.limit.scope for one in ledger.tripped()} == {LimitScope.CALL, LimitScope.DAY}
        assert refuse_call(ledger, make_order(1, limits, "other")).limit.scope is LimitScope.DAY

    def test_a_cancelled_call_costs_nothing(self, ledger: LedgerStore) -> None:
        limits = make_limits(day=100)
        ledger.cancel(book_call(ledger, make_order(100, limits)), "no answer")
        assert sum_money(ledger) == 0 and book_call(ledger, make_order(100, limits))

    def test_a_call_cancelled_without_a_refund_stays_at_its_worst_and_is_no_longer_open(self, ledger: LedgerStore) -> None:
        number = book_call(ledger, make_order(70))
        assert [call.is_open for call in ledger.calls(SpendingFilter(only_booked=True))] == [True]
        ledger.cancel(number, "lost", refund=False)
        (call,) = self.reopen(ledger).calls(SpendingFilter())
        assert (call.is_open, call.charge.money, call.payment.note) == (False, 70, "lost")

    def test_only_what_is_booked_can_be_paid_or_cancelled(self, ledger: LedgerStore) -> None:
        number = book_call(ledger, make_order(100))
        ledger.settle(number, make_payment(10), ())
        ledger.settle(number, make_payment(99), ())
        ledger.cancel(number, "too late")
        ledger.settle(77, make_payment(99), ())
        assert sum_money(ledger) == ledger.tally(SAMPLE_ACCOUNT, LimitScope.TOTAL, LimitUnit.MONEY).spent == 10

    def test_a_part_spends_what_its_whole_may(self, ledger: LedgerStore) -> None:
        limits = make_limits(task=100)
        part = make_order(80, limits, "part")
        book_call(ledger, replace(part, call=replace(part.call, parent="t"), account=SAMPLE_ACCOUNT))
        assert refuse_call(ledger, make_order(21, limits, "t"))

    def test_what_was_never_booked_can_be_entered_and_counts(self, ledger: LedgerStore) -> None:
        limits = make_limits(day=100)
        alerts = ledger.enter([(make_order(0, limits), make_payment(30)), (make_order(0, limits), make_payment(25))])
        assert [alert.percent for alert in alerts] == [50] and sum_money(ledger) == 55
        assert refuse_call(ledger, make_order(46, limits))

    def test_alerts_come_once_each_for_a_limit_and_a_period(self, ledger: LedgerStore) -> None:
        limits = make_limits(day=100)
        paid = [pay_call(ledger, make_order(amount, limits)) for amount in (40, 9, 1, 1, 30, 19)]
        assert paid == [[], [], [50], [], [80], [100]]
        assert pay_call(ledger, make_order(85, limits, at=NOON + DAY_SECONDS)) == [50, 80], "the next day"
        assert pay_call(ledger, make_order(0, make_limits(day=190))) == [50], "another limit"
        ledger.reset(SpendingAccount("p", "", NOON), LimitScope.DAY)
        assert pay_call(ledger, make_order(60, limits)) == [50], "after a reset"
        latest = ledger.alerts(2)
        assert [(alert.percent, at) for alert, at in latest] == [(80, NOON + DAY_SECONDS), (50, NOON + DAY_SECONDS)]

    def test_turns_under_a_rate_limit_are_shared_by_all_workers(self, ledger: LedgerStore) -> None:
        limits, other = [RateLimit("p:m", requests=2)], self.reopen(ledger)
        assert [one.take_turn("p:m", 9, limits).wait for one in (ledger, other)] == [0.0, 0.0]
        third, fourth, fifth = (one.take_turn("p:m", 9, limits) for one in (ledger, other, ledger))
        assert 0 < third.wait <= WINDOW_SECONDS and 0 < fourth.wait <= WINDOW_SECONDS < fifth.wait <= 2 * WINDOW_SECONDS
        assert fifth.limit == "2 requests a minute for p:m" and len({third.number, fourth.number, fifth.number}) == 3
        assert ledger.take_turn("p:other", 9, [RateLimit("p:other", requests=1)]).wait == 0

    def test_a_turn_counts_the_tokens_that_were_used_and_one_that_was_not_taken_counts_nothing(self, ledger: LedgerStore) -> None:
        limits = [RateLimit("p", tokens=1_000)]
        first = ledger.take_turn("p:m", 900, limits)
        late = ledger.take_turn("p:m", 200, limits)
        assert first.wait == 0 < late.wait
        ledger.end_turn(late.number, 0)
        ledger.end_turn(first.number, 700)
        assert ledger.take_turn("p:m", 300, limits).wait == 0 < ledger.take_turn("p:n", 1, limits).wait
