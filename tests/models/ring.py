"""A keyring to stand in for the system's: the package's own interface, kept in a file that a test names."""

from pathlib import Path

SOURCE = """
import json, os
from . import errors

def _held():
    path = os.environ["STAND_IN_RING"]
    return json.load(open(path)) if os.path.exists(path) else {}

def _keep(held):
    json.dump(held, open(os.environ["STAND_IN_RING"], "w"))

def get_password(service, name):
    if os.environ.get("STAND_IN_LOCKED"):
        raise errors.KeyringLocked("the secret is sk-locked-away")
    return _held().get(f"{service}/{name}")

def set_password(service, name, secret):
    get_password(service, name)
    _keep(_held() | {f"{service}/{name}": secret})

def delete_password(service, name):
    _keep({key: held for key, held in _held().items() if key != f"{service}/{name}"})
"""
ERRORS = "class KeyringError(Exception): ...\nclass KeyringLocked(KeyringError): ...\n"


def install(folder: Path) -> Path:
    """Where Python finds it, and the file that it keeps keys in."""
    package = folder / "packages" / "keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SOURCE)
    (package / "errors.py").write_text(ERRORS)
    return folder / "packages"
