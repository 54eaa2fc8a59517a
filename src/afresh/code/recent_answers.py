"""Answers that were worked out lately, by what they depend on: the next prompt asks the same again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentAnswers(Generic[K, V]):
    """Holds at most `most` in all; each key is of size 1 unless `size` says otherwise. The last one is always held."""

    def __init__(self, most: int, size: Callable[[K], int] = lambda key: 1) -> None:
        self.most, self.size = most, size
        self._held: OrderedDict[K, V] = OrderedDict()
        self._total = 0

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        if key not in self._held:
            self._held[key] = make()
            self._total += self.size(key)
            while self._total > self.most and len(self._held) > 1:
                self._total -= self.size(self._held.popitem(last=False)[0])
        self._held.move_to_end(key)
        return self._held[key]
