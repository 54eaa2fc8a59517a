"""Text as the database keeps it: compressed where that pays."""

import zlib

LEVEL = 1
"""Level 6 saves another tenth of the bytes and takes three times as long."""
SHORTEST = 100


def packed(text: str, shortest: int = SHORTEST) -> str | bytes:
    """SQLite keeps the type of a value, so that TEXT is plain and BLOB is compressed."""
    if len(text) < shortest:
        return text
    plain = text.encode()
    small = zlib.compress(plain, LEVEL)
    return small if len(small) < len(plain) else text


def unpacked(kept: str | bytes) -> str:
    """ValueError if it is damaged: zlib carries a checksum."""
    if isinstance(kept, str):
        return kept
    try:
        return zlib.decompress(kept).decode()
    except zlib.error as fault:
        raise ValueError(str(fault)) from fault
