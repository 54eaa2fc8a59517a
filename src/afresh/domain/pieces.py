"""Text in pieces of about a token, without any vocabulary: what a counter multiplies by the factor of its model."""

import re
from functools import lru_cache

TOKEN_PIECE_PATTERN = re.compile(
    r" ?[A-Za-z]{1,8}|\d{1,3}| ?[^\sA-Za-z\d\x80-\U0010ffff]{1,4}|[\x80-\U0010ffff]|[^\S\n]{2,}|\n+|\s"
)


@lru_cache(maxsize=512)
def count_pieces(text: str) -> int:
    """Whole windows are among the texts: what is kept is enough for the sections of the last few."""
    return len(TOKEN_PIECE_PATTERN.findall(text))
