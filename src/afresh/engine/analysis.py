"""Sections that the index of code fills: each piece says why it is there. Pure; the text was read from disk for this window."""

from collections.abc import Sequence

from afresh.domain.fact import Look
from afresh.domain.memory import Memory
from afresh.domain.window import Tier
from afresh.engine.draft import Draft, Piece
from afresh.engine.parts import by_need
from afresh.engine.view import spoken

TITLES = {
    "graph": "Who depends on whom",
    "contracts": "What these modules offer (line, signature)",
    "history": "Latest commits of these files",
    "diff": "Diff under review",
    "similar": "Nearest to what is asked, there already",
    "target": "What the task is about, as it is now",
    "callers": "Callers and callees",
    "tests": "Tests that cover it, and what they expect",
    "coverage": "Coverage of the changes",
}
"""In reading order."""
STRICT = ("target", "similar", "diff")
"""Where a small thing of little worth must not stand for a large one of more."""
HEADED = ("similar", "target", "callers", "diff")
"""Sections whose pieces stand under a line of their own that names them and the reason."""


def analysed(memory: Memory) -> list[Draft]:
    words = spoken(memory.state)
    return [drafted(name, title, memory.of(name), words) for name, title in TITLES.items()]


def drafted(name: str, title: str, looks: Sequence[Look], words: str) -> Draft:
    pieces = [
        Piece(
            told(look), f"{name}: {look.subject}", rank, source(look), first=by_need(told(look), words) if name != "diff" else ()
        )
        for rank, look in enumerate(looks)
    ]
    return Draft(name, title, Tier.PHASE, tuple(pieces), strict=name in STRICT)


def told(look: Look) -> str:
    return f"{look.subject}\n{look.text}" if look.kind in HEADED else look.text


def source(look: Look) -> str:
    """Where the rest of a cut piece is to be had."""
    path = look.subject.partition(" ")[0].rpartition(":")[0] if look.kind in ("similar", "target") else ""
    return f"`read` {path}" if path else ""
