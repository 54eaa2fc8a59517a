"""When something is due: at an interval, or at the times of a cron line with five fields, by the clock of the machine."""

import re
import time
from collections.abc import Sequence

from afresh.core.fast_dataclass import dataclass

SECONDS_BY_UNIT = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
INTERVAL_PATTERN = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
CRON_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""Minute, hour, day of the month, month, day of the week: 0 and 7 are Sunday."""
CRON_PART = re.compile(r"(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
MAX_DAYS_SEARCHED = 366 * 8 + 2
"""Days without a due time after which there is none: the 29th of February can be eight years away."""
MAX_INTERVAL_SECONDS = 999_999 * SECONDS_BY_UNIT["w"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A task that is added again and again."""

    id: str
    goal: str
    every: int = 0
    """Seconds; 0: as the cron line says."""
    cron: str = ""
    type: str = ""
    checks: tuple[str, ...] = ()
    budget: int = 0
    """Tokens of a call; 0: as the settings and the type say."""
    model: str = ""
    report: bool = False
    """Announce the report of the last whole week instead of adding a task."""

    @property
    def words(self) -> str:
        return self.cron or f"every {format_interval(self.every)}"


def parse_interval(text: str) -> int:
    """Seconds of an interval such as 30m, 6h, 1d or 2w. ValueError for anything else."""
    match = INTERVAL_PATTERN.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no interval (use 30m, 6h, 1d or 2w)")
    return int(match[1]) * SECONDS_BY_UNIT[match[2]]


def format_interval(seconds: int) -> str:
    """The interval in the largest unit that fits."""
    unit = next(unit for unit in reversed(SECONDS_BY_UNIT) if seconds % SECONDS_BY_UNIT[unit] == 0)
    return f"{seconds // SECONDS_BY_UNIT[unit]}{unit}"


def parse_cron(text: str) -> tuple[frozenset[int], ...]:
    """The minutes, hours, days, months and weekdays (0 is Sunday) of a cron line. ValueError if it is none."""
    fields = text.split()
    if len(fields) != len(CRON_RANGES):
        raise ValueError(f"{text!r} is no cron line (five fields: minute hour day month weekday, as in '0 3 * * 1')")
    minutes, hours, days, months, weekdays = (
        _parse_cron_field(field, *bounds) for field, bounds in zip(fields, CRON_RANGES, strict=True)
    )
    return minutes, hours, days, months, frozenset(day % 7 for day in weekdays)


def _parse_cron_field(text: str, first: int, last: int) -> frozenset[int]:
    values = set[int]()
    for part in text.split(","):
        match = CRON_PART.fullmatch(part)
        if not match:
            raise ValueError(f"{part!r} is no part of a cron line (use *, 5, 1-5, */15 or lists of them)")
        star, low, high, step = match.groups()
        begin = first if star else int(low)
        end = last if star or (step and not high) else int(high or low)
        if not first <= begin <= end <= last or step in ("0", "00"):
            raise ValueError(f"{part!r} is out of range: {first} to {last}")
        values.update(range(begin, end + 1, int(step or 1)))
    return frozenset(values)


def is_ever_due(schedule: Schedule) -> bool:
    """Whether its times can be understood, and there is one."""
    try:
        return find_next_due(schedule, 0.0) is not None and schedule.every in range(
            0, MAX_INTERVAL_SECONDS + 1, SECONDS_BY_UNIT["m"]
        )
    except ValueError:
        return False


def find_next_due(schedule: Schedule, after: float) -> float | None:
    """The first due time after this moment; None if there is none."""
    if schedule.every:
        return after + schedule.every
    return _find_next_cron_time(schedule.cron, after)


def find_served_moment(schedule: Schedule, after: float, now: float) -> float | None:
    """Up to when firing it now serves it; None if nothing was due since `after`. Missed due times are served together."""
    due = find_next_due(schedule, after)
    if due is None or due > now:
        return None
    return after + (now - after) // schedule.every * schedule.every if schedule.every else now


def _find_next_cron_time(cron: str, after: float) -> float | None:
    fields = parse_cron(cron)
    start = time.localtime(after)
    for offset in range(MAX_DAYS_SEARCHED):
        noon = time.localtime(time.mktime((start.tm_year, start.tm_mon, start.tm_mday + offset, 12, 0, 0, 0, 0, -1)))
        if _is_cron_day(cron, fields, noon) and (next_cron_time := _find_time_of_day(fields, noon, after)):
            return next_cron_time
    return None


def _is_cron_day(cron: str, fields: Sequence[frozenset[int]], day: time.struct_time) -> bool:
    """As cron does: if both the day of the month and the weekday are restricted, either will do."""
    if day.tm_mon not in fields[3]:
        return False
    by_month, by_week = day.tm_mday in fields[2], (day.tm_wday + 1) % 7 in fields[4]
    _, _, month_field, _, week_field = cron.split()
    if month_field.startswith("*") or week_field.startswith("*"):
        return by_month and by_week
    return by_month or by_week


def _find_time_of_day(fields: Sequence[frozenset[int]], day: time.struct_time, after: float) -> float | None:
    for hour in sorted(fields[1]):
        for minute in sorted(fields[0]):
            found = time.mktime((day.tm_year, day.tm_mon, day.tm_mday, hour, minute, 0, 0, 0, -1))
            if found > after:
                return found
    return None
