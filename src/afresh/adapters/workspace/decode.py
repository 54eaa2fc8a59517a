"""Bytes of a file as text, in whatever encoding they are: to be read, not to be written back."""

import codecs
import re

from afresh.errors import ModelMistake

BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
"""First bytes that tell the encoding; the longer of those that begin alike comes first."""
CODING_LINE_PATTERN = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")


def decode_text(path: str, data: bytes) -> str:
    """By its first bytes, as UTF-8, by what it says of itself, or as the commonest of old. ModelMistake for what is binary."""
    text = _try_encodings(data)
    if text is None:
        raise ModelMistake(f"{path} is a binary file of {len(data):,} bytes")
    return text.replace("\r\n", "\n") if "\r\n" in text else text


def _try_encodings(data: bytes) -> str | None:
    told = next((name for first, name in BYTE_ORDER_MARKS if data.startswith(first)), "")
    for encoding in (told, "utf-8" if b"\0" not in data else "", _find_declared_encoding(data), "cp1252", "latin-1"):
        try:
            if encoding and (encoding == told or b"\0" not in data):
                return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return None


def _find_declared_encoding(data: bytes) -> str:
    """What a coding line says, if that is an encoding of text."""
    found = CODING_LINE_PATTERN.match(data[:400])
    name = found[1].decode() if found else ""
    try:
        return name if name and codecs.lookup(name)._is_text_encoding else ""  # pyright: ignore[reportAttributeAccessIssue]
    except LookupError:
        return ""
