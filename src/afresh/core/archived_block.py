"""Raw texts in the archive, named by their content, and the line that an index has of each."""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256

from afresh.core.fast_dataclass import dataclass
from afresh.core.redaction import redact_secrets
from afresh.core.truncate import to_one_line

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
    """The index line of an archived block: with its id the model can ask for the block."""

    block: str
    kind: str
    subject: str
    size: int
    phrase: str
    step: int

    @property
    def is_page(self) -> bool:
        """Whether its block holds older lines of the index, and the id of the page before it."""
        return self.kind == INDEX_PAGE_KIND


INDEX_PAGE_KIND = "index"
MAX_INDEX_LINES = 24
LINES_KEPT_AFTER_PAGE = 12
"""Lines of an index that a state holds, and those that stay when the others move to a page in the archive."""
OLDER_PAGE_PREFIX = "older: "


def merge_index(known: Sequence[BlockIndexLine], new: Sequence[BlockIndexLine]) -> tuple[BlockIndexLine, ...]:
    """The index without the older line of a block that was printed again."""
    again = {line.block for line in new}
    return (*[line for line in known if line.block not in again], *new)


def apply_new_lines(known: Sequence[BlockIndexLine], new: Sequence[BlockIndexLine]) -> tuple[BlockIndexLine, ...]:
    """The index after a step. A page among the new lines holds all but the newest of them."""
    page = [line for line in new if line.is_page]
    merged = merge_index(known, [line for line in new if not line.is_page])
    return (*page, *merged[-LINES_KEPT_AFTER_PAGE:]) if page else merged[-MAX_INDEX_LINES:]


def move_old_lines(
    known: Sequence[BlockIndexLine], new: Sequence[BlockIndexLine], step: int
) -> tuple[tuple[BlockIndexLine, ...], tuple[Block, ...]]:
    """A page for the older lines, if there are more than a state holds: its own line, and its block."""
    merged = merge_index(known, new)
    if len(merged) <= MAX_INDEX_LINES:
        return (), ()
    moved = merged[:-LINES_KEPT_AFTER_PAGE]
    older = next((line.block for line in moved if line.is_page), "")
    block = block_from_text("\n".join([f"{OLDER_PAGE_PREFIX}{older}", *list_index_lines(moved)]))
    about = f"steps {moved[0].step} to {moved[-1].step}"
    return (BlockIndexLine(block.id, INDEX_PAGE_KIND, about, len(block.text), "older lines of this index", step),), (block,)


def read_whole_index(index: Sequence[BlockIndexLine], read: Callable[[str], str]) -> list[str]:
    """Every line that was ever in the index, the newest first, with those that have moved to pages."""
    lines, page = list_index_lines(index), next((line.block for line in index if line.is_page), "")
    while page:
        head, *older = read(page).splitlines()
        lines, page = [*lines, *older], head.removeprefix(OLDER_PAGE_PREFIX).strip()
    return lines


def list_index_lines(index: Sequence[BlockIndexLine]) -> list[str]:
    """The lines as text, the newest first, without pages."""
    return [render_index_line(line) for line in reversed(index) if not line.is_page]


def render_index_line(line: BlockIndexLine, mark: str = "") -> str:
    return to_one_line(f"{line.block[:8]} step {line.step}{mark} {line.kind} {line.subject} ({line.size:,} chars): {line.phrase}")
