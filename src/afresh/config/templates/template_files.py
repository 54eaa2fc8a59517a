"""Files of templates: the project's, then the user's, then those that are shipped; and the keys that they may have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from afresh.actions.tools.registry import TOOLS
from afresh.config.yaml_reader import (
    NAME_PATTERN,
    FileFault,
    InvalidValue,
    KeyPath,
    MappingShape,
    compose_checked_yaml,
    decode_utf8,
    line_of_node,
    make_choice_rule,
    make_integer_rule,
    make_number_rule,
    make_text_rule,
    read_text,
    walk_mapping,
)
from afresh.core.prompt import Tier
from afresh.core.states.strategy_state import STRATEGY_NAMES
from afresh.core.template import (
    CALL_KINDS,
    CODE_PHASES,
    DISCOVERY_PHASES,
    MIN_THINKING_TOKENS,
    REPORT_PHASES,
    REQUIRED_SECTIONS,
    SECTION_ORDER,
)

if TYPE_CHECKING:
    from yaml.nodes import Node


MAX_TEMPLATE_BYTES = 32_000
MAX_GUIDANCE_CHARACTERS = 2_000
MAX_ABOUT_CHARACTERS = 100
"""Characters."""
PHASE_NAMES = tuple(dict.fromkeys((*CODE_PHASES, *REPORT_PHASES, *DISCOVERY_PHASES)))
TOOL_NAMES = tuple(tool.schema.name for tool in TOOLS)
TIERS_BY_NAME = {tier.name.lower(): tier for tier in Tier}


def read_about_line(node: "Node") -> str:
    about_line = make_text_rule(MAX_ABOUT_CHARACTERS)(node)
    if "\n" in about_line:
        raise InvalidValue(line_of_node(node), "should be one line")
    return about_line


def read_thinking_tokens(node: "Node") -> int:
    tokens = make_integer_rule(0, 100_000)(node)
    if 0 < tokens < MIN_THINKING_TOKENS:
        raise InvalidValue(
            line_of_node(node), f"should be 0 or at least {MIN_THINKING_TOKENS:,} tokens: providers take no less, {tokens} is not"
        )
    return tokens


def read_tool_names(node: "Node") -> tuple[str, ...]:
    from yaml.nodes import SequenceNode

    if not isinstance(node, SequenceNode):
        raise InvalidValue(line_of_node(node), "should be a list of tools")
    named = tuple(make_choice_rule("tool", TOOL_NAMES)(item) for item in node.value)
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise InvalidValue(line_of_node(node), f"{twice} is given twice", "take one of them out")
    return named


def read_tier(node: "Node") -> Tier:
    return TIERS_BY_NAME[make_choice_rule("tier", tuple(TIERS_BY_NAME))(node)]


def read_fixed_tier(node: "Node") -> Tier:
    """A template may say that a fixed section is always there; it may not say anything else of it."""
    tier = read_tier(node)
    if tier is not Tier.ALWAYS:
        raise InvalidValue(
            line_of_node(node), "is always shown: without it the model would lose the task or what has failed", "take it out"
        )
    return tier


def read_free_tier(node: "Node") -> Tier:
    tier = read_tier(node)
    if tier is Tier.ALWAYS:
        raise InvalidValue(
            line_of_node(node),
            f"can't be always shown: it may grow past any limit; only {', '.join(REQUIRED_SECTIONS)} are",
            "use phase",
        )
    return tier


def refuse_share(node: "Node") -> float:
    raise InvalidValue(line_of_node(node), "is always shown whole, so it has no share and no cap", "take it out")


FIXED_SECTION_SHAPE = MappingShape(
    "field", "{tier: always}", {"tier": read_fixed_tier, "share": refuse_share, "cap": refuse_share}
)
FREE_SECTION_SHAPE = MappingShape(
    "field",
    "{tier: demand, share: 0.3}",
    {"tier": read_free_tier, "share": make_number_rule(0, 1), "cap": make_number_rule(0, 1)},
)
SECTION_SHAPE = MappingShape(
    "section",
    "{files: {share: 0.6}}",
    {name: FIXED_SECTION_SHAPE if name in REQUIRED_SECTIONS else FREE_SECTION_SHAPE for name in SECTION_ORDER},
)
PHASE_SHAPE = MappingShape(
    "field",
    "{steps: 12, guidance: …}",
    {
        "steps": make_integer_rule(1, 10_000),
        "guidance": make_text_rule(MAX_GUIDANCE_CHARACTERS),
        "opening": make_text_rule(MAX_GUIDANCE_CHARACTERS),
        "tools": read_tool_names,
        "reserve": make_number_rule(0.05, 0.75),
        "thinking": read_thinking_tokens,
        "sections": SECTION_SHAPE,
    },
)
TEMPLATE_SHAPE = MappingShape(
    "field",
    "{extends: base, guidance: …}",
    {
        "extends": read_text,
        "kind": make_choice_rule("kind", CALL_KINDS),
        "about": read_about_line,
        "limit": make_integer_rule(500, 1_000_000),
        "recall": make_integer_rule(200, 100_000),
        "reserve": make_number_rule(0.05, 0.75),
        "thinking": read_thinking_tokens,
        "instructions": make_number_rule(0.05, 0.5),
        "tools": read_tool_names,
        "sections": SECTION_SHAPE,
        "guidance": make_text_rule(MAX_GUIDANCE_CHARACTERS),
        "phases": MappingShape("phase", "{understand: {steps: 12}}", dict.fromkeys(PHASE_NAMES, PHASE_SHAPE)),
        "compaction": MappingShape(
            "field",
            "{keep_steps: 8}",
            {
                "full": make_number_rule(0.1, 1),
                "left": make_number_rule(0, 1),
                "keep_steps": make_integer_rule(1, 10_000),
                "keep_passages": make_integer_rule(1, 100_000),
                "oldest": make_integer_rule(0, 1_000_000),
                "most_passages": make_integer_rule(0, 100_000),
                "context": make_integer_rule(0, 1_000_000),
            },
        ),
        "loop": make_choice_rule("loop", STRATEGY_NAMES),
        "pace": MappingShape(
            "field",
            "{item_steps: 8}",
            {
                "item_steps": make_integer_rule(0, 10_000),
                "replans": make_integer_rule(0, 100),
                "grace": make_integer_rule(0, 10_000),
            },
        ),
        "weights": MappingShape("weight", "{age: 1.5}", {}, make_number_rule(-1e12, 1e12)),
    },
)


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
    """The sections in the order in which they are written, by their mapping."""
    faults: tuple[FileFault, ...] = ()


@lru_cache(maxsize=64)
def parse_template_file(name: str, origin: str, file: str, data: bytes) -> TemplateFile:
    """The values of a file; never raises: what can't be read is a fault. Cached, since runs read templates often."""
    try:
        root = compose_checked_yaml(decode_utf8(data, MAX_TEMPLATE_BYTES))
        if root is None:
            raise InvalidValue(1, "is empty", "begin with `extends: base`")
        mapping = list(walk_mapping(root, (), TEMPLATE_SHAPE))
    except InvalidValue as wrong:
        return TemplateFile(name, origin, file, faults=(wrong.in_file(file),))
    values: dict[KeyPath, TemplateValue] = {}
    orders: dict[KeyPath, tuple[str, ...]] = {}
    faults: list[FileFault] = []
    for key, line, value in mapping:
        if isinstance(value, InvalidValue):
            faults.append(value.in_file(file, key))
        elif key[-1:] == ("sections",):
            orders[key] = value
        else:
            values[key] = TemplateValue(value, file, line)
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
    """The folder that the files must be in, and that their names are shown relative to."""

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
                return parse_template_file(name, self.origin, shown, opened.read(MAX_TEMPLATE_BYTES + 1))
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
