"""What a command may read besides the task's tree: the system and the interpreters on PATH, nothing else of the home folder."""

import functools
import os
import sys
from collections.abc import Iterable, Iterator
from glob import escape, glob
from pathlib import Path

from afresh.errors import BadInput
from afresh.sandbox.mounts import Mounts, find_home_folders
from afresh.sandbox.own_environments import find_environment_source, list_own_environments
from afresh.sandbox.toolchain_folders import list_toolchain_folders, make_toolchain_variables

SYSTEM_FOLDERS = tuple(Path(name) for name in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"))

_ETC_NAMES = """ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path alternatives ssl/certs ssl/openssl.cnf ssl/cert.pem
ca-certificates ca-certificates.conf pki/tls/certs pki/ca-trust/extracted crypto-policies
localtime timezone os-release debian_version mime.types
protocols services python3 python3.11 python3.12 python3.13 python3.14 fonts perl maven/m2.conf maven/logging maven/toolchains.xml
java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk"""

_ENVIRONMENT_MARKERS = ("pyvenv.cfg", "conda-meta", ".package-lock.json", ".yarn-integrity", ".modules.yaml")


def list_etc_files() -> tuple[Path, ...]:
    """The parts of /etc that programs need to start; no password, key or account."""
    return tuple(path for name in _ETC_NAMES.split() if (path := Path("/etc") / name).exists())


def list_search_path() -> tuple[Path, ...]:
    """Existing folders on the user's PATH. Relative ones would mean the task's tree, so they don't count."""
    folders = (Path(name) for name in os.environ.get("PATH", os.defpath).split(":") if name.startswith("/"))
    return tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))  # unlike Path.is_dir, never raises


def list_environment_mounts(mounts: Mounts) -> dict[Path, Path]:
    """Where a command sees environments, and what is mounted there: the task's own, or the one of the checkout."""
    names = (
        *(str(folder.relative_to(mounts.at)) for folder in list_mounted_environments(mounts)),
        *list_own_environments(mounts),
    )
    return {mounts.at / name: find_environment_source(mounts, name) for name in names}


def list_mounted_environments(mounts: Mounts) -> tuple[Path, ...]:
    """The environment folders of the checkout that exist. BadInput for a link out of it to something else."""
    paths = [mounts.at / name for name in mounts.environments if (mounts.at / name).is_dir()]
    for folder in paths:
        real = folder.resolve()
        if mounts.at.resolve() not in real.parents and not any((real / mark).exists() for mark in _ENVIRONMENT_MARKERS):
            raise BadInput(
                f"{folder} leads out of the repository to {real}", "make it a plain folder, or a link to an environment"
            )
    return tuple(paths)


def find_interpreter_folders(mounts: Mounts) -> tuple[Path, ...]:
    """Folders that the programs on PATH live in, the running Python, the Pythons that virtual environments are based on, and the
    toolchains and packages of other languages."""
    environments = tuple(place for folder in list_mounted_environments(mounts) for place in (folder, folder.resolve()))
    places = _find_readable_folders(
        list_search_path(),
        (sys.prefix, sys.base_prefix),
        (*environments, *list_toolchain_folders()),
        (*find_home_folders(), mounts.at),
    )
    return tuple(place for place in places if not _is_inside(place, (*SYSTEM_FOLDERS, mounts.at)))


@functools.lru_cache(maxsize=16)
def _find_readable_folders(
    programs: tuple[Path, ...], prefixes: tuple[str, ...], environments: tuple[Path, ...], private: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Cached: the search takes several milliseconds, and every command needs it."""
    folders = [part for folder in programs for part in _expand_installation(folder)]
    folders += [part for prefix in prefixes for part in _expand_installation(Path(prefix) / "bin")]
    based = [
        part for folder in (*environments, *folders) for base in _find_base_python(folder) for part in _expand_installation(base)
    ]
    return _keep_outermost(folder for folder in (*folders, *environments, *based) if not _contains_private(folder, private))


@functools.lru_cache(maxsize=256)
def _expand_installation(folder: Path) -> tuple[Path, ...]:
    """The folder of programs and, if it belongs to an installation that needs more than that, the whole of it."""
    return (folder, folder.parent) if _is_installation(folder.parent, folder.name) else (folder,)


def _is_installation(prefix: Path, folder: str) -> bool:
    if folder == "shims":
        return os.path.isdir(prefix / "versions") or os.path.isdir(prefix / "installs")
    if folder not in ("bin", "sbin"):
        return False
    marks = ("pyvenv.cfg", "conda-meta", "lib/node_modules/npm", "lib/modules", "lib/rustlib", "pkg/tool")
    patterns = ("lib/python3*/os.py", "lib/maven-core-*.jar", "lib/gradle-launcher-*.jar")
    top = escape(str(prefix))
    return any(os.path.exists(prefix / mark) for mark in marks) or any(glob(f"{top}/{pattern}") for pattern in patterns)


def _find_base_python(environment: Path) -> Iterator[Path]:
    """The `bin` folder of the Python that a virtual environment is made from."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            yield Path(value.strip())
            yield Path(value.strip()).resolve()


def _contains_private(folder: Path, private: Iterable[Path]) -> bool:
    real = folder.resolve()
    return any(real == path or real in path.parents for path in private)


def _is_inside(folder: Path, others: Iterable[Path]) -> bool:
    return any(folder == other or other in folder.parents for other in others)


def _keep_outermost(folders: Iterable[Path]) -> tuple[Path, ...]:
    kept: list[Path] = []
    for folder in sorted(set(folders), key=lambda path: len(path.parts)):
        if os.path.isdir(folder) and not _is_inside(folder, kept):
            kept.append(folder)
    return tuple(kept)


_STANDARD_SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")


_OTHER_USER = {"USER": "dev", "LOGNAME": "dev", "TERM": "xterm"}


def make_clean_environment(mounts: Mounts, temporary: str = "/tmp", elsewhere: bool = False) -> dict[str, str]:
    """PATH of the user with the repository's virtual environment first; home and temporary files in a private place."""
    variables = {
        "HOME": f"{temporary}/home",
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "USER": "afresh",
        "LOGNAME": "afresh",
        "TERM": "dumb",
        # git ends if it may not read the system's settings, and no level shows them.
        "GIT_CONFIG_NOSYSTEM": "1",
        # A file edited twice within one second keeps its time stamp: a cached .pyc would test the older text.
        "PYTHONDONTWRITEBYTECODE": "1",
        # What a hanging test has printed must be in the pipe when it is killed.
        "PYTHONUNBUFFERED": "1",
        **make_toolchain_variables(),
    }
    environments = list_environment_mounts(mounts)
    virtual = [folder for folder, source in environments.items() if (source / "pyvenv.cfg").is_file()]
    if virtual:
        variables["VIRTUAL_ENV"] = str(virtual[0])
    packages = [folder / ".bin" for folder, source in environments.items() if (source / ".bin").is_dir()]
    own = [*(str(folder / "bin") for folder in virtual), *map(str, packages)]
    folders = [*own, *map(str, list_search_path()), *_STANDARD_SEARCH_PATH]
    variables["PATH"] = ":".join(dict.fromkeys(folders))
    if elsewhere:
        return {name: value for name, value in variables.items() if not name.startswith("PYTHON")} | _OTHER_USER
    return variables


def find_shell() -> str:
    """bash where there is one, since checks are often written for it."""
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if Path(path).exists()), "/bin/sh")
