"""The tools a model can be given, in the order they are shown."""

from afresh.actions.tools import (
    apply,
    ask,
    complete,
    decide,
    delegate,
    edit,
    plan,
    prompt_requests,
    read,
    recall,
    remember,
    run,
    search,
    test,
    write,
)

TOOLS = (
    read.tool, search.tool, edit.tool, write.tool, run.tool, test.tool, remember.tool, recall.tool, plan.tool, decide.tool,
    prompt_requests.compact, ask.tool, complete.tool, apply.tool, prompt_requests.more_room, delegate.tool,
)  # fmt: skip
