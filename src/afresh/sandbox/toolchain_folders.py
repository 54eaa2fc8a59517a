"""Toolchains and downloaded packages in the home folder that commands may read, by language. Nothing with a key in it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ToolchainFolder:
    """A folder that a tool finds by a variable, else in the home folder."""

    variable: str
    usual: str = ""
    """Below the home folder; empty if only the variable leads there."""
    shown: tuple[str, ...] = ("",)
    """What of it can be read; all by default. Credentials beside it stay hidden. Nothing where its folder on PATH brings it."""
    holder: str = ""
    """A variable that names a folder around it, and what comes after that."""
    offline: tuple[tuple[str, str], ...] = ()
    """Variables for a tool without a network: it says at once what is missing, instead of trying."""


TOOLCHAIN_FOLDERS = (
    ToolchainFolder("RUSTUP_HOME", ".rustup"),
    ToolchainFolder("CARGO_HOME", ".cargo", ("bin", "registry", "git"), offline=(("CARGO_NET_OFFLINE", "true"),)),
    ToolchainFolder("GOMODCACHE", "go/pkg/mod", holder="GOPATH/pkg/mod", offline=(("GOPROXY", "off"),)),
    ToolchainFolder("JAVA_HOME"),
    ToolchainFolder("SDKMAN_DIR", ".sdkman", ("candidates",)),
    ToolchainFolder("COREPACK_HOME", ".cache/node/corepack", offline=(("COREPACK_ENABLE_NETWORK", "0"),)),
    ToolchainFolder("VOLTA_HOME", ".volta", ("bin", "tools")),
    ToolchainFolder("NVM_DIR", ".nvm", ("versions",)),
    ToolchainFolder("FNM_DIR", ".local/share/fnm"),
    ToolchainFolder("ASDF_DATA_DIR", ".asdf", ()),
    ToolchainFolder("PYENV_ROOT", ".pyenv", ()),
    ToolchainFolder("PNPM_HOME", ".local/share/pnpm"),
    ToolchainFolder("YARN_GLOBAL_FOLDER", ".yarn/berry"),
)
OWN_HOME_FOLDER = Path(__file__).parent / "home"
MAVEN_REPOSITORY = ".m2/repository"
MAVEN_OPTIONS = "-Dmaven.repo.local={} -Daether.enhancedLocalRepository.trackingFilename=none"
"""Where a package was once downloaded from does not matter: settings with mirrors are not shown."""
GRADLE_CACHES = "caches"
GRADLE_VARIABLE = "GRADLE_USER_HOME"
GRADLE_USUAL = ".gradle"
GRADLE_DISTRIBUTIONS = "wrapper/dists"
VERSION_FILES = (".tool-versions", ".node-version", ".nvmrc", ".python-version")
"""In the home folder: which version a tool takes where the project does not say."""


@dataclass(frozen=True, slots=True)
class HomeLink:
    """A link in the private home folder of a command to something that it may read."""

    name: str
    target: Path


def list_toolchain_folders() -> tuple[Path, ...]:
    """Existing folders to be read."""
    places = [place / part for folder, place in _find_existing() for part in folder.shown]
    places += [Path.home() / MAVEN_REPOSITORY, _find_gradle() / GRADLE_CACHES, _find_gradle() / GRADLE_DISTRIBUTIONS]
    return tuple(path for path in places if os.path.isdir(path))


def make_toolchain_variables() -> dict[str, str]:
    """Variables that lead tools to their folders, since the home folder is another."""
    variables = dict[str, str]()
    for folder, place in _find_existing():
        variables |= {folder.variable: str(place), **dict(folder.offline)}
    if os.path.isdir(repository := Path.home() / MAVEN_REPOSITORY):
        variables["MAVEN_OPTS"] = MAVEN_OPTIONS.format(repository)
    if os.path.isdir(caches := _find_gradle() / GRADLE_CACHES):
        variables["GRADLE_RO_DEP_CACHE"] = str(caches)
    return variables


def list_home_links() -> tuple[HomeLink, ...]:
    """What tools look for in the home folder itself: versions that they take, settings of Maven, and each distribution that
    Gradle's wrapper has downloaded, since the wrapper writes a lock beside it."""
    named = [HomeLink(name, Path.home() / name) for name in (*VERSION_FILES, ".m2/wrapper")]
    own = [HomeLink(".mavenrc", OWN_HOME_FOLDER / "mavenrc"), HomeLink(".m2/offline.xml", OWN_HOME_FOLDER / "offline.xml")]
    maven = own if os.path.isdir(Path.home() / MAVEN_REPOSITORY) else []
    return (*(link for link in named if os.path.exists(link.target)), *maven, *_list_gradle_links())


def link_home_files(home: Path) -> tuple[Path, ...]:
    """Make these links in the private home folder of a command; what they lead to."""
    links = list_home_links()
    for link in links:
        (home / link.name).parent.mkdir(parents=True, exist_ok=True)
        (home / link.name).symlink_to(link.target)
    return tuple(link.target for link in links)


def _list_gradle_links() -> Iterator[HomeLink]:
    top = _find_gradle() / GRADLE_DISTRIBUTIONS
    for path in sorted(top.glob("*/*/*")):
        if path.suffix not in (".lck", ".part"):
            yield HomeLink(f"{GRADLE_USUAL}/{GRADLE_DISTRIBUTIONS}/{path.relative_to(top)}", path)


def _find_gradle() -> Path:
    return Path(os.environ.get(GRADLE_VARIABLE) or Path.home() / GRADLE_USUAL)


def _find_existing() -> list[tuple[ToolchainFolder, Path]]:
    places = [(folder, place) for folder in TOOLCHAIN_FOLDERS if (place := _find_place(folder))]
    return [(folder, place) for folder, place in places if place.is_absolute() and os.path.isdir(place)]


def _find_place(folder: ToolchainFolder) -> Path | None:
    if text := os.environ.get(folder.variable):
        return Path(text)
    variable, _, rest = folder.holder.partition("/")
    if held := os.environ.get(variable):
        return Path(held.split(os.pathsep)[0]) / rest
    return Path.home() / folder.usual if folder.usual else None
