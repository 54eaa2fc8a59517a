"""Words to look things up by: identifiers, paths and prose taken apart, so that parseHTTPHeader is found as `http header`."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import normalize

CHUNK_PATTERN = re.compile(r"\w+(?:[./\\:@-]+\w+)*")
"""Identifiers, and what joins them into a path, an option or a dotted name."""
IDENTIFIER_PATTERN = re.compile(r"\w+")
WORD_PART_PATTERN = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
"""Over the shape of an identifier: several capitals are one word, and so is their plural."""
LAST_LETTERS_OF_ENDINGS = frozenset("gdse")
"""Letters that the endings end in."""
MAX_JOINED_LETTERS = 80
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


def split_words(text: str) -> list[str]:
    """In reading order, lower case: the parts of every identifier, after those of a compound its whole with nothing between, and
    after the identifiers of a path or dotted name the file's name and the whole in the same way."""
    words: list[str] = []
    for chunk in CHUNK_PATTERN.findall(text if text.isascii() else normalize("NFKC", text)):
        words += _split_chunk(chunk)
    return words


def drop_stop_words(words: Iterable[str]) -> list[str]:
    """The words without single letters and the most frequent English words."""
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS]


@lru_cache(maxsize=16_384)
def _split_chunk(chunk: str) -> tuple[str, ...]:
    identifiers = IDENTIFIER_PATTERN.findall(chunk)
    words = [word for identifier in identifiers for word in _split_identifier(identifier)]
    if len(identifiers) > 1:
        name = re.split(r"[/\\]", chunk)[-1]
        ends = [_join_identifiers(name)] if name != chunk and len(IDENTIFIER_PATTERN.findall(name)) > 1 else []
        words += [
            word for word in (*ends, _join_identifiers(chunk)) if word and len(word) <= MAX_JOINED_LETTERS and word != words[-1]
        ]
    return tuple(words)


def _split_identifier(identifier: str) -> Iterator[str]:
    parts = [part for piece in identifier.split("_") for part in _split_piece(piece)]
    yield from parts
    if len(parts) > 1 and len(whole := "".join(parts)) <= MAX_JOINED_LETTERS:
        yield whole


def _split_piece(piece: str) -> list[str]:
    shape = piece if piece.isascii() else "".join(map(_letter_shape, piece))
    return [piece[match.start() : match.end()].lower() for match in WORD_PART_PATTERN.finditer(shape)]


def _letter_shape(sign: str) -> str:
    if sign.isascii():
        return sign
    return "0" if sign.isdigit() else "A" if sign.isupper() else "a"


def _join_identifiers(text: str) -> str:
    return "".join(IDENTIFIER_PATTERN.findall(text)).replace("_", "").lower()


def find_identifiers(text: str) -> set[str]:
    """The identifiers as they are written."""
    return {*IDENTIFIER_PATTERN.findall(text)}


def find_compounds(text: str) -> set[str]:
    """The joined wholes of identifiers and file names: who says one of these means just that."""
    compounds: set[str] = set()
    for chunk in CHUNK_PATTERN.findall(text if text.isascii() else normalize("NFKC", text)):
        words = [list(_split_identifier(identifier)) for identifier in IDENTIFIER_PATTERN.findall(chunk)]
        compounds.update(parts[-1] for parts in words if len(parts) > 1)
        name = re.split(r"[/\\]", chunk)[-1]
        if len(IDENTIFIER_PATTERN.findall(name)) > 1 and name.count(".") == 1:
            compounds.add(_join_identifiers(name))
    return compounds


def stem_word(word: str) -> str:
    """Without the commonest endings, so that `parses`, `parsed` and `parsing` are one word."""
    if word[-1:] not in LAST_LETTERS_OF_ENDINGS:
        return word
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
    return word
