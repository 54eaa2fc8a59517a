"""Tables as text: a line a row, commas between the fields."""

from collections.abc import Iterable

Row = list[str]


def dump(rows: Iterable[Row]) -> str:
    """The table as text; every row ends its line."""
    return "".join(",".join(field(text) for text in row) + "\n" for row in rows)


def field(text: str) -> str:
    return f'"{text}"' if " " in text else text


def load(text: str) -> list[Row]:
    return [[bare(part) for part in line.split(",")] for line in text.splitlines()]


def bare(part: str) -> str:
    return part[1:-1] if part.startswith('"') and part.endswith('"') else part
