"""Items, and what can be done to them."""

from dataclasses import dataclass, replace


class StockError(Exception):
    """Something that can't be done with the stock."""


@dataclass(frozen=True)
class Item:
    name: str
    count: int
    cents: int


Stock = dict[str, Item]


def add(stock: Stock, name: str, count: int, cents: int) -> Stock:
    held = stock.get(name, Item(name, 0, cents))
    return stock | {name: Item(name, held.count + count, cents)}


def take(stock: Stock, name: str, count: int) -> Stock:
    held = stock.get(name)
    if held is None or held.count < count:
        raise StockError(f"there are only {held.count if held else 0} of {name}")
    return stock | {name: replace(held, count=held.count - count)}
