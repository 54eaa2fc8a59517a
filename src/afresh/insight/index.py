"""A view of a tree from what a store knows: what did not change is not read again, and what another tree holds was read once."""

from collections import deque
from collections.abc import Mapping, Sequence

from afresh.domain.code import Churn
from afresh.errors import AfreshError
from afresh.insight.code import Code
from afresh.insight.held import HeldCode
from afresh.insight.taking import listed
from afresh.ports import CodeStore, Files

_views: deque[Code] = deque(maxlen=4)
"""The last ones: what they have worked out need not be worked out again while their tree is the same."""


def refresh(
    files: Files,
    tree: str,
    store: CodeStore,
    churn: Mapping[str, Churn] | None = None,
    measured: Mapping[str, Sequence[str]] | None = None,
) -> Code:
    """The code of a tree as it is now, which the store knows by this name. A store that fails is done without."""
    stamps = files.stamps()
    try:
        listing = listed(files, stamps, tree, store)
    except AfreshError:
        store = HeldCode()
        listing = listed(files, stamps, tree, store)
    if churn is not None or measured is not None:
        return Code(files, tuple(stamps), listing, store, churn, measured)
    for view in tuple(_views):
        if view.shows(files, tuple(stamps), listing, store):
            return view
    _views.appendleft(Code(files, tuple(stamps), listing, store))
    return _views[0]
