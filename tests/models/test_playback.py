from dataclasses import replace

import pytest

from afresh.core.action import Action
from afresh.core.archived_block import block_id_from_text
from afresh.core.event import CallRequested, Event, JournalEntry, JournalHead, ReplyReceived
from afresh.core.hash_chain import link_events
from afresh.core.prompt import CallAudit, Request, SectionRef, Tier
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.errors import NeedsPerson
from afresh.models.playback import RecordedModel
from afresh.testing.model_contract import make_sample_request

BLOCKS: dict[str, str] = {}


def asked(step: int, task: str, facts: str) -> tuple[Request, CallRequested]:
    request = make_sample_request(f"{task}\n{facts}")
    for text in (task, facts):
        BLOCKS[block_id_from_text(text)] = text
    sections = (
        SectionRef("task", Tier.ALWAYS, block_id_from_text(task), 5),
        SectionRef("facts", Tier.PHASE, block_id_from_text(facts), 5),
    )
    return request, CallRequested(step, CallAudit(request.hash, 4_000, 100, sections, ()))


def said(number: int) -> Reply:
    return Reply(f"reply {number}", (Action("read", {"path": str(number)}),), Usage(100, number), "anthropic:some")


FIRST, FIRST_ASKED = asked(1, "the task", "no facts")
SECOND, SECOND_ASKED = asked(2, "the task", "one fact")


def journal(*events: Event) -> tuple[JournalEntry, ...]:
    return link_events("T-1", JournalHead(), 0.0, events)


TWO = journal(FIRST_ASKED, ReplyReceived(1, said(1)), SECOND_ASKED, ReplyReceived(2, said(2)))


def test_a_request_is_answered_as_it_was() -> None:
    model = RecordedModel(TWO)
    assert model.propose(FIRST) == said(1)
    assert model.propose(SECOND) == said(2)


def test_the_same_request_twice_gets_its_replies_in_order() -> None:
    model = RecordedModel(journal(FIRST_ASKED, ReplyReceived(1, said(1)), FIRST_ASKED, ReplyReceived(2, said(2))))
    assert [model.propose(FIRST).thought for _ in range(3)] == ["reply 1", "reply 2", "reply 2"]


def test_a_resumed_replay_does_not_begin_anew() -> None:
    entries = journal(FIRST_ASKED, ReplyReceived(1, said(1)), FIRST_ASKED, ReplyReceived(2, said(2)))
    assert RecordedModel(entries, start=1).propose(FIRST).thought == "reply 2"


def test_a_request_without_a_reply_is_no_call() -> None:
    model = RecordedModel(journal(FIRST_ASKED, SECOND_ASKED, ReplyReceived(2, said(2))))
    assert model.propose(SECOND) == said(2)
    with pytest.raises(NeedsPerson):
        model.propose(FIRST)


def test_an_unknown_request_is_refused_with_the_sections_that_differ() -> None:
    model = RecordedModel(TWO, BLOCKS.__getitem__)
    other, _ = asked(1, "the task", "other facts")
    with pytest.raises(NeedsPerson, match=r"step 1 .*; sections that differ: facts$"):
        model.propose(other)


def test_a_difference_outside_the_sections_is_said_to_be_there() -> None:
    other = Request(FIRST.system, FIRST.message, FIRST.tools, FIRST.reserve + 1)
    with pytest.raises(NeedsPerson, match="tools, reserve or order differ"):
        RecordedModel(TWO, BLOCKS.__getitem__).propose(other)


def test_without_blocks_the_hashes_are_named() -> None:
    with pytest.raises(NeedsPerson, match=f"{FIRST.hash[:12]}, this is {make_sample_request().hash[:12]}$"):
        RecordedModel(TWO).propose(make_sample_request())


def test_past_the_end_it_says_so() -> None:
    with pytest.raises(NeedsPerson, match="2 calls and this is one more"):
        RecordedModel(TWO, start=2).propose(make_sample_request())


def test_usage_that_was_counted_once_does_not_teach_again() -> None:
    counted = replace(said(1), counted=True)
    assert RecordedModel(journal(FIRST_ASKED, ReplyReceived(1, counted))).propose(FIRST) == said(1)
