"""Faults of a provider that cost nothing are waited out here, for all providers alike. The SDKs' own retries are off: they sleep
where nobody sees it, and know nothing of a stream that breaks off."""

import math
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from afresh.domain.action import Aside, Reply
from afresh.errors import TryAgain
from afresh.ports import Hear

Sleep = Callable[[float], None]
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
"""Seconds. A provider that asks for more is left alone: the task stops with TryAgain instead of sleeping on."""


def persistently(attempt: Callable[[], Reply], hear: Hear, retries: int, sleep: Sleep) -> Reply:
    """A fault that has cost something is not tried again here: whoever keeps the books must be asked first."""
    retry = 0
    while True:
        try:
            return attempt()
        except TryAgain as fault:
            retry += 1
            wait = back_off(retry) if fault.wait is None else fault.wait
            if fault.usage is not None:
                raise
            if retry > retries or wait > LONGEST_WAIT:
                raise TryAgain(f"{fault}{_given_up(retry - 1, wait)}", wait=fault.wait) from None
            hear(Aside(f"{fault}; retry {retry} of {retries} in {wait:.1f} s"))
        sleep(wait)


def back_off(retry: int) -> float:
    """Each time twice as long, a quarter of it left to chance: many clients must not come back in the same moment."""
    return min(FIRST_WAIT * 2.0 ** (retry - 1), LONGEST_WAIT) * random.uniform(0.75, 1.0)


def wait_asked(headers: Mapping[str, str]) -> float | None:
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


def _given_up(retries: int, wait: float) -> str:
    if wait > LONGEST_WAIT:
        return f"; it asks to be left alone for {wait:,.0f} s" if math.isfinite(wait) else "; it asks not to be asked again"
    return f" (after {retries} retries)"
