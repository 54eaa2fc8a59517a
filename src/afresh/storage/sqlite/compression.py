"""Text as the database keeps it: compressed where that pays."""

import zlib

COMPRESSION_LEVEL = 1
"""Level 6 saves another tenth of the bytes and takes twice as long."""
MIN_COMPRESSED_CHARACTERS = 100
SMALL_TEXT_BYTES = 16_384


def compress_text(text: str, shortest: int = MIN_COMPRESSED_CHARACTERS) -> str | bytes:
    """SQLite keeps the type of a value, so that TEXT is plain and BLOB is compressed."""
    if len(text) < shortest:
        return text
    plain = text.encode()
    small = _compress(plain)
    return small if len(small) < len(plain) else text


def _compress(plain: bytes) -> bytes:
    if len(plain) > SMALL_TEXT_BYTES:
        return zlib.compress(plain, COMPRESSION_LEVEL)
    # A window of 4 KB loses nothing on short texts, and spares the kernel from mapping a quarter of a megabyte for each.
    compressor = zlib.compressobj(COMPRESSION_LEVEL, zlib.DEFLATED, wbits=12)
    return compressor.compress(plain) + compressor.flush()


def decompress_text(kept: str | bytes) -> str:
    """ValueError if it is damaged: zlib carries a checksum."""
    if isinstance(kept, str):
        return kept
    try:
        return zlib.decompress(kept).decode()
    except zlib.error as fault:
        raise ValueError(str(fault)) from fault
