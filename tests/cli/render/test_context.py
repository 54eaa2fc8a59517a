"""What a provider makes of a call, as it is told."""

import pytest
from samples import rendered

from afresh.app.inspect.measure_calls import CallPrice
from afresh.cli.render.provider_usage import (
    build_call_prices,
    describe_cacheable_total,
    describe_thinking,
    list_usage_blocks,
    provider_usage_to_json,
)
from afresh.context.cache_prefix import PrefixComparison
from afresh.core.prompt import CallAudit
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage

SO = (Thinking("so"),)
FIRST, SECOND = PrefixComparison(1, 2_000, 0, 0), PrefixComparison(2, 2_500, 1_200, 1_000, "files")

FIRST_PRICE, SECOND_PRICE = CallPrice(1, 2_100, 2_625, True, FIRST), CallPrice(2, 2_600, 1_870, False, SECOND)


def audit(thinking: int = 0) -> CallAudit:
    return CallAudit("0" * 64, 4_000, 2_500, (), (), thinking=thinking)


@pytest.mark.parametrize(
    ("budget", "reply", "told"),
    [
        (2_000, None, ["budget 2,000 tokens, no reply yet"]),
        (2_000, Reply(), ["budget 2,000 tokens, no thinking returned"]),
        (2_000, Reply(usage=Usage(9, 9, thinking=7), thinking=SO), ["budget 2,000 tokens, 7 used", "[thinking] so"]),
        (0, Reply(thinking=SO), ["no budget, usage not reported", "[thinking] so"]),
    ],
    ids=["no reply", "nothing thought", "counted", "unasked and uncounted"],
)  # fmt: skip
def test_thinking_is_told_against_its_budget(budget: int, reply: Reply | None, told: list[str]) -> None:
    assert describe_thinking(audit(budget), reply) == told


def test_what_was_not_there_is_not_told() -> None:
    plain = rendered(list_usage_blocks(audit(), FIRST_PRICE, Reply()))
    assert "Thinking" not in plain and "provider's cache" not in plain and plain.startswith("cacheable: 0 of 2,000 tokens, 0%")
    assert "Thinking" in rendered(list_usage_blocks(audit(2_000), FIRST_PRICE, None))
    assert "900 read, 0 written" in rendered(list_usage_blocks(audit(), SECOND_PRICE, Reply(usage=Usage(2_000, 9, 900))))


def test_a_beginning_names_the_section_that_ends_it() -> None:
    named = "cacheable: 1,000 of 2,500 tokens, 40% (same as the previous call up to `files`)"
    assert rendered(list_usage_blocks(audit(), SECOND_PRICE, None)).startswith(named)
    empty = CallPrice(1, 0, 0, True, PrefixComparison(1, 0, 0, 0))
    assert rendered(list_usage_blocks(audit(), empty, None)).startswith("cacheable: 0 of 0 tokens, 0%")


def test_the_first_call_has_nothing_to_begin_like() -> None:
    assert describe_cacheable_total([FIRST]) == describe_cacheable_total([]) == "only one call so far, nothing to compare"
    assert describe_cacheable_total([FIRST, SECOND]) == "cacheable after the first call: 1,000 of 2,500 tokens, 40%"
    assert "files" in rendered(build_call_prices([FIRST_PRICE, SECOND_PRICE]))


def test_what_is_redacted_is_not_in_the_json_either() -> None:
    reply = Reply(usage=Usage(9, 9, 4, 3, 2), thinking=(Thinking("secret", redacted=True), Thinking("so", "c2ln")))
    told = provider_usage_to_json(audit(2_000), SECOND_PRICE, reply)
    assert told["thinking"] == {
        "budget": 2_000, "tokens": 2,
        "blocks": [{"text": "", "signed": False, "redacted": True}, {"text": "so", "signed": True, "redacted": False}],
    }  # fmt: skip
    assert told["cache"] == {"read": 4, "written": 3} and told["beginning"]["changed"] == "files"
    assert provider_usage_to_json(audit(), FIRST_PRICE, None)["cache"] == {"read": 0, "written": 0}
