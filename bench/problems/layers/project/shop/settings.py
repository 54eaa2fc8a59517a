"""All settings of the shop."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shop.defaults import DEFAULTS
from shop.errors import SettingsError
from shop.merge import merged


def settings(files: Iterable[Path] = ()) -> dict[str, Any]:
    """The defaults, and over them the files, the last one uppermost."""
    made: dict[str, Any] = dict(DEFAULTS)
    for path in files:
        made = merged(made, read(path))
    return made


def read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise SettingsError(f"{path}: {fault}") from fault
