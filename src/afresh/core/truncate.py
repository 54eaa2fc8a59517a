"""Text that is too long: cut to characters, words or tokens, always with a mark."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from afresh.core.text import escape_hidden

T = TypeVar("T")


def to_one_line(text: str, limit: int = 0) -> str:
    """Visible, on one line, and cut to `limit` characters if one is given."""
    if limit and len(text) > 8 * limit:
        text = text[: 8 * limit] + "…"
    return truncate_text(escape_hidden(" ".join(text.split())), limit)


def truncate_text(text: str, limit: int) -> str:
    return text if not limit or len(text) <= limit else text[: limit - 1].rstrip() + "…"


def truncate_middle(text: str, limit: int, name_gap: Callable[[int], str]) -> str:
    """Two thirds of the limit from its beginning and one third from its end: how a command ended is what it printed last.
    `name_gap` words the line between them, given the number of characters that are left out."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail]}\n{name_gap(len(text) - limit)}\n{text[len(text) - tail :]}"


def join_first(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first names; `…` stands for the rest."""
    return between.join([*names[:most], *(["…"] if len(names) > most else [])])


def list_first(lines: Sequence[str], most: int, rest: str = "… {0} more") -> list[str]:
    """The first lines; `rest` words a line for the others, with their number in place of {0}."""
    more = len(lines) - most
    return [*lines[:most], *([rest.format(more)] if more > 0 else [])]


def find_longest_fitting(make: Callable[[int], T], low: int, high: int, fits: Callable[[T], bool]) -> T | None:
    """What `make` gives for the largest number from `low` to `high` that fits; None if none does. Larger numbers fit less."""
    best: T | None = None
    while low <= high:
        middle = (low + high) // 2
        if fits(made := make(middle)):
            best, low = made, middle + 1
        else:
            high = middle - 1
    return best


def select_fitting(items: Iterable[T], cost: Callable[[T], int], room: int) -> list[T]:
    """The items in order, each that fits into what is left."""
    chosen: list[T] = []
    for item in items:
        if (price := cost(item)) <= room:
            chosen.append(item)
            room -= price
    return chosen
