"""Labels as plain text, framed, ready for a receipt printer."""

import textwrap

from parcel.address import Address
from parcel.measures import Parcel


def render_label(parcel: Parcel, address: Address, price: float, width: int = 40, service: str = "standard") -> str:
    """The label as lines of equal width."""
    if width < 24:
        raise ValueError("a label is at least 24 characters wide")
    inner = width - 4
    lines = [f"{service.upper():<{inner - 10}}{price:>7.2f} EUR"[:inner], ""]

    for text in (address.name, address.company, address.street):
        if not text:
            continue
        if len(text) <= inner:
            lines.append(text)
        else:
            lines.extend(textwrap.wrap(text, inner, subsequent_indent="  "))
    if address.country in ("GB", "US"):
        lines.append(f"{address.city} {address.postcode}")
    else:
        lines.append(f"{address.postcode} {address.city}")
    lines.append(address.country)

    # Collect the marks
    marks = []
    if parcel.fragile:
        marks.append("FRAGILE")
    if parcel.weight > 20_000:
        marks.append("HEAVY")
    elif parcel.weight > 10_000:
        marks.append("TWO HANDS")
    if parcel.size.length > 100:
        marks.append("LONG")
    if address.phone and service == "express":
        marks.append(f"CALL {address.phone}")

    if marks:
        lines.append("")
        lines.extend(textwrap.wrap(" · ".join(marks), inner))

    frame = "+" + "-" * (width - 2) + "+"
    return "\n".join([frame, *(f"| {line:<{inner}} |" for line in lines), frame])
