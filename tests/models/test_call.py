from dataclasses import dataclass, field, replace

import pytest

from afresh.core.action import Action
from afresh.core.progress_event import (
    CallBegan,
    CallDelayed,
    CallEnded,
    ProgressEvent,
    ProgressListener,
    ReplyStreamed,
    ignore_progress,
)
from afresh.core.prompt import Request
from afresh.core.rate_limit import CallTurn
from afresh.core.reply import Reply, ReplyNotice, Thinking, ToolCallPiece
from afresh.core.spending import CallBooking, CallPurpose, UnlimitedLedger
from afresh.core.usage import Usage
from afresh.errors import AfreshError, Cancelled, OverCeiling, OverLimit, TryAgain
from afresh.models.call import ModelGate, call_model, stream_reply
from afresh.ports.model import ReplyListener, ignore_piece

CALL = CallBooking(task="T-1", project="p", kind=CallPurpose.WORK, model="m", ceiling=4_000, tokens=3_000, reserve=800)
REQUEST = Request("", "message", (), 800)
BROKEN = TryAgain("broke off", Usage(3_000, 40))


@dataclass
class Books(UnlimitedLedger):
    """A ledger that allows so many calls."""

    most: int = 9
    lines: list[str] = field(default_factory=list[str])

    def book(self, call: CallBooking) -> str:
        if len(self.lines) >= 2 * self.most:
            raise OverLimit("the limit is reached")
        self.lines.append("booked")
        return "1"

    def settle(self, booked: str, reply: Reply) -> int:
        self.lines.append("settled")
        return 7

    def cancel(self, booked: str, fault: AfreshError) -> None:
        assert isinstance(fault, TryAgain)
        self.lines.append(f"cancelled {fault.usage.input if fault.usage else 0}")


class Scripted:
    name, window = "m", 200_000

    def __init__(self, *script: Exception | Reply) -> None:
        self.script = list(script)

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    def weigh(self, request: Request) -> int:
        return 0


def bought(books: Books, *script: Exception | Reply, tell: ProgressListener = ignore_progress) -> tuple[Reply, list[float]]:
    waits: list[float] = []
    return call_model(REQUEST, CALL, ModelGate(Scripted(*script), books, tell, sleep=waits.append)), waits


def test_a_reply_that_broke_off_is_booked_anew_before_it_is_asked_for_again() -> None:
    books, heard = Books(), list[ProgressEvent]()
    reply, waits = bought(books, BROKEN, BROKEN, Reply("here"), tell=heard.append)
    assert reply == Reply("here", cost=7, usage=reply.usage) and waits == [1.0, 2.0]
    assert books.lines == ["booked", "cancelled 3000", "booked", "cancelled 3000", "booked", "settled"]
    began, failed = CallBegan("m", CALL.kind), CallEnded("m", ok=False)
    again = [CallDelayed(f"broke off; asking again in {seconds} s") for seconds in (1, 2)]
    assert heard == [began, failed, again[0], began, failed, again[1], began, CallEnded("m", ok=True)]


def test_who_wants_no_retries_gets_none_for_what_broke_off_either() -> None:
    books = Books()
    with pytest.raises(TryAgain):
        call_model(REQUEST, CALL, ModelGate(Scripted(BROKEN, Reply("never asked for")), books, retries=0))
    assert books.lines == ["booked", "cancelled 3000"]


def test_a_limit_stops_the_asking_for_what_broke_off() -> None:
    books = Books(most=1)
    with pytest.raises(OverLimit):
        bought(books, BROKEN, Reply("never asked for"))
    assert books.lines == ["booked", "cancelled 3000"]


def test_what_breaks_off_every_time_is_given_up() -> None:
    books = Books()
    with pytest.raises(TryAgain, match="broke off"):
        bought(books, BROKEN, BROKEN, BROKEN, Reply("too late"))
    assert books.lines == ["booked", "cancelled 3000"] * 3


def test_half_a_surrogate_pair_is_replaced_wherever_a_reply_has_it() -> None:
    odd = Reply("a\ud800b", (Action("t", {"x\ud83d": ["\udfff", 1]}),), thinking=(Thinking("\ud800", "s"),))
    reply, _ = bought(Books(), odd)
    assert (reply.thought, reply.actions) == ("a\ufffdb", (Action("t", {"x\ufffd": ["\ufffd", 1]}),))
    assert reply.thinking == (Thinking("\ufffd", "s"),)


def test_nothing_over_its_ceiling_is_sent() -> None:
    books = Books()
    with pytest.raises(OverCeiling, match="needs 3,800 tokens, 3,700"):
        call_model(REQUEST, replace(CALL, ceiling=3_700), ModelGate(Scripted(), books))
    assert books.lines == []


def test_pieces_of_a_reply_are_passed_on_and_counted_and_an_aside_starts_the_count_anew() -> None:
    told: list[ProgressEvent] = []
    hear = stream_reply(told.append, "m")
    hear("four")
    hear("more")
    hear(ReplyNotice("busy; retry 1 of 6"))
    hear("x")
    hear(ToolCallPiece("{}"))
    assert told == [
        ReplyStreamed("m", "four", 4),
        ReplyStreamed("m", "more", 8),
        CallDelayed("busy; retry 1 of 6"),
        ReplyStreamed("m", "x", 1),
        ReplyStreamed("m", "{}", 3, spoken=False),
    ]


def test_a_worker_that_must_stop_books_nothing() -> None:
    books = Books()

    def stop() -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        call_model(REQUEST, CALL, ModelGate(Scripted(Reply()), books, check_cancelled=stop))
    assert books.lines == []


@dataclass
class TimedBooks(Books):
    """A ledger whose rate limit lets a call begin after so many seconds."""

    wait: float = 0.0

    def take_turn(self, call: CallBooking) -> CallTurn:
        return CallTurn(5, self.wait, "1 requests a minute for m")

    def end_turn(self, turn: CallTurn, tokens: int) -> None:
        self.lines.append(f"turn {turn.number} ended with {tokens}")


def test_a_call_waits_for_its_turn_and_what_it_has_used_is_counted() -> None:
    books, heard = TimedBooks(wait=7.0), list[ProgressEvent]()
    _, waits = bought(books, Reply(usage=Usage(300, 20), counted=True), tell=heard.append)
    assert waits == [3.0, 3.0, 1.0], "in parts, so that it can be stopped"
    assert heard[0] == CallDelayed("waiting 7 s for its turn: your limit is 1 requests a minute for m")
    assert books.lines == ["booked", "turn 5 ended with 320", "settled"]


def test_who_is_stopped_while_waiting_books_nothing_and_gives_the_turn_back() -> None:
    books, waits = TimedBooks(wait=60.0), list[float]()

    def stop() -> None:
        if len(waits) == 2:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        call_model(REQUEST, CALL, ModelGate(Scripted(), books, sleep=waits.append, check_cancelled=stop))
    assert books.lines == ["turn 5 ended with 0"]


def test_a_call_that_a_limit_refuses_gives_its_turn_back() -> None:
    books = TimedBooks(most=0)
    with pytest.raises(OverLimit):
        bought(books)
    assert books.lines == ["turn 5 ended with 0"]
