"""A cache that forgets what was not used for the longest time."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Cache:
    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError("a cache holds at least one entry")
        self.size = size
        self.hits = self.misses = 0
        self._held: OrderedDict[Hashable, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: Hashable) -> bool:
        """Whether it is held; asking is no use of it."""
        return key in self._held

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What is held under the key, or what `make` gives, which is then held."""
        value = self._held.get(key)
        if value:
            self.hits += 1
            return value
        self.misses += 1
        value = make()
        self.put(key, value)
        return value

    def put(self, key: Hashable, value: Any) -> None:
        if len(self._held) > self.size:
            self._held.popitem(last=False)
        self._held[key] = value
