from hashlib import sha256

from afresh.core.fast_dataclass import dataclass


def block_id_from_text(text: str) -> str:
    """Name of a block: its content. 128 bits are plenty against accident, and half the length in every entry."""
    return sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Block:
    """Raw material in the archive, named by its content."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class BlockIndexLine:
    """One line about an archived block, so that it can be asked for by name."""

    block: str
    kind: str
    subject: str
    size: int
    phrase: str
    step: int
