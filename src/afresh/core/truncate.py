from afresh.core.text import escape_hidden


def to_one_line(text: str, limit: int = 0) -> str:
    """Visible, on one line, and cut to `limit` characters if one is given."""
    if limit and len(text) > 8 * limit:
        text = text[: 8 * limit] + "…"
    return truncate_text(escape_hidden(" ".join(text.split())), limit)


def truncate_text(text: str, limit: int) -> str:
    return text if not limit or len(text) <= limit else text[: limit - 1].rstrip() + "…"
