"""A view of a tree from what a store knows: what did not change is not read again, and what another tree holds was read once."""

from collections import deque
from collections.abc import Mapping, Sequence

from afresh.domain.code import FileChurn
from afresh.errors import AfreshError
from afresh.insight.code import CodeIndex
from afresh.insight.held import MemoryCodeStore
from afresh.insight.taking import update_listing
from afresh.ports import CodeIndexStore, FileTree

_recent_indexes: deque[CodeIndex] = deque(maxlen=4)
"""The last ones: what they have worked out need not be worked out again while their tree is the same."""


def refresh_code_index(
    files: FileTree,
    tree: str,
    store: CodeIndexStore,
    churn: Mapping[str, FileChurn] | None = None,
    measured: Mapping[str, Sequence[str]] | None = None,
) -> CodeIndex:
    """The code of a tree as it is now, which the store knows by this name. A store that fails is done without."""
    stamps = files.stamps()
    try:
        listing = update_listing(files, stamps, tree, store)
    except AfreshError:
        store = MemoryCodeStore()
        listing = update_listing(files, stamps, tree, store)
    if churn is not None or measured is not None:
        return CodeIndex(files, tuple(stamps), listing, store, churn, measured)
    for view in tuple(_recent_indexes):
        if view.shows(files, tuple(stamps), listing, store):
            return view
    _recent_indexes.appendleft(CodeIndex(files, tuple(stamps), listing, store))
    return _recent_indexes[0]
