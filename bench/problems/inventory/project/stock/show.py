"""The stock for people."""

from collections.abc import Iterable

from stock.model import Item


def price(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def table(items: Iterable[Item]) -> str:
    rows = [f"{item.name:<20}{item.count:>6}{price(item.cents):>10}" for item in items]
    return "\n".join(rows) or "nothing in stock"
