"""Toolchains and downloaded packages in the home folder that commands may read: of Rust and Go. Nothing with a key in it."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ToolchainFolder:
    """A folder that a tool finds by a variable, else in the home folder."""

    variable: str
    usual: str
    """Below the home folder."""
    shown: tuple[str, ...] = ("",)
    """What of it can be read; all by default."""


TOOLCHAIN_FOLDERS = (
    ToolchainFolder("RUSTUP_HOME", ".rustup"),
    ToolchainFolder("CARGO_HOME", ".cargo", ("bin", "registry", "git")),
    ToolchainFolder("GOMODCACHE", "go/pkg/mod"),
)
"""CARGO_HOME also holds credentials, which stay hidden."""
OFFLINE_VARIABLES = {"CARGO_HOME": {"CARGO_NET_OFFLINE": "true"}, "GOMODCACHE": {"GOPROXY": "off"}}
"""There is no network: the tool says at once what is missing, instead of trying."""


def list_toolchain_folders() -> tuple[Path, ...]:
    """Existing folders to be read."""
    places = (place / part for folder, place in _find_existing() for part in folder.shown)
    return tuple(path for path in places if os.path.isdir(path))


def make_toolchain_variables() -> dict[str, str]:
    """Where the tools find them, since the home folder is another."""
    found = dict[str, str]()
    for folder, place in _find_existing():
        found |= {folder.variable: str(place), **OFFLINE_VARIABLES.get(folder.variable, {})}
    return found


def _find_existing() -> list[tuple[ToolchainFolder, Path]]:
    places = [(folder, Path(os.environ.get(folder.variable) or Path.home() / folder.usual)) for folder in TOOLCHAIN_FOLDERS]
    return [(folder, place) for folder, place in places if place.is_absolute() and os.path.isdir(place)]
