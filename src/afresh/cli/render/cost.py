"""What a task has cost."""

from typing import TYPE_CHECKING, Any

from afresh.core.usage import NANO_PER_DOLLAR, format_dollars

if TYPE_CHECKING:
    from afresh.spending.reports import SpendingLine


def describe_cost(line: "SpendingLine | None") -> str:
    """Of a task; empty where nobody pays."""
    if line is None:
        return "spending ledger unreadable"
    return describe_money(line) if line.money or line.unknown else ""


def describe_money(line: "SpendingLine") -> str:
    """A price that nobody knows is not shown as nothing."""
    if line.unknown and line.unknown == line.calls:
        return "price unknown"
    return format_dollars(line.money) + ("+?" if line.unknown else "")


def cost_to_json(line: "SpendingLine | None") -> dict[str, Any]:
    """Empty if spending ledger unreadable."""
    if line is None:
        return {}
    return {
        "calls": line.calls, "input": line.input, "output": line.output, "cached": line.cached, "written": line.written,
        "nano_dollars": line.money, "dollars": line.money / NANO_PER_DOLLAR, "price_unknown": line.unknown, "odd": line.odd,
    }  # fmt: skip
