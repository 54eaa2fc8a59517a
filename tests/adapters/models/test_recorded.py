from dataclasses import replace

import pytest

from afresh.adapters.models.recorded import Recorded
from afresh.domain.action import Action, Reply, Usage
from afresh.domain.chain import block_id, link
from afresh.domain.event import Entry, Event, Head, Replied, Requested
from afresh.domain.window import Audit, Request, SectionRef, Tier
from afresh.errors import NeedsPerson
from afresh.testing.models import sample_request

BLOCKS: dict[str, str] = {}


def asked(step: int, task: str, facts: str) -> tuple[Request, Requested]:
    request = sample_request(f"{task}\n{facts}")
    for text in (task, facts):
        BLOCKS[block_id(text)] = text
    sections = (SectionRef("task", Tier.ALWAYS, block_id(task), 5), SectionRef("facts", Tier.PHASE, block_id(facts), 5))
    return request, Requested(step, Audit(request.hash, 4_000, 100, sections, ()))


def said(number: int) -> Reply:
    return Reply(f"reply {number}", (Action("read", {"path": str(number)}),), Usage(100, number), "anthropic:some")


FIRST, FIRST_ASKED = asked(1, "the task", "no facts")
SECOND, SECOND_ASKED = asked(2, "the task", "one fact")


def journal(*events: Event) -> tuple[Entry, ...]:
    return link("T-1", Head(), 0.0, events)


TWO = journal(FIRST_ASKED, Replied(1, said(1)), SECOND_ASKED, Replied(2, said(2)))


def test_a_request_is_answered_as_it_was() -> None:
    model = Recorded(TWO)
    assert model.propose(FIRST) == said(1)
    assert model.propose(SECOND) == said(2)


def test_the_same_request_twice_gets_its_replies_in_order() -> None:
    model = Recorded(journal(FIRST_ASKED, Replied(1, said(1)), FIRST_ASKED, Replied(2, said(2))))
    assert [model.propose(FIRST).thought for _ in range(3)] == ["reply 1", "reply 2", "reply 2"]


def test_a_resumed_replay_does_not_begin_anew() -> None:
    entries = journal(FIRST_ASKED, Replied(1, said(1)), FIRST_ASKED, Replied(2, said(2)))
    assert Recorded(entries, start=1).propose(FIRST).thought == "reply 2"


def test_a_request_without_a_reply_is_no_call() -> None:
    model = Recorded(journal(FIRST_ASKED, SECOND_ASKED, Replied(2, said(2))))
    assert model.propose(SECOND) == said(2)
    with pytest.raises(NeedsPerson):
        model.propose(FIRST)


def test_an_unknown_request_is_refused_with_the_sections_that_differ() -> None:
    model = Recorded(TWO, BLOCKS.__getitem__)
    other, _ = asked(1, "the task", "other facts")
    with pytest.raises(NeedsPerson, match=r"step 1 .*; sections that differ: facts$"):
        model.propose(other)


def test_a_difference_outside_the_sections_is_said_to_be_there() -> None:
    other = Request(FIRST.system, FIRST.message, FIRST.tools, FIRST.reserve + 1)
    with pytest.raises(NeedsPerson, match="tools, reserve or order differ"):
        Recorded(TWO, BLOCKS.__getitem__).propose(other)


def test_without_blocks_the_hashes_are_named() -> None:
    with pytest.raises(NeedsPerson, match=f"{FIRST.hash[:12]}, this is {sample_request().hash[:12]}$"):
        Recorded(TWO).propose(sample_request())


def test_past_the_end_it_says_so() -> None:
    with pytest.raises(NeedsPerson, match="2 calls and this is one more"):
        Recorded(TWO, start=2).propose(sample_request())


def test_usage_that_was_counted_once_does_not_teach_again() -> None:
    counted = replace(said(1), counted=True)
    assert Recorded(journal(FIRST_ASKED, Replied(1, counted))).propose(FIRST) == said(1)
