"""Two caches: recent answers by key, and mappings that are computed on first access."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentAnswers(Generic[K, V]):
    """A least-recently-used cache with at most `most` entries, or that total size if `size` is given. The newest entry always
    stays.
    """

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


class LazyMapping(Mapping[str, V]):
    """A mapping that calls `make` when the first key is looked up."""

    def __init__(self, make: Callable[[], Mapping[str, V]]) -> None:
        self._make = make
        self._made: Mapping[str, V] | None = None

    def __getitem__(self, key: str) -> V:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> Mapping[str, V]:
        if self._made is None:
            self._made = self._make()
        return self._made
