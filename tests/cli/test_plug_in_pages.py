"""What the pages on other agents and editors tell people to write starts a command of afresh, with options that it has."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from afresh.cli.main import load_command

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"editors": ("acp", "mcp")}
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
LUA_COMMAND = re.compile(r'command = "afresh", args = \{ ("[^}]+") \}|\{ "afresh", ("[^}]+") \}')
SHELL_COMMAND = re.compile(r"^.*-- afresh (\S+)|^afresh (mcp.*)$", re.MULTILINE)


def list_commands(page: str) -> Iterator[list[str]]:
    """The arguments with which a page has afresh started by another program."""
    for kind, text in BLOCK.findall((DOCS / f"{page}.md").read_text()):
        if kind == "json":
            ((_, servers),) = json.loads(text).items()
            yield from (one["args"] for one in servers.values() if one["command"] == "afresh")
        elif kind == "toml" and "mcp_servers" in text:
            yield from (one["args"] for one in tomllib.loads(text)["mcp_servers"].values() if one["command"] == "afresh")
        elif kind == "lua":
            yield from (json.loads(f"[{one or other}]") for one, other in LUA_COMMAND.findall(text))
        elif kind == "sh":
            yield from (shlex.split(one or other, comments=True) for one, other in SHELL_COMMAND.findall(text))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_starts_a_command_with_options_that_it_has(page: str) -> None:
    commands = list(list_commands(page))
    assert {*PAGES[page]} <= {name for name, *_ in commands}
    for name, *options in commands:
        served = load_command(name)
        if isinstance(served, click.Group) and options[:1] and options[0] in served.commands:
            served = served.commands[options[0]]
        known = {option for parameter in served.params for option in parameter.opts}
        assert {option for option in options if option.startswith("--")} <= known, (page, name, options)
