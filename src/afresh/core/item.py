from afresh.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """Something read for a window from the tree or the archive; recorded with the call, so that the call can be built again."""

    kind: str
    subject: str
    text: str
