import math
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.reply import Reply, ReplyNotice
from afresh.core.usage import Usage
from afresh.errors import TryAgain
from afresh.models.retry import read_retry_after, retry_call
from support.provider_faults import make_retry_headers

REPLY = Reply("here")


class Provider:
    """Raises these faults in turn, then answers."""

    def __init__(self, *faults: Exception) -> None:
        self.faults, self.waits, self.heard = list(faults), list[float](), list[str]()

    def answer(self) -> Reply:
        if self.faults:
            raise self.faults.pop(0)
        return REPLY

    def asked(self, retries: int = 6) -> Reply:
        return retry_call(self.answer, self.heard.append, retries, self.waits.append)


def test_every_wait_is_said_and_is_no_part_of_the_reply() -> None:
    provider = Provider(TryAgain("busy (529)", wait=20.0))
    provider.asked()
    assert provider.heard == ["busy (529); retry 1 of 6 in 20 s"] and isinstance(provider.heard[0], ReplyNotice)


def test_the_provider_says_how_long_to_wait() -> None:
    provider = Provider(TryAgain("busy", wait=7.0), TryAgain("busy", wait=0.0))
    provider.asked()
    assert provider.waits == [7.0, 0.0]


def test_after_the_last_retry_it_says_how_many_there_were() -> None:
    provider = Provider(*[TryAgain("busy")] * 4)
    with pytest.raises(TryAgain, match=r"busy \(after 2 retries\)"):
        provider.asked(retries=2)
    assert len(provider.waits) == 2


@pytest.mark.parametrize(("wait", "told"), [(3600.0, "for 3,600 s"), (math.inf, "asks not to be asked again")])
def test_a_long_wait_is_not_slept_through(wait: float, told: str) -> None:
    provider = Provider(TryAgain("busy", wait=wait))
    with pytest.raises(TryAgain, match=told):
        provider.asked()
    assert provider.waits == []


def test_what_has_cost_something_is_not_asked_for_again_without_a_word() -> None:
    provider = Provider(TryAgain("broke off", Usage(1_000, 5)))
    with pytest.raises(TryAgain) as caught:
        provider.asked()
    assert caught.value.usage == Usage(1_000, 5) and provider.waits == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (make_retry_headers(seconds=7), 7.0),
        (make_retry_headers(seconds=0.5), 0.5),
        (make_retry_headers(milliseconds=1500), 1.5),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "60"}, 60.0),
        (make_retry_headers(seconds=-3), 0.0),
        (make_retry_headers(date=-100), 0.0),
        ({"x-should-retry": "false", "retry-after": "1"}, math.inf),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 99 Foo 2026"}, None),
    ],
)
def test_a_wait_is_read_in_every_form(headers: Mapping[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_a_date_is_a_wait() -> None:
    began = time.time()
    asked = read_retry_after(make_retry_headers(date=100))
    assert asked is not None and 98 - (time.time() - began) <= asked <= 101


@given(st.text(), st.text())
def test_no_header_breaks_the_reading(milliseconds: str, seconds: str) -> None:
    asked = read_retry_after({"retry-after-ms": milliseconds, "retry-after": seconds})
    assert asked is None or asked >= 0
