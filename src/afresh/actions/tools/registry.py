"""The tools a model can be given, in the order they are shown."""

from afresh.actions.tools import (
    apply,
    ask,
    complete,
    delegate,
    edit,
    notes,
    prompt_requests,
    read,
    recall,
    run,
    search,
    test,
    write,
)

TOOLS = (
    read.tool, search.tool, edit.tool, write.tool, run.tool, test.tool, notes.remember, recall.tool, notes.plan, notes.decide,
    prompt_requests.compact, ask.tool, complete.tool, apply.tool, prompt_requests.more_room, delegate.tool,
)  # fmt: skip
