"""Every command can answer a script: it has --json, or a reason why not."""

from collections.abc import Iterator

import click
import pytest

from afresh.cli import main

WITHOUT_JSON = {
    "acp": "all that it prints is the protocol's JSON",
    "chat": "it is a conversation at a terminal; `show --json` has its task",
    "dashboard": "it is for people; it prints its address on one line",
    "demo": "it is a show for people",
    "mcp": "it speaks a protocol until its client is gone",
}


def list_commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        if command.invoke_without_command:
            yield " ".join(path), command
        for name, one in command.commands.items():
            yield from list_commands(one, (*path, name))
    else:
        yield " ".join(path), command


COMMANDS = [pair for name in main.list_command_names() for pair in list_commands(main.load_command(name), (name,))]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_a_command_has_json_or_a_reason(name: str, command: click.Command):
    has_json = any("--json" in parameter.opts for parameter in command.params)
    assert has_json != (name in WITHOUT_JSON)


def test_no_reason_is_kept_for_a_command_that_is_gone():
    assert {*WITHOUT_JSON} <= {name for name, _ in COMMANDS}


def test_groups_are_looked_into():
    assert {"memory list", "knowledge share", "spend", "models key", "code map"} <= {name for name, _ in COMMANDS}
