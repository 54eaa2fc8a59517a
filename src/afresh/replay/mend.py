"""What can still be read of JSON text that was cut off, or that makes no sense from some place on."""

import json
import re
from typing import Any

_JSON_MARK = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[\[\]{},]', re.DOTALL)
_CLOSING_BRACKETS = {"{": "}", "[": "]"}


def repair_json(text: str) -> Any:
    """The value with its last, unfinished part left out, or None if nothing can be saved.

    A part is a field of the outermost object, or an item of a list that is outermost or a field of it: half an entry would be
    taken for a whole one.
    """
    within: list[str] = []
    end, closing = 0, ""
    for found in _JSON_MARK.finditer(text):
        mark = text[found.start()]
        if mark == '"':
            if not found[1]:
                break
            continue
        if mark in _CLOSING_BRACKETS:
            within.append(mark)
        elif mark != "," and (not within or _CLOSING_BRACKETS[within.pop()] != mark):
            break
        if len(within) < 2 or within == ["{", "["]:
            end = found.start() if mark == "," else found.end()
            closing = "".join(_CLOSING_BRACKETS[opened] for opened in reversed(within))
        if not within:
            break
    try:
        return json.loads(text[:end] + closing, strict=False)
    except (ValueError, RecursionError):
        return None
