"""The customs form for parcels that leave the union."""

from dataclasses import dataclass

from parcel.pricing import UNION

FREE_UP_TO = 45.0


@dataclass(frozen=True)
class Item:
    description: str
    quantity: int
    value: float
    """Of one piece, in euros."""
    origin: str = "DE"


def needs_form(country: str, items: list[Item]) -> bool:
    """Only what leaves the union is declared, and gifts of small value are not."""
    return country not in UNION and total(items) > FREE_UP_TO


def total(items: list[Item]) -> float:
    return round(sum(item.quantity * item.value for item in items), 2)


def declaration(items: list[Item], sender: str) -> str:
    """The form as text: one line an item, the sum below, the sender's word at the end."""
    if not items:
        raise ValueError("there is nothing to declare")
    lines = []
    for number, item in enumerate(items, 1):
        if item.quantity < 1 or item.value < 0:
            raise ValueError(f"item {number} makes no sense: {item}")
        value = item.quantity * item.value
        lines.append(f"{number:>2}. {item.quantity} x {item.description[:24]:<24} {item.origin} {value:>9.2f}")
    lines.append(f"{'total':>33} {total(items):>12.2f}")
    lines.append(f"I, {sender}, declare that this is true.")
    return "\n".join(lines)
