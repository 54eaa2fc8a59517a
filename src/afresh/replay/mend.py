"""What can still be read of JSON text that was cut off."""

import json
import re
from typing import Any

_mark = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[\[\]{},]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


def close(text: str) -> Any:
    """The value with its last, unfinished part left out, or None if nothing can be saved.

    A part is a field of the outermost object, or an item of a list that is outermost or a field of it: half an entry would be
    taken for a whole one.
    """
    within: list[str] = []
    end, closing = 0, ""
    for found in _mark.finditer(text):
        mark = text[found.start()]
        if mark == '"':
            if not found[1]:
                break
            continue
        if mark in _CLOSING:
            within.append(mark)
        elif mark != "," and (not within or _CLOSING[within.pop()] != mark):
            break
        if len(within) == 1 or within[1:] == ["["]:
            end = found.start() if mark == "," else found.end()
            closing = "".join(_CLOSING[opened] for opened in reversed(within))
    try:
        return json.loads(text[:end] + closing, strict=False)
    except (ValueError, RecursionError):
        return None
