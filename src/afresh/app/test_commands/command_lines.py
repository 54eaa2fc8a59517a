"""Reads the commands that a project's files run: CI, make, tox, hatch, scripts of package.json. Nothing is run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from afresh.app.test_commands.parse_command import RejectedCommand, split_plain_words
from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_ini, parse_json, parse_toml
from afresh.config.yaml_reader import compose_yaml

if TYPE_CHECKING:
    from yaml.nodes import Node

COMMAND_KEYS = {"run", "script", "command", "bash"}
FOLDER_KEYS = ("working-directory", "workingDirectory", "working_directory")
MAX_COMMAND_LINES = 400
"""Command lines of one file."""
TEST_TARGETS = ("test", "tests", "check", "unit", "unittest", "pytest")
MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
MAKE_VARIABLE = re.compile(r"^(?:export\s+)?(\w+)[^\S\n]*+[:?]?=[^\S\n]*+((?:\S++|[^\S\n]++(?!$))*+)[^\S\n]*$", re.MULTILINE)
MAKE_VARIABLE_USE = re.compile(r"\$[({](\w+)[)}]")
TOX_SUBSTITUTIONS = {"{envpython}": "python", "{env_python}": "python", "{toxinidir}": ".", "{tox_root}": ".", "{/}": "/"}
TOX_POSARGS = re.compile(r"\{(?:posargs|args)(?::([^{}]*))?\}")
KNOWN_SCRIPT_PROGRAMS = {
    "vitest", "jest", "mocha", "ava", "tap", "node", "tsx", "ts-node", "karma", "playwright", "c8", "nyc", "cross-env",
    "npm", "pnpm", "yarn", "tsc", "eslint", "biome", "prettier", "turbo", "lerna", "nx", "grunt", "gulp", "bun", "wireit",
    "xo", "tsd", "jasmine", "qunit", "ng", "react-scripts", "vue-cli-service", "next", "web-test-runner", "wtr", "uvu",
    "tape", "npx", "run-s", "run-p", "npm-run-all",
}  # fmt: skip
"""Programs that a script of package.json may start: test runners, and what starts them."""
SourcedLine = tuple[str, str, str]
"""A command line, the folder it is run in, and where it was found."""


def read_ci_lines(path: str, text: str) -> Sequence[SourcedLine]:
    """Return the lines of a shell script, or of the steps in a YAML file; none of a file that is no YAML."""
    if not path.endswith((".yml", ".yaml")):
        return [(line, "", path) for line in join_continued_lines(text)][:MAX_COMMAND_LINES]
    import yaml

    try:
        root = compose_yaml(text)
        steps = list(iterate_steps(root, set())) if root else []
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return []
    lines = [(line, folder, path) for said, folder in steps for line in join_continued_lines(said)]
    return lines[:MAX_COMMAND_LINES]


def iterate_steps(node: "Node", seen: set[int]) -> Iterator[tuple[str, str]]:
    """Yield each script with its folder. A node that aliases repeat is read once."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if isinstance(node, ScalarNode) or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, SequenceNode):
        for raw_value in node.value:
            yield from iterate_steps(raw_value, seen)
    elif isinstance(node, MappingNode):
        values = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
        folder = next((str(values[key].value) for key in FOLDER_KEYS if isinstance(values.get(key), ScalarNode)), "")
        for key, value in values.items():
            scripts = value.value if isinstance(value, SequenceNode) else [value]
            yield from ((script.value, folder) for script in scripts if key in COMMAND_KEYS and isinstance(script, ScalarNode))
            yield from iterate_steps(value, seen)


