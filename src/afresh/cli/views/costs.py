"""Money in a few words."""

from typing import TYPE_CHECKING, Any

from afresh.domain.limits import NANO, dollars

if TYPE_CHECKING:
    from afresh.app.spend import Line


def cost(line: "Line") -> str:
    """Of a task; empty where nobody pays."""
    return money(line) if line.money or line.unknown else ""


def money(line: "Line") -> str:
    """A price that nobody knows is not shown as nothing."""
    if line.unknown and line.unknown == line.calls:
        return "price unknown"
    return dollars(line.money) + ("+?" if line.unknown else "")


def cost_json(line: "Line") -> dict[str, Any]:
    return {
        "calls": line.calls, "input": line.input, "output": line.output, "cached": line.cached, "written": line.written,
        "nano_dollars": line.money, "dollars": line.money / NANO, "price_unknown": line.unknown, "odd": line.odd,
    }  # fmt: skip
