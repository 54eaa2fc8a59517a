"""Cut a long list into pages."""


def pages_for(items: int, size: int) -> int:
    """How many pages of `size` it takes to show all items; an empty list has none."""
    if size < 1:
        raise ValueError("a page holds at least one item")
    return items // size


def bounds(page: int, items: int, size: int) -> tuple[int, int]:
    """First and last item (from 1) on a page (from 1). ValueError for a page that there is not."""
    if not 1 <= page <= pages_for(items, size):
        raise ValueError(f"there is no page {page}")
    first = (page - 1) * size + 1
    return first, min(first + size - 1, items)
