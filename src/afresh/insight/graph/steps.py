"""From a value to what a `for`, a `with` or an assignment to several names takes out of it."""

from afresh.insight.graph.classes import member, returned
from afresh.insight.graph.containers import at, items
from afresh.insight.graph.scopes import Step
from afresh.insight.graph.values import NOTHING, UNKNOWN, Class, Function, Instance, Many, Outside, Value, Values, listed
from afresh.insight.graph.world import World


def stepped(world: World, values: Values, steps: tuple[Step, ...]) -> Values:
    for step in steps:
        values = NOTHING.union(*(_step(world, value, step) for value in values))
    return values


def _step(world: World, value: Value, step: Step) -> Values:
    if step == "item":
        return item(world, value)
    if step == "enter":
        return entered(world, value)
    if step == "rest":
        return listed(item(world, value))
    return at(value, int(step))


def item(world: World, value: Value) -> Values:
    """Of one of our own classes: what its `__iter__` gives."""
    if not isinstance(value, Instance):
        return NOTHING if isinstance(value, Class) else items(value)
    iterators = called_member(world, value.of, "__iter__")
    own = {each for each in iterators if isinstance(each, Instance)}
    found = NOTHING.union(*(items(each) for each in iterators if each not in own))
    return found.union(*(called_member(world, each.of, "__next__") for each in own if isinstance(each, Instance)))


def entered(world: World, value: Value) -> Values:
    if isinstance(value, Many):
        return value.parts[0] if value.shape == "context" else UNKNOWN
    if isinstance(value, Instance):
        given = called_member(world, value.of, "__enter__") | called_member(world, value.of, "__aenter__")
        return given or frozenset({value})
    return frozenset({value}) if isinstance(value, Outside) else UNKNOWN


def called_member(world: World, of: Class, name: str) -> Values:
    found: set = set()
    for function in member(world, of, name, True):
        if isinstance(function, Function):
            found |= returned(world, function)
    return frozenset(found)
