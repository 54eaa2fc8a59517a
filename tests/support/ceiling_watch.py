"""No call may exceed its ceiling: checked at every model call, and in the ledgers that other processes have written."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking

LIAR_MODEL = "liar"
"""A model whose name says so reports a wrong usage on purpose."""
LEDGER_FILE_NAME = "ledger.db"
OVER_CEILING_QUERY = (
    "SELECT task, kind, step, model, ceiling, CASE WHEN counted THEN input + output ELSE estimated + reserve END AS taken"
    " FROM call WHERE taken > ceiling AND state = 'settled'"
)


class CeilingWatch:
    """Keeps every call that took more than it may: by the usage that was reported, or by our own count where none was."""

    def __init__(self, measure: Callable[[Request], int]) -> None:
        self.measure, self.calls, self.over = measure, 0, list[str]()

    def stand_at(self, door: ModuleType) -> None:
        """Wherever `call_model` of that module has been imported to, it is watched from now on."""
        plain = door.call_model
        watched = self.watched(plain)
        for module in [one for one in sys.modules.values() if getattr(one, "call_model", None) is plain]:
            vars(module)["call_model"] = watched

    def watched(self, buy: Callable[..., Reply]) -> Callable[..., Reply]:
        @wraps(buy)
        def bought(request: Request, purchase: CallBooking, gate: Any) -> Reply:
            reply = buy(request, purchase, gate)
            self.calls += 1
            usage = reply.usage
            taken = usage.tokens if reply.counted else self.measure(request) + request.reserve
            if taken > purchase.ceiling and LIAR_MODEL not in purchase.model:
                place = os.environ.get("PYTEST_CURRENT_TEST", "")
                self.over.append(
                    render_call(purchase.task, purchase.kind, purchase.step, purchase.model, purchase.ceiling, taken, place)
                )
            return reply

        return bought

    def check(self) -> None:
        assert not self.over, render_failure(self.over)


def render_failure(over: list[str]) -> str:
    return "\n".join(["calls that took more than their ceiling:", *over])


def find_calls_over_ceiling(folder: Path) -> Iterator[str]:
    """Calls in all ledgers below the folder that took more than their ceiling."""
    import sqlite3

    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        if LEDGER_FILE_NAME not in files:
            continue
        path = Path(place, LEDGER_FILE_NAME)
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            rows = connection.execute(OVER_CEILING_QUERY).fetchall()
        except sqlite3.DatabaseError:
            rows = []  # a test has damaged it
        finally:
            connection.close()
        yield from (render_call(*row, str(path)) for row in rows if LIAR_MODEL not in row[3])


def render_call(*call: Any) -> str:
    task, kind, step, model, ceiling, taken, place = call
    return f"  task {task}, {kind}, step {step}, {model}: {taken:,} tokens, {ceiling:,} is the ceiling  {place}"
