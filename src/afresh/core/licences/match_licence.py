"""Which changes of tests a licence covers."""

from collections.abc import Iterable, Sequence

from afresh.core.licences.licence_for_tests import LicensedChange, Weakening
from afresh.core.search_words import split_words, stem_word
from afresh.core.state import State

MIN_SHARED_WORDS = 2
"""Words that a test must share with the description of the tests that may change."""

_SPOKEN_WORDS = {
    **dict.fromkeys(("kwarg", "kwargs"), ("keyword", "argument")),
    **dict.fromkeys(("arg", "args"), ("argument",)),
    **dict.fromkeys(("param", "params"), ("parameter",)),
    **dict.fromkeys(("msg", "msgs"), ("message",)),
    **dict.fromkeys(("err", "exc"), ("error",)),
}
"""What names of tests shorten and people write out."""


def match_licence(found: Sequence[Weakening], licence: Sequence[LicensedChange]) -> dict[Weakening, LicensedChange]:
    """Those that the licence covers, each with the entry that does: one that needs no proof, if there is one. A description
    covers no more tests than it speaks of."""
    matched = dict[Weakening, LicensedChange]()
    for entry in sorted(licence, key=lambda entry: entry.needs_proof):
        open_ones = [one for one in found if one not in matched and is_covered(one, entry)]
        if entry.most:
            open_ones = sorted(open_ones, key=lambda one: -count_shared_words(one, entry.words))[: entry.most]
        matched |= dict.fromkeys(open_ones, entry)
    return matched


def has_allowed_edits(state: State) -> bool:
    """Whether edits that were refused for want of a licence have one now, each change of a test in them."""
    refused = state.verification.refused
    return refused is not None and {*refused.weakenings} == {*match_licence(refused.weakenings, state.verification.licence)}


def is_covered(weakening: Weakening, entry: LicensedChange) -> bool:
    if weakening.way not in entry.ways or not _is_in_place(weakening.path, entry.path):
        return False
    if entry.name:
        own = entry.name.split(".")
        parts = weakening.name.split(".")
        return any(parts[at : at + len(own)] == own for at in range(len(parts)))
    if entry.words:
        return is_described(weakening, entry.words)
    return True


def _is_in_place(path: str, place: str) -> bool:
    return not place or path == place or (place.endswith("/") and path.startswith(place))


def is_described(weakening: Weakening, words: Sequence[str]) -> bool:
    """Whether its name, and what it does, are what the description speaks of."""
    named = count_shared_words(Weakening(weakening.path, weakening.way, "", weakening.name), words)
    shared = count_shared_words(weakening, words)
    is_all = shared >= len(_stem_words(words))
    return bool(weakening.name) and (named >= 1 or is_all) and shared >= min(MIN_SHARED_WORDS, len(words))


def count_shared_words(weakening: Weakening, words: Sequence[str]) -> int:
    return len(_stem_words(words) & _stem_words(split_words(f"{weakening.name} {weakening.source}")))


def _stem_words(words: Iterable[str]) -> set[str]:
    """Twice: `warnings` is `warning` is `warn`."""
    spoken = [part for word in words for part in _SPOKEN_WORDS.get(word, (word,))]
    return {stem_word(stem_word(word)) for word in spoken}
