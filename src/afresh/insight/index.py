"""A view of a tree from what a store knows: what did not change is not read again, and what another tree holds was read once."""

from collections.abc import Mapping, Sequence

from afresh.domain.code import Churn
from afresh.errors import AfreshError
from afresh.insight.code import Code
from afresh.insight.held import HeldCode
from afresh.insight.taking import listed
from afresh.ports import CodeStore, Files


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
    return Code(files, tuple(stamps), listing, store, churn, measured)
