"""The front door; where a command fails, as a real process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from person import Told, run_in_process

from afresh.cli import main
from afresh.cli import report_error as failure
from afresh.errors import AfreshError, BadInput, Broken, TryAgain

SOURCE = str(Path(main.__file__).parents[2])


def type_line(*args: str) -> Told:
    """In this process."""
    return run_in_process(args, Path.cwd())


def afresh(*args: str, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """This program, as a process of its own."""
    variables = {**os.environ, "PYTHONPATH": SOURCE, **environment}
    return subprocess.run([sys.executable, "-c", code, *args], env=variables, capture_output=True, text=True)


def failing(error: str) -> str:
    """A program that is afresh with one more command, which fails."""
    return (
        "import click; from afresh.cli import main; from afresh.errors import *\n"
        "@click.command()\n@click.option('--json', is_flag=True)\n"
        f"def fails(json):\n    raise {error}\n"
        "main.load_command = lambda name: fails\nmain.main()"
    )


@pytest.mark.parametrize("args", [(), ("--help",), ("-h",)])
def test_help_lists_every_command(args: tuple[str, ...]):
    shown = type_line(*args)
    assert shown.code == 0
    assert all(f"\n  {name} " in shown.out for name in main.list_command_names())


def test_help_imports_no_command():
    code = (
        "import sys; from afresh.cli import main; main.run_command_line(['--help']); print([m for m in sys.modules if "
        "m.startswith('afresh')])"
    )
    assert afresh(code=code).stdout.splitlines()[-1] == "['afresh', 'afresh.cli', 'afresh.cli.main']"


def test_the_eight_to_start_with_come_first():
    shown = afresh("--help", code="from afresh.cli.main import main; main()").stdout
    first = shown[shown.index("Start here:") :].split("\n\n")[0].splitlines()[1:]
    assert [line.split()[0] for line in first] == ["setup", "run", "chat", "status", "show", "diff", "apply", "resume"]


@pytest.mark.parametrize("args", [("--version",), ("-V",)])
def test_the_version_is_told(args: tuple[str, ...]):
    assert "version 0." in type_line(*args).out


def test_help_is_a_command_and_goes_into_groups():
    for words in ((), ("run",), ("context", "show")):
        assert type_line("help", *words).out == type_line(*words, "--help").out != ""
    unknown = type_line("help", "stats")
    assert unknown.code == 2 and "did you mean 'status'?" in unknown.err


def test_a_former_name_is_not_listed_and_says_what_it_is_now():
    for name, line in main.NEW_NAMES.items():
        new = line.split()[0]
        assert name not in main.list_command_names() and (new.startswith("-") or new in main.list_command_names())
        told = type_line(name, "x")
        assert told.code == 2 and f"`afresh {name}` is now `afresh {line}`" in told.err


GROUPS = [one for name in main.list_command_names() if isinstance(one := main.load_command(name), click.Group)]


def test_a_listed_command_exists_and_explains_itself():
    assert [name for name in main.list_command_names() if not main.load_command(name).help] == []


def test_short_help_is_not_cut_at_80_columns():
    for group in GROUPS:
        context = click.Context(group, info_name="afresh", terminal_width=78)
        commands = group.get_help(context).split("Commands:")[1]
        assert "..." not in commands and max(map(len, commands.splitlines())) <= 80, group.name


def test_the_help_line_of_every_command_fits():
    helps = [text for commands in main.COMMAND_SECTIONS.values() for text in commands.values()]
    assert all(len(text) <= 60 and text.endswith(".") for text in helps)


def list_leaves(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from list_leaves(one, (*path, name))
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield " ".join(path), command


def test_every_command_has_json_but_those_for_people_and_protocols():
    leaves = dict(pair for name in main.list_command_names() for pair in list_leaves(main.load_command(name), (name,)))
    without = {name for name, one in leaves.items() if not any("--json" in parameter.opts for parameter in one.params)}
    assert (
        without == {*main.WITHOUT_JSON} and {"memory list", "knowledge share", "spend", "models", "models key"} <= leaves.keys()
    )


def test_options_of_a_run_stand_under_what_they_are_about():
    titles = [line for line in type_line("run", "--help").out.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles[0] == "What to do:" and titles[-2:] == ["Output:", "Settings for --set:"]


def test_a_listed_command_without_a_module_is_a_fault_of_ours():
    with pytest.raises(Broken, match=r"no cli/nowhere\.py"):
        main.load_command("nowhere")


def test_a_mistyped_command_gets_a_suggestion():
    told = type_line("stats")
    assert told.code == 2 and "did you mean 'status'?" in told.err


def test_an_error_says_what_happened_what_is_safe_and_what_to_do():
    result = afresh("run", code=failing("BadInput('no tests', next='add one', safe='nothing was changed')"))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "afresh: no tests\n  nothing was changed\n  add one\n"


def test_an_error_is_json_where_json_was_asked_for():
    result = afresh("run", "--json", code=failing("BadInput('no tests', next='add one')"))
    error = json.loads(result.stderr)["error"]
    assert (result.returncode, error["kind"], error["what"], error["next"]) == (2, "BadInput", "no tests", "add one")


def test_wrong_usage_is_json_too():
    result = afresh("run", "--json", "--nonsense", code=failing("BadInput('x')"))
    assert (result.returncode, json.loads(result.stderr)["error"]["kind"]) == (2, "Usage")


@pytest.mark.parametrize("error", ["TryAgain('x')", "ValueError('x')"])
def test_a_traceback_is_shown_only_to_who_asks(error: str):
    assert "Traceback" not in afresh("run", code=failing(error)).stderr
    assert "Traceback" in afresh("run", code=failing(error), AFRESH_DEBUG="1").stderr


def test_an_interrupt_says_that_state_is_safe():
    result = afresh("run", code=failing("KeyboardInterrupt"))
    assert result.returncode == 130
    assert "`afresh status` shows what there is" in result.stderr
    assert "resume" not in result.stderr, "there is no task yet; it would continue another one"


@pytest.mark.parametrize("error", [TryAgain("x"), Broken("x"), BadInput("x"), AfreshError("x"), OSError("x"), KeyError("x")])
def test_every_error_has_words_and_a_code(error: Exception):
    described = failure.describe_error(error)
    assert described.what
    assert described.code > 0


def test_a_goal_that_names_the_option_does_not_ask_for_json():
    assert failure.wants_json(["run", "--json"])
    assert not failure.wants_json(["run", "--", "--json"])


def test_what_a_command_returns_is_the_exit_code():
    code = failing("AssertionError").replace("raise AssertionError", "return 3")
    assert afresh("run", code=code).returncode == 3
