"""A few small changes to one function as one suggestion: alone, none is worth a review unless it brings it under the limit."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from afresh.insight.complexity import LIMIT
from afresh.insight.reshape.conditional import conditional_values
from afresh.insight.reshape.conditions import merged_conditions
from afresh.insight.reshape.edits import Splice, spliced
from afresh.insight.reshape.gathering import gathered
from afresh.insight.reshape.lookups import lookups
from afresh.insight.reshape.moving import moved_functions
from afresh.insight.reshape.scene import Scene
from afresh.insight.reshape.suggestion import Change, Suggestion, checked, counterpart, unfinished
from afresh.insight.reshape.tables import tables
from afresh.insight.source import Function, Source, parse

Rewriting = Callable[[Scene], Iterator[Change]]
REWRITINGS: tuple[Rewriting, ...] = (merged_conditions, conditional_values, gathered, lookups, moved_functions, tables)
MOST = 4
BEAM = 3
EACH = 12
WORTH = {"move function", "table"}


@dataclass(frozen=True, slots=True)
class State:
    """The file after some changes."""

    source: Source
    function: Function
    changes: tuple[Change, ...] = ()

    @property
    def price(self) -> float:
        """What a reviewer has to read and like."""
        return sum(change.score for change in self.changes) + 0.5 * max(0, len(self.changes) - 1)

    @property
    def rank(self) -> tuple[float, float]:
        return max(0, self.function.complexity - LIMIT) * 2.0 + self.price, self.price


def rewritings(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Sequences that reach the limit, the cheapest first; where none does, what is worth doing all the same."""
    done: list[State] = []
    beam = [State(source, function)]
    seen = {source.text}
    furthest = beam[0]
    for _ in range(MOST):
        following = [after for state in beam for after in _after(state, taken, seen)]
        done += [state for state in following if state.function.complexity <= LIMIT]
        beam = sorted((state for state in following if state.function.complexity > LIMIT), key=lambda state: state.rank)[:BEAM]
        furthest = min([furthest, *filter(_worth_it, beam)], key=lambda state: (state.function.complexity, state.price))
        if done or not beam:
            break
    finished = sorted(done, key=lambda state: state.price)
    for state in finished or [furthest]:
        if state.changes and (suggestion := checked(source, function, _as_one(source, state))):
            yield suggestion


def _worth_it(state: State) -> bool:
    """Made of changes that are no small ones, so that the function is left clearly simpler than it was."""
    return all(change.kind in WORTH for change in state.changes)


def _after(state: State, taken: frozenset[str], seen: set[str]) -> Iterator[State]:
    found = [change for scene in _scenes(state, taken) for rewriting in REWRITINGS for change in rewriting(scene)]
    for change in sorted(found, key=lambda change: change.score)[:EACH]:
        text = spliced(state.source, list(change.splices))
        if text not in seen and (after := following(state.source, state.function, change)) is not None:
            seen.add(text)
            if after[1].complexity < state.function.complexity:
                yield State(*after, (*state.changes, change))


def following(source: Source, function: Function, change: Change) -> tuple[Source, Function] | None:
    """The file and the function in it after the change."""
    result = parse(source.path, spliced(source, list(change.splices)))
    again = counterpart(source, function, result) if result else None
    return (result, again) if result and again else None


def _scenes(state: State, taken: frozenset[str]) -> Iterator[Scene]:
    """The function and those inside it: their decisions count as its own."""
    for one in state.source.functions:
        if one is state.function or state.function.node in one.around:
            yield Scene(state.source, one, taken)


def _as_one(source: Source, state: State) -> Change:
    heads = "; ".join(dict.fromkeys(change.head for change in state.changes))
    kinds = list(dict.fromkeys(change.kind for change in state.changes))
    splices = difference(source, state.source)
    first = min(change.lines[0] for change in state.changes[:1])
    last = max(change.lines[1] for change in state.changes[:1])
    new = tuple(name for change in state.changes for name in change.new)
    score = state.price + unfinished(state.function.complexity)
    kind = kinds[0] if len(kinds) == 1 else "combined"
    head = f"in {state.function.name} of {source.path}, {heads}"
    return Change(kind, head, splices, (first, last), score, new)


def difference(source: Source, result: Source) -> tuple[Splice, ...]:
    """What changed, line by line, as changes of the first text."""
    old, new = source.lines, result.lines
    head = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    short = min(len(old), len(new)) - head
    tail = next((n for n in range(short) if old[-1 - n] != new[-1 - n]), short)
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    found = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    return tuple(_splice(old, new, (i + head, j + head, k + head, m + head)) for i, j, k, m in found)


def _splice(old: Sequence[str], new: Sequence[str], spans: tuple[int, int, int, int]) -> Splice:
    """A splice puts at least one line, so lines that only go take the one above them along."""
    start, stop, first, last = spans
    if first == last:
        return Splice(start, stop + 1, (old[start - 1].rstrip("\r\n"),))
    return Splice(start + 1, stop + 1, tuple(line.rstrip("\r\n") for line in new[first:last]))
