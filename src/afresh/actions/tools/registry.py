"""The tools a model can be given, in the order they are shown."""

from afresh.actions.tools import apply, ask, complete, delegate, edit, note, plan, read, run, search

TOOLS = (
    read.tool, search.tool, edit.tool, apply.tool, run.tool, note.tool, plan.tool, delegate.tool, ask.tool, complete.tool,
)  # fmt: skip
