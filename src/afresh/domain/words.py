"""Words to look things up by: identifiers, paths and prose taken apart, so that parseHTTPHeader is found as `http header`."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import normalize

CHUNK = re.compile(r"\w+(?:[./\\:@-]+\w+)*")
"""Identifiers, and what joins them into a path, an option or a dotted name."""
IDENTIFIER = re.compile(r"\w+")
PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
"""Over the shape of an identifier: several capitals are one word, and so is their plural."""
LAST = frozenset("gdse")
"""Letters that the endings end in."""
LONGEST = 80
"""Letters of a joined whole: nobody asks for a longer one in one piece."""
STOP_WORDS = frozenset(
    ("a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
     "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did", "do",
     "does", "doing", "done", "down", "during", "each", "either", "else", "ever", "every", "few", "for", "from", "further",
     "get", "gets", "got", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "however", "i",
     "if", "in", "into", "is", "it", "its", "itself", "just", "let", "like", "make", "makes", "may", "me", "might", "more",
     "most", "must", "my", "neither", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only", "or", "other", "our",
     "out", "over", "own", "per", "please", "quite", "rather", "same", "shall", "she", "should", "so", "some", "still", "such",
     "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "though", "through", "thus",
     "to", "too", "under", "until", "up", "upon", "us", "very", "want", "wants", "was", "we", "were", "what", "when", "where",
     "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "would", "yet", "you",
     "your")
)  # fmt: skip


def split(text: str) -> list[str]:
    """In reading order, lower case: the parts of every identifier, after those of a compound its whole with nothing between, and
    after the identifiers of a path or dotted name the file's name and the whole in the same way."""
    found: list[str] = []
    for chunk in CHUNK.findall(text if text.isascii() else normalize("NFKC", text)):
        found += _taken_apart(chunk)
    return found


def telling(words: Iterable[str]) -> list[str]:
    """Without single letters and the words that stand in every English sentence."""
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS]


@lru_cache(maxsize=16_384)
def _taken_apart(chunk: str) -> tuple[str, ...]:
    identifiers = IDENTIFIER.findall(chunk)
    found = [word for identifier in identifiers for word in _words(identifier)]
    if len(identifiers) > 1:
        name = re.split(r"[/\\]", chunk)[-1]
        ends = [_joined(name)] if name != chunk and len(IDENTIFIER.findall(name)) > 1 else []
        found += [word for word in (*ends, _joined(chunk)) if word and len(word) <= LONGEST and word != found[-1]]
    return tuple(found)


def _words(identifier: str) -> Iterator[str]:
    parts = [part for piece in identifier.split("_") for part in _parts(piece)]
    yield from parts
    if len(parts) > 1 and len(whole := "".join(parts)) <= LONGEST:
        yield whole


def _parts(piece: str) -> list[str]:
    shape = piece if piece.isascii() else "".join(map(_shape, piece))
    return [piece[match.start() : match.end()].lower() for match in PART.finditer(shape)]


def _shape(sign: str) -> str:
    if sign.isascii():
        return sign
    return "0" if sign.isdigit() else "A" if sign.isupper() else "a"


def _joined(text: str) -> str:
    return "".join(IDENTIFIER.findall(text)).replace("_", "").lower()


def compounds(text: str) -> set[str]:
    """The joined wholes of identifiers and file names: who says one of these means just that."""
    found: set[str] = set()
    for chunk in CHUNK.findall(text if text.isascii() else normalize("NFKC", text)):
        words = [list(_words(identifier)) for identifier in IDENTIFIER.findall(chunk)]
        found.update(parts[-1] for parts in words if len(parts) > 1)
        name = re.split(r"[/\\]", chunk)[-1]
        if len(IDENTIFIER.findall(name)) > 1 and name.count(".") == 1:
            found.add(_joined(name))
    return found


def stem(word: str) -> str:
    """Without the commonest endings, so that `parses`, `parsed` and `parsing` are one word."""
    if word[-1:] not in LAST:
        return word
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
    return word
