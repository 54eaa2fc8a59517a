"""Templates from YAML files, with inheritance."""

from importlib.resources import files
from typing import Any

from afresh.domain.template import Share, Template
from afresh.errors import BadInput

FIELDS = {"extends", "reserve", "tools", "shares", "guidance"}


def types() -> list[str]:
    """Task types that there is a template for."""
    found = (
        path.name.removesuffix(".yaml") for path in files("afresh").joinpath("templates").iterdir() if path.name.endswith(".yaml")
    )
    return sorted(name for name in found if name != "base")


def template(type: str) -> Template:
    if type not in types():
        raise BadInput(f"there is no task type {type!r}", next=f"use one of: {', '.join(types())}")
    plain = read(type)
    system = files("afresh").joinpath("prompts", "system.md").read_text("utf-8").strip()
    return Template(
        type=type,
        system="\n\n".join(part for part in (system, str(plain["guidance"]).strip()) if part),
        tools=tuple(plain["tools"]),
        shares=tuple(Share(name, float(part)) for name, part in plain["shares"].items()),
        reserve=float(plain["reserve"]),
    )


def read(name: str) -> dict[str, Any]:
    """One file over the one that it extends; the nearer wins, field by field."""
    import yaml

    plain: dict[str, Any] = yaml.safe_load(files("afresh").joinpath("templates", f"{name}.yaml").read_text("utf-8"))
    if unknown := set(plain) - FIELDS:
        raise BadInput(
            f"template {name}: unknown field {', '.join(sorted(unknown))}", next=f"fields are: {', '.join(sorted(FIELDS))}"
        )
    parent = plain.pop("extends", None)
    return {**read(parent), **plain} if parent else plain
