"""An estimate of tokens that errs on the high side, without any vocabulary."""

import re
from dataclasses import dataclass
from functools import lru_cache

PIECES = re.compile(r" ?[A-Za-z]{1,8}|\d{1,3}| ?[^\sA-Za-z\d\x80-\uffff]{1,4}|[\x80-\U0010ffff]|[^\S\n]{2,}|\s*\n+|\s")
FRAMING = 12
"""What providers put around a message."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Pieces of a pre-split, times a factor for the model. Against two public vocabularies on recorded outputs of real runs
    the pieces alone come to 1.09 times the tokens at the median and 0.88 at the second percentile: hence the factor."""

    factor: float = 1.15

    def __call__(self, text: str) -> int:
        return int(pieces(text) * self.factor) + 1


@lru_cache(maxsize=4096)
def pieces(text: str) -> int:
    return len(PIECES.findall(text))
