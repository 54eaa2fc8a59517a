"""Which definitions of a file differ between two versions of it: by their own text, so a new neighbour changes nothing."""

from collections.abc import Iterator, Sequence

from afresh.code.languages.registry import detect_language, read_source
from afresh.core.symbol import Symbol


def find_changed_definitions(path: str, before: str, after: str) -> tuple[str, ...]:
    """Names of what was added, altered or removed, as `Class.method`, in the order of the file; none where a version can't be
    read. A class counts only if its own lines changed, not if only a method did."""
    readings = [read_source(path, text) for text in (before, after)] if detect_language(path) else []
    if not readings or any(reading.fault for reading in readings):
        return ()
    old, new = (dict(_list_own_texts(text, reading.symbols)) for text, reading in zip((before, after), readings, strict=True))
    return tuple(name for name in dict.fromkeys((*new, *old)) if old.get(name) != new.get(name))


def _list_own_texts(text: str, symbols: Sequence[Symbol]) -> Iterator[tuple[str, str]]:
    """Each definition with its lines that belong to no other one within it; what is defined twice is one."""
    lines = text.splitlines()
    owners = [""] * (len(lines) + 1)
    for symbol in sorted(symbols, key=_order_by_size):
        last = min(symbol.end, len(lines))
        owners[symbol.line : last + 1] = [symbol.name] * (last + 1 - symbol.line)
    texts: dict[str, list[str]] = {symbol.name: [] for symbol in symbols}
    for line, owner in zip(lines, owners[1:], strict=True):
        if owner and line.strip():
            texts[owner].append(line.rstrip())
    for name, kept in texts.items():
        yield name, "\n".join(kept)


def _order_by_size(symbol: Symbol) -> int:
    """The larger ones first: what is within them takes its lines from them."""
    return symbol.line - symbol.end
