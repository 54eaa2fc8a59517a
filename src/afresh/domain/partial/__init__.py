"""A part of a long text that is worth showing: asked for by words, by lines, or what tells most of it."""

from afresh.domain.partial.choose import OutputExcerpt, select_lines_about, select_line_range, select_outline

__all__ = ["OutputExcerpt", "select_lines_about", "select_line_range", "select_outline"]
