"""Raw texts in the archive, named by their content, and the line that an index has of each."""

import re
from hashlib import sha256

from afresh.core.fast_dataclass import dataclass
from afresh.core.redaction import redact_secrets

BLOCK_ID_PATTERN = re.compile(r'"([0-9a-f]{32})"')


def block_id_from_text(text: str) -> str:
    """Name of a block: its content. 128 bits are plenty against accident, and half the length in every entry."""
    return sha256(text.encode()).hexdigest()[:32]


def find_block_ids(body: str) -> list[str]:
    """What in entries can be the name of a block: every text of 32 hexadecimal digits, whatever its field is called."""
    return list(dict.fromkeys(BLOCK_ID_PATTERN.findall(body)))


@dataclass(frozen=True, slots=True)
class Block:
    """Raw material in the archive, named by its content."""

    id: str
    text: str


def block_from_text(text: str) -> Block:
    """A block of the text without the secrets in it."""
    shown = redact_secrets(text)
    return Block(block_id_from_text(shown), shown)


@dataclass(frozen=True, slots=True)
class BlockIndexLine:
    """One line about an archived block, so that it can be asked for by name."""

    block: str
    kind: str
    subject: str
    size: int
    phrase: str
    step: int
