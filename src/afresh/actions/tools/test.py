"""Run the task's checks now, all or some, without waiting for a change."""

import shlex
from collections.abc import Mapping
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.actions.tools.run import check_command_length, render_command_result
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


def run_checks(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    checks = context.state.task.checks
    if not checks:
        raise ModelMistake("test: the task has no checks; use run")
    which = args.get("which", "")
    commands = [(narrow_check_command(check.command, which), check.timeout) for check in (checks[:1] if which else checks)]
    runs = [context.sandbox.run(check_command_length(text), timeout) for text, timeout in commands]
    text = "\n\n".join(f"$ {done.command}\n{render_command_result(done)}" for done in runs)
    return ToolOutcome(text, ok=all(done.exit == 0 for done in runs), traces=True)


def narrow_check_command(check: str, which: str) -> str:
    if not which:
        return check
    if "pytest" not in check:
        raise ModelMistake("test: `which` needs a pytest check; leave it out, or use run")
    try:
        names = shlex.split(which)
    except ValueError as fault:
        raise ModelMistake(f"test: {fault} in `which`") from None
    return f"{check} {shlex.join(names)}"


tool = FunctionTool(make_tool_schema("test", "Run all checks, or `which` test files or ids.", ("which",), which=""), run_checks)
