"""Items for tests, made from plain text."""

from afresh.core.context_item import Diff, Excerpt, Item, MapEntry, Note, RepoMap, SourceLine, render_lines


def excerpt(path: str, first: int, text: str, *names: str, kind: str = "file", last: int = 0) -> Excerpt:
    """The lines of the text under consecutive numbers; `last` where the excerpt claims more or fewer."""
    lines = tuple(SourceLine(number, line) for number, line in enumerate(text.splitlines(), first))
    return Excerpt(kind, path, first, last or max(first, first + len(lines) - 1), names, lines)


def repo_map(text: str) -> RepoMap:
    return RepoMap(tuple(MapEntry(symbols=(line,)) for line in text.splitlines()))


def sample_item(kind: str) -> Item:
    """One of each kind that has something to say."""
    return Diff(kind, "a", 1, 0, "b") if kind == "change" else Note(kind, "a", "b")


def text_of(item: Item) -> str:
    """What a section shows of it, without a heading."""
    match item:
        case Excerpt():
            return render_lines(item.body)
        case Diff():
            return item.patch
        case RepoMap():
            return "\n".join(map(str, item.entries))
        case Note():
            return item.text
