"""A part of a long text that is worth showing: asked for by words, by lines, or what tells most of it."""

from afresh.domain.partial.choose import Excerpt, about, between, outline

__all__ = ["Excerpt", "about", "between", "outline"]
