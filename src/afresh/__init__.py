"""afresh: a coding agent that starts every step afresh and loses nothing.

`afresh.run`, `afresh.resume` and `afresh.apply` do what the commands do, and return the result as data (docs/python.md).
"""

TYPE_CHECKING = False  # not from typing: this module is imported by every command
if TYPE_CHECKING:
    from afresh import errors as errors
    from afresh.app.python_api import apply_result as apply
    from afresh.app.python_api import resume_task as resume
    from afresh.app.python_api import run_goal as run
    from afresh.app.run_result import RunResult as RunResult

__version__ = "0.1.0"
__all__ = ["RunResult", "apply", "errors", "resume", "run"]
PLACES = {
    "RunResult": ("app.run_result", "RunResult"),
    "apply": ("app.python_api", "apply_result"),
    "errors": ("errors", ""),
    "resume": ("app.python_api", "resume_task"),
    "run": ("app.python_api", "run_goal"),
}
"""Where each public name is defined; it is imported when it is first used."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in PLACES:
        raise AttributeError(f"module 'afresh' has no attribute {name!r}")
    module, attribute = PLACES[name]
    found = import_module(f"afresh.{module}")
    return getattr(found, attribute) if attribute else found
