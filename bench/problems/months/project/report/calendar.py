"""Days and months, as the reports need them."""

from datetime import date

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    return year % 4 == 0


def length(year: int, month: int) -> int:
    return LENGTHS[month - 1] + (month == 2 and is_leap(year))


def span(year: int, month: int) -> tuple[date, date]:
    """The first day of a month and the first that is no longer in it."""
    following = month % 12 + 1
    return date(year, month, 1), date(year, following, 1)
