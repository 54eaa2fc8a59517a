"""The environment of a command: made from nothing, so that no secret of the user's can be in it."""

from collections.abc import Sequence
from pathlib import Path

from afresh.adapters.sandbox.mounts import Mounts
from afresh.adapters.sandbox.reach import list_mounted_environments, list_search_path

_STANDARD_SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")


def make_clean_environment(mounts: Mounts, temporary: str = "/tmp", imports: Sequence[Path] = ()) -> dict[str, str]:
    """PATH of the user with the repository's virtual environment first; home and temporary files in a private place."""
    variables = {
        "HOME": f"{temporary}/home",
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "USER": "afresh",
        "LOGNAME": "afresh",
        "TERM": "dumb",
        # A file edited twice within one second keeps its time stamp: a cached .pyc would test the older text.
        "PYTHONDONTWRITEBYTECODE": "1",
        # What a hanging test has printed must be in the pipe when it is killed.
        "PYTHONUNBUFFERED": "1",
    }
    virtual = [folder for folder in list_mounted_environments(mounts) if (folder / "pyvenv.cfg").is_file()]
    if virtual:
        variables["VIRTUAL_ENV"] = str(virtual[0])
    folders = [*(str(folder / "bin") for folder in virtual), *map(str, list_search_path()), *_STANDARD_SEARCH_PATH]
    variables["PATH"] = ":".join(dict.fromkeys(folders))
    if imports:
        variables["PYTHONPATH"] = ":".join(map(str, imports))
    return variables


def find_shell() -> str:
    """bash where there is one, since checks are often written for it."""
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if Path(path).exists()), "/bin/sh")
