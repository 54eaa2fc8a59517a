"""Where a project writes down by name how its tests are run: make, just, tox, nox, scripts of a package. Nothing of it is run."""

import ast
import re
from collections.abc import Iterator, Sequence

from afresh.insight.commands.automation import joined
from afresh.insight.commands.shape import Refused, plain_words
from afresh.insight.configuration import Configuration, ini, json, table, texts, toml

TARGETS = ("test", "tests", "check", "unit", "unittest", "pytest")
VARIABLE = re.compile(r"^(?:export\s+)?(\w+)\s*[:?]?=\s*(.*?)\s*$", re.MULTILINE)
USED = re.compile(r"\$[({](\w+)[)}]")
TOX = {"{envpython}": "python", "{env_python}": "python", "{toxinidir}": ".", "{tox_root}": ".", "{/}": "/"}
POSARGS = re.compile(r"\{posargs(?::([^{}]*))?\}")
SCRIPTED = {
    "vitest", "jest", "mocha", "ava", "tap", "node", "tsx", "ts-node", "karma", "playwright", "c8", "nyc", "cross-env",
    "npm", "pnpm", "yarn", "tsc", "eslint", "biome", "prettier", "turbo", "lerna", "nx", "grunt", "gulp", "bun", "wireit",
    "xo", "tsd", "jasmine", "qunit", "ng", "react-scripts", "vue-cli-service", "next", "web-test-runner", "wtr", "uvu",
    "tape", "npx", "run-s", "run-p", "npm-run-all",
}  # fmt: skip
"""What a script of package.json may start: runners of tests, and what leads to them."""
Line = tuple[str, str, str]
"""A command line, the folder it is run in, and where it stands."""


def made(configuration: Configuration, name: str = "") -> Iterator[Line]:
    """Recipe of a target, with its variables where they are plain words."""
    for path in ("Makefile", "GNUmakefile", "makefile"):
        text = configuration.text(path)
        for target in [name] if name else TARGETS:
            variables = {match[1]: match[2] for match in VARIABLE.finditer(text)}
            for line in joined(recipe(text, target, "\t")):
                yield expanded(line, variables), "", f"{path}: {target}"


def just(configuration: Configuration, name: str = "") -> Iterator[Line]:
    for path in ("justfile", "Justfile"):
        for target in [name] if name else TARGETS:
            for line in joined(recipe(configuration.text(path), target, (" ", "\t"))):
                yield line, "", f"{path}: {target}"


def recipe(text: str, target: str, indent: str | tuple[str, ...]) -> list[str]:
    found, inside = list[str](), False
    for line in text.split("\n"):
        if inside and (line.startswith(indent) or not line.strip()):
            found.append(line)
        else:
            inside = bool(re.match(rf"{re.escape(target)}(?:\s+[\w.-]+)*\s*:(?!=)", line))
    return found


def expanded(line: str, variables: dict[str, str]) -> str:
    """Variables of variables too, but not for ever."""
    for _ in range(4):
        line = USED.sub(lambda match: variables.get(match[1], match[0]), line)
    return line


def tox(configuration: Configuration, name: str = "") -> Iterator[Line]:
    """Commands of the environments that tests are run in; tox itself would install packages first."""
    for path, section in (("tox.ini", "testenv"), ("setup.cfg", "tox:testenv")):
        sections = ini(configuration.text(path))
        for one in (f"{section}:{name}", section) if name else (section, f"{section}:test", f"{section}:tests", f"{section}:py"):
            held = sections.get(one, {})
            folder = inside(held.get("changedir", held.get("change_dir", "")))
            for line in joined(held.get("commands", "").split("\n")):
                yield substituted(line.removeprefix("-").strip()), folder, f"{path} [{one}]"
    for path, held in (
        ("tox.toml", toml(configuration.text("tox.toml"))),
        ("pyproject.toml", table(configuration.project, "tool", "tox")),
    ):
        yield from tox_tables(path, held)
    legacy = table(configuration.project, "tool", "tox").get("legacy_tox_ini")
    for line in joined(ini(legacy).get("testenv", {}).get("commands", "").split("\n") if isinstance(legacy, str) else []):
        yield substituted(line), "", "pyproject.toml [tool.tox]"


def tox_tables(path: str, held: dict) -> Iterator[Line]:
    for place in (table(held, "env_run_base"), *(table(held, "env", name) for name in ("test", "tests"))):
        commands = place.get("commands")
        for words in commands if isinstance(commands, list) else []:
            if isinstance(words, list):
                plain = [substituted(word) for word in words if isinstance(word, str)]
                yield " ".join(word for word in plain if not word.startswith("--basetemp")), "", f"{path} [tox]"


def substituted(line: str) -> str:
    """What tox would put in, where that does not depend on its environments."""
    line = POSARGS.sub(lambda match: match[1] or "", line)
    line = re.sub(r"--basetemp[= ]\S+", "", line)
    for name, value in TOX.items():
        line = line.replace(name, value)
    return line.strip()


def inside(folder: str) -> str:
    return substituted(folder).removeprefix("./").strip("./ ") if folder else ""


def nox(configuration: Configuration) -> Iterator[Line]:
    """`session.run` with plain words, in functions named after tests."""
    try:
        tree = ast.parse(configuration.text("noxfile.py"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and re.search(r"test|unit|pytest", function.name):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
                    words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                    yield " ".join(words), "", f"noxfile.py: {function.name}"


def tasks(configuration: Configuration) -> Iterator[Line]:
    """Of hatch, pdm, poe and taskipy, in pyproject.toml."""
    tool = table(configuration.project, "tool")
    environments = table(tool, "hatch", "envs")
    places = [table(environments, name, "scripts") for name in environments]
    places += [table(tool, "pdm", "scripts"), table(tool, "poe", "tasks"), table(tool, "taskipy", "tasks")]
    for place in places:
        for name in TARGETS:
            held = place.get(name)
            held = held.get("cmd") if isinstance(held, dict) else held
            for line in texts(held):
                yield re.sub(r"\{args(?::([^{}]*))?\}", lambda match: match[1] or "", line), "", f"pyproject.toml: {name}"


def script(configuration: Configuration, name: str) -> str:
    """The command that runs a script of package.json, if all that the script starts is known. Refused otherwise."""
    held = json(configuration.text("package.json"))
    said = table(held, "scripts").get(name)
    if not isinstance(said, str):
        return ""
    parts = said.split("&&")
    for part in parts:
        words = [word for word in plain_words(part) if not re.fullmatch(r"\w+=[\w.,:/-]*", word)]
        if not words or words[0].rpartition("/")[2] not in SCRIPTED:
            raise Refused(f"the script starts {(words or ['nothing'])[0][:40]!r}")
        if words[0] in ("npx", "cross-env") and not {*words[1:]} & SCRIPTED:
            raise Refused("the script starts what is not known")
    manager = packager(configuration, held)
    return f"{manager} {name}" if name == "test" else f"{manager} run {name}"


def packager(configuration: Configuration, held: dict) -> str:
    named = held.get("packageManager")
    if isinstance(named, str) and (match := re.match(r"npm|pnpm|yarn|bun", named)):
        return match[0]
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}
    return next((manager for lock, manager in locks.items() if lock in configuration.paths), "npm")


def scripts_of_tests(configuration: Configuration) -> Sequence[str]:
    names = table(json(configuration.text("package.json")), "scripts")
    return [name for name in ("test", "test:unit", "tests") if name in names]
