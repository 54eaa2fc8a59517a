"""Brings what a store knows of a tree in line with the tree: only files whose mark changed are read, and only contents that no
tree ever had are understood."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import chain

from afresh.domain.code import Content, Listing, Reading, Taken
from afresh.errors import AfreshError
from afresh.insight import languages
from afresh.insight.said import words_of
from afresh.ports import CodeStore, Files

VERSION = "1"
"""Of what is read out of a text: with another one all contents are unknown."""
BATCH = 1_000
"""Files that are held in memory at once and kept in one commit."""

FEW = 8
"""Files of which only the marks are new, as of those just written, that are sooner looked at again than listed anew."""

Known = tuple[str, Content]
"""A content's key and what the store has of it."""


def listed(files: Files, stamps: Mapping[str, str], tree: str, store: CodeStore) -> Listing:
    """The tree as it is now, which the store knows by this name."""
    joined = "\0".join(chain.from_iterable(stamps.items()))
    before = store.listing(tree)
    if before and before.stamps == joined:
        return before
    marks = marks_of(before) if before else dict[str, str]()
    known = unchanged(before, marks, stamps) if before else dict[str, Known]()
    paths = languages.understood(stamps)
    changed = [path for path in paths if path not in known]
    with no_collection():
        for first in range(0, len(changed), BATCH):
            known.update(taken_in(files, changed[first : first + BATCH], store))
    now = Listing(joined, [known[path][0] for path in paths], [known[path][1] for path in paths])
    if not (before and len(changed) <= FEW and now.keys == before.keys and list(marks) == list(stamps)):
        store.keep(tree, now)
    return now


def marks_of(before: Listing) -> dict[str, str]:
    parts = before.stamps.split("\0")
    return dict(zip(parts[::2], parts[1::2], strict=False))


def unchanged(before: Listing, marks: Mapping[str, str], stamps: Mapping[str, str]) -> dict[str, Known]:
    """Of what is as it was."""
    then = zip(languages.understood(marks), before.keys, before.contents, strict=True)
    return {path: (key, content) for path, key, content in then if stamps.get(path) == marks[path]}


def taken_in(files: Files, paths: Sequence[str], store: CodeStore) -> dict[str, Known]:
    keys: dict[str, str] = {}
    wanted: dict[str, Callable[[], Taken]] = {}
    for path in paths:
        text, fault = _read(files, path)
        keys[path] = key = fault_key(path, fault) if fault else key_of(path, text)
        wanted.setdefault(key, partial(take, path, text, fault))
    found = store.add(wanted)
    return {path: (key, found[key]) for path, key in keys.items()}


def key_of(path: str, text: str) -> str:
    """The same for the same text that is read in the same way."""
    mark = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=VERSION.encode())
    mark.update(f"\0{languages.reader_of(path)}".encode())
    return mark.hexdigest()


def fault_key(path: str, fault: str) -> str:
    return key_of(path, f"\0{fault}")


def take(path: str, text: str, fault: str = "") -> Taken:
    if fault:
        return Taken(Reading(languages.language_of(path), 0, fault=fault), {})
    reading, said = languages.taken(path, text)
    return Taken(reading, words_of(said))


def _read(files: Files, path: str) -> tuple[str, str]:
    """The text, or why there is none."""
    try:
        return files.read(path), ""
    except UnicodeError:
        return "", "cannot be read as text"
    except AfreshError as error:
        return "", f"cannot be read: {_reason(str(error), path)}"
    except OSError as error:
        return "", f"cannot be read: {error.strerror or 'it failed'}"


def _reason(said: str, path: str) -> str:
    return said.removeprefix(path).strip(" :").removeprefix("is ").partition("; near")[0] or "it failed"


@contextmanager
def no_collection() -> Iterator[None]:
    """Many small values that all live: looking among them for garbage, over and over, finds none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
