"""Amounts of money."""


def money(text: str) -> float:
    """An amount as it is typed: "12.50"."""
    return float(text)


def show(amount: float) -> str:
    return f"{amount:.2f}"
