"""Turns of model calls under rate limits: a row for each call of the last minute, and for each that waits."""

import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from afresh.core.rate_limit import WINDOW_SECONDS, CallTurn, RateLimit, TakenTurn, find_turn
from afresh.storage.sql.database import SqlConnection

TurnClock = Callable[[SqlConnection], tuple[str, float]]
"""Seconds of a clock that all workers share and nobody sets, and a name for when it began."""


def read_boot_time(connection: SqlConnection) -> tuple[str, float]:
    """The clock that all processes of the machine share."""
    return read_time_since_boot()


def read_time_since_boot() -> tuple[str, float]:
    """A name for when the machine was started, and the seconds since then."""
    seconds = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
    return _identify_boot(), seconds


@cache
def _identify_boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return f"about {(time.time() - time.monotonic()) // 60:.0f}"


def insert_turn(connection: SqlConnection, call: TakenTurn, limits: Sequence[RateLimit], boot: str) -> CallTurn:
    """Give a call that is asked for at `call.at` its turn. Turns that are a minute old, or of another start, are removed."""
    connection.execute("DELETE FROM turn WHERE boot <> ? OR at <= ?", (boot, call.at - WINDOW_SECONDS))
    taken = [TakenTurn(*row) for row in connection.execute("SELECT model, at, tokens FROM turn")]
    at, why = find_turn(call.at, taken, limits, call)
    row = (boot, call.model, at, call.tokens)
    rows = connection.execute("INSERT INTO turn (boot, model, at, tokens) VALUES (?, ?, ?, ?) RETURNING number", row)
    return CallTurn(rows.fetchone()[0], at - call.at, why)


def update_turn(connection: SqlConnection, number: int, tokens: int) -> None:
    """Record the tokens of a call; with 0 the call was not made, and its turn is free."""
    if tokens:
        connection.execute("UPDATE turn SET tokens = ? WHERE number = ?", (tokens, number))
    else:
        connection.execute("DELETE FROM turn WHERE number = ?", (number,))
