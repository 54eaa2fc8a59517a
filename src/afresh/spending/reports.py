"""Questions to the books: what was spent, by whom, for what."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from sqlite3 import Connection

from afresh.core.spending import LimitAlert, LimitScope, LimitUnit, SpendingLimit
from afresh.spending.payments import RESTORED_NOTE
from afresh.storage.sqlite.ledger import SqliteLedger

REPLY_SECTION = "(the reply)"
"""Stands among the sections for what was not sent but answered."""
MONEY_SQL = "CASE state WHEN 'booked' THEN worst ELSE paid END"
PROMPT_TOKENS_SQL = "CASE state WHEN 'booked' THEN estimated ELSE input END"
REPLY_TOKENS_SQL = "CASE state WHEN 'booked' THEN reserve ELSE output END"
SUMS_SQL = (
    f"count(*), sum({PROMPT_TOKENS_SQL}), sum({REPLY_TOKENS_SQL}), sum(cached), sum(written), sum({MONEY_SQL}), sum(price = 'unknown'),"
    f" sum(note NOT IN ('', '{RESTORED_NOTE}')), max(at)"
)


class SpendingGroup(StrEnum):
    DAY = "day"
    TASK = "task"
    KIND = "kind"
    SECTION = "section"
    MODEL = "model"
    PROJECT = "project"


GROUP_SQL = {
    SpendingGroup.DAY: "strftime('%Y-%m-%d', at, 'unixepoch', 'localtime')",
    SpendingGroup.TASK: "CASE parent WHEN '' THEN task ELSE parent END",
    SpendingGroup.KIND: "kind",
    SpendingGroup.MODEL: "model",
    SpendingGroup.PROJECT: "name",
}


@dataclass(frozen=True, slots=True)
class SpendingFilter:
    """Calls since a moment, of one project or of all."""

    since: float = 0.0
    project: str = ""

    @property
    def condition(self) -> tuple[str, tuple[float | str, ...]]:
        if self.project:
            return "state != 'cancelled' AND at >= ? AND project = ?", (self.since, self.project)
        return "state != 'cancelled' AND at >= ?", (self.since,)


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """Calls under one name. What is booked and not paid yet counts at its worst."""

    name: str
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    money: int = 0
    unknown: int = 0
    """Of the calls, those whose price nobody knows: they count as nothing."""
    odd: int = 0
    """Of the calls, those whose usage makes no sense, or that were never paid."""
    last: float = 0.0


def sum_calls_by_group(ledger: SqliteLedger, by: SpendingGroup, which: SpendingFilter) -> list[SpendingLine]:
    """Days in order, the rest by what it cost."""
    if by is SpendingGroup.SECTION:
        return _sum_by_section(ledger, which)
    condition, values = which.condition
    order = "1" if by is SpendingGroup.DAY else "7 DESC, 3 DESC, 1"
    groups = "project, name" if by is SpendingGroup.PROJECT else GROUP_SQL[by]
    question = f"SELECT {GROUP_SQL[by]}, {SUMS_SQL} FROM call WHERE {condition} GROUP BY {groups} ORDER BY {order}"
    with ledger.reading() as connection:
        return [SpendingLine(*row) for row in connection.execute(question, values)]


def sum_all_calls(ledger: SqliteLedger, which: SpendingFilter, task: str = "") -> SpendingLine:
    condition, values = which.condition
    if task:
        condition, values = f"{condition} AND (task = ? OR parent = ?)", (*values, task, task)
    with ledger.reading() as connection:
        row = connection.execute(f"SELECT {SUMS_SQL} FROM call WHERE {condition}", values).fetchone()
    return SpendingLine(task, *(value or 0 for value in row))


def list_prompt_sizes(ledger: SqliteLedger, which: SpendingFilter) -> dict[str, list[tuple[str, int, int]]]:
    """By kind: task, step and tokens of what was sent, of each call that was answered."""
    condition, values = which.condition
    found: dict[str, list[tuple[str, int, int]]] = {}
    question = f"SELECT kind, project || '/' || task, step, input FROM call WHERE {condition} AND state = 'settled' AND input > 0"
    with ledger.reading() as connection:
        for kind, task, step, sent in connection.execute(question, values):
            found.setdefault(kind, []).append((task, step, sent))
    return found


def list_alerts(ledger: SqliteLedger, most: int) -> list[tuple[LimitAlert, float]]:
    """The latest, and when."""
    with ledger.reading() as connection:
        rows = connection.execute(
            "SELECT scope, key, unit, percent, most, spent, at FROM alert ORDER BY at DESC, percent DESC LIMIT ?", (most,)
        )
        return [
            (LimitAlert(SpendingLimit(LimitScope(scope), LimitUnit(unit), limit), key, percent, spent), at)
            for scope, key, unit, percent, limit, spent, at in rows
        ]


def _sum_by_section(ledger: SqliteLedger, which: SpendingFilter) -> list[SpendingLine]:
    """What was paid for input, split by the estimated tokens of the sections."""
    found: dict[str, list[float]] = {}
    with ledger.reading() as connection:
        for sections, sent, said, read, answered in _read_section_costs(connection, which):
            parts: dict[str, int] = json.loads(sections) or {"(not told apart)": 1}
            estimated = sum(parts.values()) or 1
            for name, tokens in parts.items():
                share = tokens / estimated
                _add_to_section(found, name, sent * share, 0, read * share)
            _add_to_section(found, REPLY_SECTION, 0, said, answered)
    lines = [
        SpendingLine(name, round(calls), round(sent), round(said), money=round(money))
        for name, (calls, sent, said, money) in found.items()
    ]
    return sorted(lines, key=lambda line: (-line.money, -line.input - line.output, line.name))


def _read_section_costs(connection: Connection, which: SpendingFilter) -> Iterator[tuple[str, int, int, int, int]]:
    condition, values = which.condition
    read = "CASE state WHEN 'booked' THEN worst ELSE paid_input END"
    yield from connection.execute(
        f"SELECT sections, {PROMPT_TOKENS_SQL}, {REPLY_TOKENS_SQL}, {read}, {MONEY_SQL} - {read} FROM call WHERE {condition}",
        values,
    )


def _add_to_section(found: dict[str, list[float]], name: str, sent: float, said: float, money: float) -> None:
    sums = found.setdefault(name, [0, 0, 0, 0])
    sums[0] += 1
    sums[1] += sent
    sums[2] += said
    sums[3] += money
