"""Who calls what, asked once for each state of the tree: two sections ask the same, and so does the next window."""

from collections import OrderedDict

from afresh.domain.calls import Calls
from afresh.domain.code import Place
from afresh.insight import calls
from afresh.insight.code import Code

FILES = 40
KEPT = 128
"""Files that are looked into for one name, and answers that are kept."""
_known: OrderedDict[tuple[str, str, Place], Calls] = OrderedDict()


def callers(code: Code, place: Place) -> Calls:
    return _asked("callers", code, place)


def callees(code: Code, place: Place) -> Calls:
    return _asked("callees", code, place)


def _asked(what: str, code: Code, place: Place) -> Calls:
    key = (what, code.digest, place)
    if key not in _known:
        _known[key] = calls.callers(code, place, FILES) if what == "callers" else calls.callees(code, place)
        if len(_known) > KEPT:
            _known.popitem(last=False)
    return _known[key]
