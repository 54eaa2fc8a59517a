"""Waits and retries after errors of a provider that cost nothing, for all providers alike. The SDKs' own retries are off: they
sleep without a notice, and can't handle a stream that breaks off."""

import math
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from afresh.core.reply import Reply, ReplyNotice
from afresh.errors import TryAgain
from afresh.ports.model import ReplyListener

Sleep = Callable[[float], None]
FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 60.0
"""Seconds. A provider that asks for more is left alone: the task stops with TryAgain instead of sleeping on."""


def retry_call(attempt: Callable[[], Reply], hear: ReplyListener, retries: int, sleep: Sleep) -> Reply:
    """Repeat the attempt after temporary errors. An error that has cost tokens is raised, so that the caller books the repeat."""
    retry = 0
    while True:
        try:
            return attempt()
        except TryAgain as fault:
            retry += 1
            wait = choose_wait_seconds(retry) if fault.wait is None else fault.wait
            if fault.usage is not None:
                raise
            if retry > retries or wait > MAX_WAIT_SECONDS:
                raise TryAgain(f"{fault}{_describe_giving_up(retry - 1, wait)}", wait=fault.wait) from None
            again = f"retry {retry} of {retries} in {wait:.{0 if wait >= 1 else 1}f} s"
            hear(ReplyNotice(f"{fault.brief}, {again}; {fault}" if fault.brief else f"{fault}; {again}"))
        sleep(wait)


def choose_wait_seconds(retry: int) -> float:
    """Twice as long with each retry, up to a quarter less at random: clients must not all come back at the same moment."""
    return min(FIRST_WAIT_SECONDS * 2.0 ** (retry - 1), MAX_WAIT_SECONDS) * random.uniform(0.75, 1.0)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to be left alone: in milliseconds, in seconds, until a date, or for good."""
    if headers.get("x-should-retry", "").lower() == "false":
        return math.inf
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            asked = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        return max(asked, 0.0) if math.isfinite(asked) else None
    try:
        return max(parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def _describe_giving_up(retries: int, wait: float) -> str:
    if wait > MAX_WAIT_SECONDS:
        return f"; it asks to be left alone for {wait:,.0f} s" if math.isfinite(wait) else "; it asks not to be asked again"
    return f" (after {retries} retries)"
