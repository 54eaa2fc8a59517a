"""States for tests, made of plain fields: each goes to the part of the state that has it."""

from dataclasses import fields, replace
from typing import Any

from afresh.core.state import State
from afresh.core.task import Task

PARTS = ("times", "workspace", "verification", "work", "dialogue", "memory", "tokens", "spending")


def make_state(task: Task, **values: Any) -> State:
    return replace_in_parts(State(task=task), **values)


def replace_in_parts(state: State, **values: Any) -> State:
    """The state with these values, wherever they belong. TypeError for a field that no part has."""
    own = {name: values.pop(name) for name in [*values] if name in State.__dataclass_fields__}
    for part in PARTS:
        now = getattr(state, part)
        concerned = {field.name: values.pop(field.name) for field in fields(now) if field.name in values}
        if concerned:
            own[part] = replace(own.get(part, now), **concerned)
    if values:
        raise TypeError(f"no part of a state has {', '.join(values)}")
    return replace(state, **own)
