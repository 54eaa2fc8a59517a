"""Texts that had better not be parsed: they take time that grows with the square of their length, and nobody wrote them."""

import zlib

NON_BRACKET_BYTES = bytes(byte for byte in range(256) if byte not in b"()[]{}")
MAX_BRACKET_ROUNDS = 400
MAX_UNPAIRED_BRACKETS = 4_000
"""Rounds, each of which takes off one to three levels; brackets that are left."""
MAX_UNCHECKED_BYTES = 4_000
MAX_COMPRESSION_RATIO = 40
"""Bytes that are parsed whatever they are; how many times smaller a text may become by leaving out what repeats."""


def unparsable_reason_from_content(content: bytes) -> str:
    """Why not: brackets nested too deeply, too many without a partner, or the same over and over."""
    if len(content) > MAX_UNCHECKED_BYTES and len(zlib.compress(content, 1)) * MAX_COMPRESSION_RATIO < len(content):
        return "the same over and over, data"
    left = content.translate(None, NON_BRACKET_BYTES)
    for _ in range(MAX_BRACKET_ROUNDS):
        before = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(left) == before:
            return f"does not parse: {before:,} brackets without a partner" if before > MAX_UNPAIRED_BRACKETS else ""
    return f"does not parse: brackets nested more than {MAX_BRACKET_ROUNDS} deep"
