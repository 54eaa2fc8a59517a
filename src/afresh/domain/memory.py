"""All that a window is built from. Together with template, tools and ceiling it decides every byte."""

from dataclasses import dataclass

from afresh.domain.fact import Look
from afresh.domain.state import State


@dataclass(frozen=True, slots=True)
class Memory:
    state: State
    looks: tuple[Look, ...] = ()

    def of(self, kind: str) -> tuple[Look, ...]:
        return tuple(look for look in self.looks if look.kind == kind)
