"""Peers' environments: each of its own, made by pip from names and versions when it is missing."""

import shutil
import subprocess
import sys
from pathlib import Path

NEEDS_PYTHON_3_12 = {"openhands"}


def environment(folder: Path, name: str, packages: list[str]) -> str:
    """The Python of a peer's own environment, made when missing or when other versions are asked for."""
    python, installed = folder / name / "bin" / "python", folder / name / "installed"
    wanted = "\n".join(packages)
    if installed.exists() and installed.read_text() == wanted:
        return str(python)
    if not python.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([peer_python(name), "-m", "venv", str(folder / name)], check=True, capture_output=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    if (done := subprocess.run(install, capture_output=True, text=True)).returncode != 0:
        raise RuntimeError("not installable here: " + (done.stderr.strip().splitlines() or ["pip failed"])[-1][:160])
    installed.write_text(wanted)
    return str(python)


def peer_python(name: str) -> str:
    """OpenHands needs Python 3.12; the others take this one."""
    if name not in NEEDS_PYTHON_3_12 or sys.version_info >= (3, 12):
        return sys.executable
    found = [path for version in ("3.12", "3.13", "3.14") if (path := shutil.which(f"python{version}")) and starts(path)]
    if not found:
        raise RuntimeError("not installable here: it needs Python 3.12 or newer, and none on the PATH starts")
    return found[0]


def starts(python: str) -> bool:
    """What is on the PATH may be a stand-in for a Python that is not chosen."""
    return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0
