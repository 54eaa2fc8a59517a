"""Weights, sizes and parcels."""

import re
from dataclasses import dataclass

GRAMS = {"g": 1.0, "kg": 1000.0, "lb": 453.592}
CENTIMETRES = {"cm": 1.0, "mm": 0.1}


@dataclass(frozen=True)
class Size:
    """Length, width and height in centimetres, longest first."""

    length: float
    width: float
    height: float

    @property
    def volume(self) -> float:
        return self.length * self.width * self.height

    @property
    def girth(self) -> float:
        return self.length + 2 * (self.width + self.height)


@dataclass(frozen=True)
class Parcel:
    weight: float
    """In grams."""
    size: Size
    value: float = 0.0
    fragile: bool = False
    contents: str = ""


def parse_weight(text: str) -> float:
    """Grams of a text such as `1.2 kg`, `800g` or `2,5 lb`."""
    match = re.fullmatch(r"\s*(\d+(?:[.,]\d+)?)\s*([a-zA-Z]+)\s*", text)
    if match is None:
        raise ValueError(f"not a weight: {text!r}")
    number, unit = match.groups()
    if unit.lower() not in GRAMS:
        raise ValueError(f"unknown unit of weight: {unit!r}")
    return float(number.replace(",", ".")) * GRAMS[unit.lower()]


def parse_size(text: str) -> Size:
    """The size in a text such as `30x20x10 cm`; `30cm x 20cm x 10cm` is fine, too."""
    parts = text.lower().replace("×", "x").replace("*", "x").split("x")
    if len(parts) != 3:
        raise ValueError(f"a size has three parts: {text!r}")

    # Split numbers from units
    numbers = []
    units = []
    for part in parts:
        part = part.strip()
        unit = part.lstrip("0123456789., ")
        number = part[: len(part) - len(unit)].strip().replace(",", ".")
        if not number:
            raise ValueError(f"a number is missing: {text!r}")
        try:
            numbers.append(float(number))
        except ValueError:
            raise ValueError(f"not a number: {number!r}") from None
        if unit:
            units.append(unit)

    if not units:
        factor = CENTIMETRES["cm"]
    elif len(set(units)) > 1:
        raise ValueError(f"mixed units: {text!r}")
    elif len(units) not in (1, 3):
        raise ValueError(f"give the unit once or three times: {text!r}")
    elif units[0] not in CENTIMETRES:
        raise ValueError(f"unknown unit of length: {units[0]!r}")
    else:
        factor = CENTIMETRES[units[0]]
    if min(numbers) <= 0:
        raise ValueError(f"a side must be longer than nothing: {text!r}")
    return Size(*sorted((round(number * factor, 1) for number in numbers), reverse=True))
