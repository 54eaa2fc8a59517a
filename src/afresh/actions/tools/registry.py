"""The tools a model can be given, in the order they are shown."""

from afresh.actions.tools import (
    apply,
    ask,
    compact,
    complete,
    decide,
    delegate,
    edit,
    more_room,
    plan,
    read,
    recall,
    remember,
    run,
    search,
    test,
    write,
)

TOOLS = tuple(
    module.tool for module in
    (read, search, edit, write, run, test, remember, recall, plan, decide, compact, ask, complete, apply, more_room, delegate)
)  # fmt: skip
