"""Where templates are kept: the project's, then the user's, then those that are shipped. A name is looked up, never followed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from afresh.config.templates.template_shape import TEMPLATE_SHAPE
from afresh.config.yaml_reader import MAX_YAML_BYTES, compose_checked_yaml, walk_mapping
from afresh.config.yaml_values import NAME_PATTERN, FileFault, InvalidValue, KeyPath
from afresh.core.truncate import to_one_line


@dataclass(frozen=True, slots=True)
class TemplateValue:
    held: Any
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """What one file says: `("phases", "understand", "steps")` → 12. Flat, so that laying one over another is one union."""

    name: str
    origin: str
    file: str
    values: Mapping[KeyPath, TemplateValue] = field(default_factory=dict[KeyPath, TemplateValue])
    orders: Mapping[KeyPath, tuple[str, ...]] = field(default_factory=dict[KeyPath, tuple[str, ...]])
    """The sections in the order they are written, by the mapping they stand in."""
    faults: tuple[FileFault, ...] = ()


@lru_cache(maxsize=64)
def parse_template_file(name: str, origin: str, file: str, data: bytes) -> TemplateFile:
    """Never raises: what can't be read is a fault of the sheet. The same bytes are read once: runs ask often."""
    try:
        root = compose_checked_yaml(data)
        found = list(walk_mapping(root, (), TEMPLATE_SHAPE))
    except InvalidValue as wrong:
        return TemplateFile(name, origin, file, faults=(FileFault(file, wrong.line, "", wrong.what, wrong.next),))
    values: dict[KeyPath, TemplateValue] = {}
    orders: dict[KeyPath, tuple[str, ...]] = {}
    faults: list[FileFault] = []
    for key, line, held in found:
        if isinstance(held, InvalidValue):
            faults.append(FileFault(file, held.line, to_one_line(".".join(key), 120), held.what, held.next))
        elif key[-1:] == ("sections",):
            orders[key] = held
        else:
            values[key] = TemplateValue(held, file, line)
    return TemplateFile(name, origin, file, values, orders, tuple(faults))


SHIPPED_FOLDER = Path(__file__).parents[2] / "templates"


@dataclass(frozen=True, slots=True)
class TemplateLayer:
    origin: str
    """project, user or shipped."""
    folder: Path
    only: str = ""
    """The one file that counts, when a single one is looked at."""
    root: Path | None = None
    """Where the files must really lie, and what their names are told relative to."""

    def names(self) -> Iterator[str]:
        """The file of every template, whether its name can be used or not."""
        found = sorted(path.name for path in self.folder.glob("*.y*ml")) if self.folder.is_dir() else []
        return (name for name in found if not self.only or name == self.only)

    def shown(self, file: str) -> str:
        path = self.folder / file
        return path.relative_to(self.root).as_posix() if self.root else str(path)

    def read(self, file: str) -> TemplateFile:
        name, shown = file.rpartition(".")[0], self.shown(file)
        if why := self.refused(file):
            return TemplateFile(name, self.origin, shown, faults=(FileFault(shown, 1, "", *why),))
        try:
            with (self.folder / file).open("rb") as opened:
                return parse_template_file(name, self.origin, shown, opened.read(MAX_YAML_BYTES + 1))
        except OSError as fault:
            return TemplateFile(name, self.origin, shown, faults=(FileFault(shown, 1, "", f"can't be read: {fault.strerror}"),))

    def refused(self, file: str) -> tuple[str, str] | None:
        path = self.folder / file
        if not NAME_PATTERN.fullmatch(file.rpartition(".")[0]) or path.suffix != ".yaml":
            return "is not looked at under this name", "use small letters, digits and _, and end it in .yaml"
        if not path.is_file():
            return "is not a regular file", "put the template itself there"
        inside = self.root is None or path.resolve().is_relative_to(self.root.resolve())
        if self.origin == "project" and (path.is_symlink() or not inside):
            return "is a link, which a repository may not use here", "put the template itself there"
        return None


@dataclass(frozen=True, slots=True)
class TemplateLayers:
    layers: tuple[TemplateLayer, ...]
    """Nearest first."""

    def find(self, name: str, depth: int = 0) -> tuple[int, TemplateFile] | None:
        """The nearest template of that name from the given layer on, and its layer."""
        if not NAME_PATTERN.fullmatch(name):
            return None
        for at, layer in enumerate(self.layers[depth:], depth):
            if f"{name}.yaml" in layer.names():
                return at, layer.read(f"{name}.yaml")
        return None

    def names(self) -> list[str]:
        files = {file.removesuffix(".yaml") for layer in self.layers for file in layer.names() if file.endswith(".yaml")}
        return sorted(name for name in files if NAME_PATTERN.fullmatch(name))


SHIPPED_LAYERS = TemplateLayers((TemplateLayer("shipped", SHIPPED_FOLDER, root=SHIPPED_FOLDER.parent),))


def layers_for_project(root: Path | None) -> TemplateLayers:
    """All that counts in a project; without one the user's and the shipped."""
    from platformdirs import user_config_path

    own = TemplateLayer("user", user_config_path("afresh") / "templates")
    project = (TemplateLayer("project", root / ".afresh" / "templates", root=root),) if root else ()
    return TemplateLayers((*project, own, *SHIPPED_LAYERS.layers))
