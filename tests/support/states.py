"""States and runtimes for tests, made of plain fields: each goes to the part that has it."""

from dataclasses import fields, replace
from typing import Any, TypeVar

from afresh.core.cache_rates import NO_CACHE
from afresh.core.state import State
from afresh.core.task import Task
from afresh.runtime import CallSettings, Runtime

Whole = TypeVar("Whole", State, Runtime)
STATE_PARTS = ("times", "workspace", "verification", "work", "dialogue", "memory", "tokens", "spending")
RUNTIME_PARTS = ("settings", "knowledge", "control")


def make_state(task: Task, **values: Any) -> State:
    return replace_in_parts(State(task=task), **values)


def make_runtime(*, template: Any, tools: Any, counter: Any, **values: Any) -> Runtime:
    """Ports that a test leaves out are None. Without a cache every prompt is built anew."""
    unused: Any = dict.fromkeys(("model", "store", "workspace", "files", "sandbox", "code", "clock"))
    settings = CallSettings(template=template, tools=tools, counter=counter, cache=NO_CACHE)
    return replace_in_parts(Runtime(**unused, settings=settings), **values)


def replace_in_parts(whole: Whole, **values: Any) -> Whole:
    """The state or runtime with these values, in whichever part they belong. TypeError for a field that no part has."""
    own = {name: values.pop(name) for name in [*values] if name in whole.__dataclass_fields__}
    for part in STATE_PARTS if isinstance(whole, State) else RUNTIME_PARTS:
        now = getattr(whole, part)
        concerned = {field.name: values.pop(field.name) for field in fields(now) if field.name in values}
        if concerned:
            own[part] = replace(own.get(part, now), **concerned)
    if values:
        raise TypeError(f"no part of it has {', '.join(values)}")
    return replace(whole, **own)
