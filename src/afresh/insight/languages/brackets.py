"""Texts that had better not be parsed: they take time that grows with the square of their length, and nobody wrote them."""

import zlib

OTHERS = bytes(byte for byte in range(256) if byte not in b"()[]{}")
DEEPEST = 400
LONELY = 4_000
"""Rounds, each of which takes off one to three levels; brackets that are left."""
SMALL = 4_000
MONOTONOUS = 40
"""Bytes that are parsed whatever they are; how many times smaller a text may become by leaving out what repeats."""


def tangled(content: bytes) -> str:
    """Why not: brackets nested too deeply, too many without a partner, or the same over and over."""
    if len(content) > SMALL and len(zlib.compress(content, 1)) * MONOTONOUS < len(content):
        return "the same over and over, data"
    left = content.translate(None, OTHERS)
    for _ in range(DEEPEST):
        before = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(left) == before:
            return f"does not parse: {before:,} brackets without a partner" if before > LONELY else ""
    return f"does not parse: brackets nested more than {DEEPEST} deep"
