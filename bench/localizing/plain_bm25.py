"""BM25 (Okapi, k1 1.5, b 0.75) over whole files with their paths, identifiers taken apart, lower case, stop words out, stems: the
same words that we look up by. Counts of an unchanged file are kept, which changes nothing but the time."""

import sys
from collections import Counter
from pathlib import Path

from rank_bm25 import BM25Okapi

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from afresh.core.search_words import drop_stop_words, split_words, stem_word


def words(text: str) -> list[str]:
    return [stem_word(word) for word in drop_stop_words(split_words(text))]


class Okapi(BM25Okapi):
    """Takes counted words, where the package would count them itself."""

    def _initialize(self, corpus: list[Counter[str]]) -> dict[str, int]:
        self.doc_freqs, self.doc_len, self.corpus_size = corpus, [each.total() for each in corpus], len(corpus)
        self.avgdl = sum(self.doc_len) / self.corpus_size
        return dict(Counter(word for each in corpus for word in each))


class Contestant:
    package = "rank_bm25"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counted: dict[str, Counter[str]] = {}

    def moved(self, changed: list[str], gone: list[str]) -> None:
        for path in changed:
            self.counted[path] = Counter(words(f"{path}\n{(self.folder / path).read_text(errors='replace')}"))
        for path in gone:
            del self.counted[path]

    def rank(self, text: str) -> list[str]:
        paths = sorted(self.counted)
        scores = Okapi([self.counted[path] for path in paths]).get_scores(words(text))
        return [path for _, path in sorted(zip((-score for score in scores), paths, strict=True))]
