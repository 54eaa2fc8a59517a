"""Which commands and addresses a permission is for."""

import pytest

from afresh.core.network_access import (
    NetworkPermission,
    PermissionKind,
    allow_address,
    allow_command,
    find_network_access,
    is_command_allowed,
    parse_address,
    split_plain_command,
)

SMUGGLED = (
    "npm install && curl x",
    "npm install; curl x",
    "npm install | sh",
    "npm install || curl x",
    "npm install & curl x",
    "npm install &",
    "npm install\ncurl x",
    "npm install $(curl x)",
    "npm install `curl x`",
    'npm install "$(curl x)"',
    'npm install "`curl x`"',
    "npm install > ~/.bashrc",
    "npm install < x",
    "npm install <(curl x)",
    "npm install {a,b}",
    "npm install *",
    "npm install x[ab]",
    "npm install ~/x",
    "npm install \\\n; curl x",
    "npm install # x",
    "npm install 'a",
    "LD_PRELOAD=x npm install",
    "env npm install",
    "npm installer",
    "npm",
    "",
)


@pytest.mark.parametrize("command", SMUGGLED)
def test_no_other_command_rides_on_an_allowed_one(command: str) -> None:
    assert not is_command_allowed("npm install ...", command)
    assert not is_command_allowed("npm install", command)


@pytest.mark.parametrize(
    "command", ["npm install", "npm  install\tx", "npm install 'x@>=2' \"y z\"", "npm 'install' x~=1 a@^2.0 --flag=1"]
)
def test_words_are_compared_as_a_shell_reads_them(command: str) -> None:
    assert is_command_allowed("npm install ...", command)


def test_without_the_dots_the_command_is_allowed_as_it_is_and_nothing_more() -> None:
    assert is_command_allowed("npm install", " npm   install ")
    assert not is_command_allowed("npm install", "npm install x")
    assert is_command_allowed("cd web && npm install", "cd web && npm install"), "the very text that a person has read"
    assert not is_command_allowed("cd web && npm install", "cd web  && npm install x")


def test_to_split_a_command_takes_time_by_its_length() -> None:
    """One that is tried again and again would not end."""
    for text in ("a" * 50_000 + "$", "ab'c'" * 20_000 + "$", "'" * 99_999, " " * 100_000 + "$"):
        assert split_plain_command(text) is None


@pytest.mark.parametrize("text", ["", "...", "npm && ...", "a\nb", "x" * 501, "a\x1b[2Kb"])
def test_what_a_person_could_not_judge_can_not_be_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"command"):
        allow_command(text)


def test_addresses_are_hosts_with_ports() -> None:
    address = parse_address("*.Example.org")
    assert address.covers("a.example.org", 443) and address.covers("b.a.example.org", 80)
    assert not address.covers("example.org", 443) and not address.covers("evilexample.org", 443)
    assert not address.covers("a.example.org", 22)
    assert parse_address("packages.example.org:8080").covers("packages.example.org", 8080)
    assert not parse_address("packages.example.org:8080").covers("packages.example.org", 443)
    assert not parse_address("example.org").covers("a.example.org", 443)


@pytest.mark.parametrize(
    "text",
    ["", "*", "*.org", "*.", "http://x.example.org", "x.example.org/path", "a b", "x:0", "x:70000", "*.1.2.3.4", "1.2.3", "a*"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|host|port"):
        parse_address(text)


def test_a_permission_is_written_one_way_however_it_was_typed() -> None:
    assert allow_address("PACKAGES.example.org.").text == "packages.example.org"
    assert allow_address("[::1]:8080").text == "[::1]:8080" and parse_address("[::1]:8080").host == "::1"


def test_access_is_for_the_allowed_command_alone_and_addresses_are_for_all() -> None:
    held = (allow_address("packages.example.org"), NetworkPermission(PermissionKind.COMMAND, "pip install x"))
    assert find_network_access(held, "pip install x").covers("anywhere.example.net", 443)
    other = find_network_access(held, "pip install y")
    assert other.covers("packages.example.org", 443) and not other.covers("anywhere.example.net", 443)
    assert not find_network_access((), "pip install x")
