"""Invoices on paper."""

from collections.abc import Sequence

from billing.invoice import Line, amount, taxes, total
from billing.money import show


def printed(lines: Sequence[Line]) -> str:
    rows = [(f"{line.pieces} x {line.what}", show(amount(line))) for line in lines]
    rows += [(f"tax {rate} %", show(tax)) for rate, tax in sorted(taxes(lines).items(), key=lambda one: float(one[0]))]
    rows.append(("total", show(total(lines))))
    return "\n".join(f"{what:<30}{value:>10}" for what, value in rows)
