import re

from afresh.errors import BadInput

NOTHING_CHANGED = "nothing was changed"


def check_task_id(task_id: str) -> str:
    """The id, if it can be the name of a folder and of a branch."""
    fits = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", task_id)
    if not fits or ".." in task_id or task_id.endswith((".", ".lock")):
        raise BadInput(
            f"{task_id!r} can't be the id of a task", next="use letters, digits, '-', '_' and '.'", safe=NOTHING_CHANGED
        )
    return task_id
