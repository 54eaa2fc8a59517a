"""What a customer owes."""

from collections.abc import Sequence
from dataclasses import dataclass

from billing.money import money


@dataclass(frozen=True)
class Line:
    what: str
    pieces: str
    price: str
    """Of one piece, before tax."""
    tax: str = "20"
    """Per cent."""
    discount: str = "0"
    """Per cent."""


def amount(line: Line):
    """Of a line, before tax."""
    return float(line.pieces) * money(line.price) * (1 - float(line.discount) / 100)


def taxes(lines: Sequence[Line]) -> dict:
    """By rate, as it was typed."""
    found: dict = {}
    for line in lines:
        found[line.tax] = found.get(line.tax, 0) + amount(line) * float(line.tax) / 100
    return found


def total(lines: Sequence[Line]):
    return sum(amount(line) for line in lines) + sum(taxes(lines).values())
