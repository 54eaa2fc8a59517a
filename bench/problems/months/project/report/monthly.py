"""Sums of a month."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from report.calendar import length, span


@dataclass(frozen=True)
class Sale:
    day: date
    cents: int


@dataclass(frozen=True)
class Monthly:
    sales: int
    cents: int
    days: int

    @property
    def daily(self) -> float:
        """Cents a day, on average."""
        return self.cents / self.days


def monthly(sales: Iterable[Sale], year: int, month: int) -> Monthly:
    first, end = span(year, month)
    held = [sale for sale in sales if first <= sale.day < end]
    return Monthly(len(held), sum(sale.cents for sale in held), length(year, month))