def join_continued_lines(text: str) -> list[str]:
    """Join lines that end with a backslash, and drop comments and blank lines."""
    lines = map(str.strip, re.sub(r"\\[^\S\n]*\n\s*", " ", text).split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def read_make_lines(configuration: ProjectConfiguration, name: str = "") -> Iterator[SourcedLine]:
    """Yield the recipe of a target, with its variables expanded where they are plain words."""
    for path in MAKEFILES:
        text = configuration.text(path)
        variables = {match[1]: match[2].strip() for match in MAKE_VARIABLE.finditer(text)}
        for target in [name] if name else TEST_TARGETS:
            for line in join_continued_lines(read_recipe(text, target)):
                yield expand_variables(line, variables), "", f"{path}: {target}"


def expand_variables(line: str, variables: Mapping[str, str]) -> str:
    """Expand variables, also nested ones up to a limit."""
    for _ in range(4):
        line = MAKE_VARIABLE_USE.sub(lambda match: variables.get(match[1], match[0]), line)
    return line


def list_make_targets(configuration: ProjectConfiguration) -> Sequence[tuple[str, str]]:
    """Return the targets of the makefile that are named after tests, each with its recipe."""
    text = next(filter(None, map(configuration.text, MAKEFILES)), "")
    recipes = ((target, read_recipe(text, target)) for target in TEST_TARGETS)
    calling = r"(?:\bmake|\$[({]MAKE[)}])\s+"
    return [(target, recipe) for target, recipe in recipes if recipe.strip() and not re.search(rf"{calling}{target}\b", recipe)]


def read_recipe(text: str, target: str) -> str:
    found, inside = list[str](), False
    for line in text.split("\n"):
        if inside and (line.startswith("\t") or not line.strip()):
            found.append(line)
        else:
            inside = bool(re.match(rf"{re.escape(target)}(?:\s+[\w.-]+)*\s*:(?!=)", line))
    return "\n".join(found)


def read_tox_lines(configuration: ProjectConfiguration, name: str = "") -> Iterator[SourcedLine]:
    """Yield the commands of the test environments; tox itself would install packages first."""
    tool = get_table(configuration.project, "tool", "tox")
    legacy = tool.get("legacy_tox_ini")
    for path, prefix, text in (
        ("tox.ini", "testenv", configuration.text("tox.ini")),
        ("setup.cfg", "tox:testenv", configuration.text("setup.cfg")),
        ("pyproject.toml", "testenv", legacy if isinstance(legacy, str) else ""),
    ):
        sections = parse_ini(text)
        for one in [f"{prefix}:{name}", prefix] if name else [prefix, *(f"{prefix}:{end}" for end in ("test", "tests", "py"))]:
            section = sections.get(one, {})
            folder = substitute_tox_values(section.get("changedir", section.get("change_dir", ""))).strip("./ ")
            for line in join_continued_lines(section.get("commands", "")):
                yield substitute_tox_values(line.removeprefix("-")), folder, f"{path} [{one}]"
    for path, section in (("tox.toml", parse_toml(configuration.text("tox.toml"))), ("pyproject.toml", tool)):
        for place in (get_table(section, "env_run_base"), get_table(section, "env", "test"), get_table(section, "env", "tests")):
            commands = place.get("commands")
            for words in commands if isinstance(commands, list) else []:
                plain = map(substitute_tox_values, list_texts(words))
                yield " ".join(word for word in plain if not word.startswith("--basetemp")), "", f"{path} [tox]"


def substitute_tox_values(line: str) -> str:
    """Replace what tox would substitute, where that does not depend on its environments."""
    line = re.sub(r"--basetemp[= ]\S+", "", TOX_POSARGS.sub(lambda match: match[1] or "", line))
    for name, value in TOX_SUBSTITUTIONS.items():
        line = line.replace(name, value)
    return line.strip()


def read_hatch_lines(configuration: ProjectConfiguration) -> Iterator[SourcedLine]:
    environments = get_table(configuration.project, "tool", "hatch", "envs")
    for name in environments:
        for target in TEST_TARGETS:
            for line in list_texts(get_table(environments, name, "scripts").get(target)):
                yield substitute_tox_values(line), "", f"pyproject.toml: {target}"


def make_script_command(configuration: ProjectConfiguration, name: str) -> str:
    """Return the command that runs a script of package.json. Raises RejectedCommand unless everything that the script starts is
    known.
    """
    values = parse_json(configuration.text("package.json"))
    value = get_table(values, "scripts").get(name)
    if not isinstance(value, str):
        return ""
    for part in value.split("&&"):
        words = [word for word in split_plain_words(part) if not re.fullmatch(r"\w+=[\w.,:/-]*", word)]
        if not words or words[0].rpartition("/")[2] not in KNOWN_SCRIPT_PROGRAMS:
            raise RejectedCommand(f"the script starts {(words or ['nothing'])[0][:40]!r}")
        if words[0] in ("npx", "cross-env") and not {*words[1:]} & KNOWN_SCRIPT_PROGRAMS:
            raise RejectedCommand("the script starts what is not known")
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}
    named = re.match(r"npm|pnpm|yarn|bun", str(values.get("packageManager", "")))
    manager = named[0] if named else next((locks[lock] for lock in locks if lock in configuration.paths), "npm")
    return f"{manager} {name}" if name == "test" else f"{manager} run {name}"
