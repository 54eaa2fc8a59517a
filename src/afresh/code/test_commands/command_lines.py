"""Reads the named commands that run a project's tests: make, just, tox, nox, package scripts. Nothing is run."""

import ast
import re
from collections.abc import Iterator, Sequence

from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_ini, parse_json, parse_toml
from afresh.code.test_commands.parse_command import RejectedCommand, split_plain_words

COMMAND_KEY = re.compile(
    r"^( *)(- +)?(run|script|command|bash|working-directory|workingDirectory)\s*:(?:\s++((?:\S++|\s++(?!\Z))*+))?\s*$"
)
BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?(?:\s+#.*)?")
LIST_ITEM = re.compile(r"^( *)- ++((?:\S++|\s++(?!\Z))*+)\s*$")
MAX_COMMAND_LINES = 400
"""Command lines of one file."""
LineInFolder = tuple[str, str]
"""A line, and the folder that it is run in."""


def read_ci_lines(path: str, text: str) -> Sequence[LineInFolder]:
    """Return the lines of a shell script, or of the steps in a YAML file."""
    if not path.endswith((".yml", ".yaml")):
        return [(line, "") for line in join_continued_lines(text.split("\n"))][:MAX_COMMAND_LINES]
    return list(_read_yaml_steps([line.rstrip() for line in text.split("\n")]))[:MAX_COMMAND_LINES]


def join_continued_lines(lines: Sequence[str]) -> list[str]:
    """Join lines that end with a backslash, and drop comments and blank lines."""
    found, held = list[str](), ""
    for line in lines:
        if line.rstrip().endswith("\\"):
            held += line.strip().removesuffix("\\") + " "
            continue
        whole, held = (held + line.strip()).strip(), ""
        if whole and not whole.startswith("#"):
            found.append(whole)
    return found


def _read_yaml_steps(lines: Sequence[str]) -> Iterator[LineInFolder]:
    folders = {_find_step_start(lines, at): match[4] or "" for at, match in _find_keys(lines) if match[3].startswith("working")}
    for at, match in _find_keys(lines):
        if not match[3].startswith("working"):
            column = len(match[1]) + len(match[2] or "")
            for line in join_continued_lines(_read_key_value(lines, at, column, match[4] or "")):
                yield line, strip_quotes(folders.get(_find_step_start(lines, at), ""))


def _find_keys(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    return ((at, match) for at, line in enumerate(lines) if (match := COMMAND_KEY.match(line)))


def _find_step_start(lines: Sequence[str], at: int) -> int:
    """Return where the list item begins that this key belongs to."""
    match = COMMAND_KEY.match(lines[at])
    column = len(match[1]) + len(match[2] or "") if match else 0
    for before in range(at, -1, -1):
        item = LIST_ITEM.match(lines[before])
        if item and len(item[1]) < column:
            return before
        if lines[before].strip() and len(lines[before]) - len(lines[before].lstrip()) < column - 2:
            return at
    return at


def _read_key_value(lines: Sequence[str], at: int, column: int, said: str) -> list[str]:
    if said and not BLOCK_SCALAR.fullmatch(said):
        return [strip_quotes(said)]
    below = list[str]()
    for line in lines[at + 1 :]:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= column and not (not said and indent == column and line.lstrip().startswith("- ")):
            break
        below.append(line)
    if said.startswith(">"):
        return [" ".join(line.strip() for line in below)]
    return below if said else [strip_quotes(match[2]) for line in below if (match := LIST_ITEM.match(line))]


def strip_quotes(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


TEST_TARGETS = ("test", "tests", "check", "unit", "unittest", "pytest")
MAKE_VARIABLE = re.compile(r"^(?:export\s+)?(\w+)[^\S\n]*+[:?]?=[^\S\n]*+((?:\S++|[^\S\n]++(?!$))*+)[^\S\n]*$", re.MULTILINE)
MAKE_VARIABLE_USE = re.compile(r"\$[({](\w+)[)}]")
TOX_SUBSTITUTIONS = {"{envpython}": "python", "{env_python}": "python", "{toxinidir}": ".", "{tox_root}": ".", "{/}": "/"}
TOX_POSARGS = re.compile(r"\{posargs(?::([^{}]*))?\}")
KNOWN_SCRIPT_PROGRAMS = {
    "vitest", "jest", "mocha", "ava", "tap", "node", "tsx", "ts-node", "karma", "playwright", "c8", "nyc", "cross-env",
    "npm", "pnpm", "yarn", "tsc", "eslint", "biome", "prettier", "turbo", "lerna", "nx", "grunt", "gulp", "bun", "wireit",
    "xo", "tsd", "jasmine", "qunit", "ng", "react-scripts", "vue-cli-service", "next", "web-test-runner", "wtr", "uvu",
    "tape", "npx", "run-s", "run-p", "npm-run-all",
}  # fmt: skip
"""Programs that a script of package.json may start: test runners, and what starts them."""
SourcedLine = tuple[str, str, str]
"""A command line, the folder it is run in, and where it was found."""


def read_make_lines(configuration: ProjectConfiguration, name: str = "") -> Iterator[SourcedLine]:
    """Yield the recipe of a target, with its variables expanded where they are plain words."""
    for path in ("Makefile", "GNUmakefile", "makefile"):
        text = configuration.text(path)
        for target in [name] if name else TEST_TARGETS:
            variables = {match[1]: match[2].strip() for match in MAKE_VARIABLE.finditer(text)}
            for line in join_continued_lines(read_recipe(text, target, "\t")):
                yield expand_variables(line, variables), "", f"{path}: {target}"


def list_make_targets(configuration: ProjectConfiguration) -> Sequence[tuple[str, str]]:
    """Return the targets of the makefile that are named after tests, each with its recipe."""
    text = next(filter(None, map(configuration.text, ("Makefile", "GNUmakefile", "makefile"))), "")
    recipes = ((target, "\n".join(read_recipe(text, target, "\t"))) for target in TEST_TARGETS)
    return [(target, recipe) for target, recipe in recipes if recipe.strip() and not calls_itself(target, recipe)]


def calls_itself(target: str, recipe: str) -> bool:
    return bool(re.search(rf"(?:\bmake|\$[({{]MAKE[)}}])\s+{re.escape(target)}\b", recipe))


def read_just_lines(configuration: ProjectConfiguration, name: str = "") -> Iterator[SourcedLine]:
    for path in ("justfile", "Justfile"):
        for target in [name] if name else TEST_TARGETS:
            for line in join_continued_lines(read_recipe(configuration.text(path), target, (" ", "\t"))):
                yield line, "", f"{path}: {target}"


def read_recipe(text: str, target: str, indent: str | tuple[str, ...]) -> list[str]:
    found, inside = list[str](), False
    for line in text.split("\n"):
        if inside and (line.startswith(indent) or not line.strip()):
            found.append(line)
        else:
            inside = bool(re.match(rf"{re.escape(target)}(?:\s+[\w.-]+)*\s*:(?!=)", line))
    return found


def expand_variables(line: str, variables: dict[str, str]) -> str:
    """Expand variables, also nested ones up to a limit."""
    for _ in range(4):
        line = MAKE_VARIABLE_USE.sub(lambda match: variables.get(match[1], match[0]), line)
    return line


def read_tox_lines(configuration: ProjectConfiguration, name: str = "") -> Iterator[SourcedLine]:
    """Yield the commands of the test environments; tox itself would install packages first."""
    for path, section in (("tox.ini", "testenv"), ("setup.cfg", "tox:testenv")):
        sections = parse_ini(configuration.text(path))
        for one in (f"{section}:{name}", section) if name else (section, f"{section}:test", f"{section}:tests", f"{section}:py"):
            held = sections.get(one, {})
            folder = normalise_folder(held.get("changedir", held.get("change_dir", "")))
            for line in join_continued_lines(held.get("commands", "").split("\n")):
                yield substitute_tox_values(line.removeprefix("-").strip()), folder, f"{path} [{one}]"
    for path, held in (
        ("tox.toml", parse_toml(configuration.text("tox.toml"))),
        ("pyproject.toml", get_table(configuration.project, "tool", "tox")),
    ):
        yield from read_tox_tables(path, held)
    legacy = get_table(configuration.project, "tool", "tox").get("legacy_tox_ini")
    for line in join_continued_lines(
        parse_ini(legacy).get("testenv", {}).get("commands", "").split("\n") if isinstance(legacy, str) else []
    ):
        yield substitute_tox_values(line), "", "pyproject.toml [tool.tox]"


def read_tox_tables(path: str, held: dict) -> Iterator[SourcedLine]:
    for place in (get_table(held, "env_run_base"), *(get_table(held, "env", name) for name in ("test", "tests"))):
        commands = place.get("commands")
        for words in commands if isinstance(commands, list) else []:
            if isinstance(words, list):
                plain = [substitute_tox_values(word) for word in words if isinstance(word, str)]
                yield " ".join(word for word in plain if not word.startswith("--basetemp")), "", f"{path} [tox]"


def substitute_tox_values(line: str) -> str:
    """Replace what tox would substitute, where that does not depend on its environments."""
    line = TOX_POSARGS.sub(lambda match: match[1] or "", line)
    line = re.sub(r"--basetemp[= ]\S+", "", line)
    for name, value in TOX_SUBSTITUTIONS.items():
        line = line.replace(name, value)
    return line.strip()


def normalise_folder(folder: str) -> str:
    return substitute_tox_values(folder).removeprefix("./").strip("./ ") if folder else ""


def read_nox_lines(configuration: ProjectConfiguration) -> Iterator[SourcedLine]:
    """Yield each `session.run` with plain words in functions named after tests."""
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


def read_pyproject_tasks(configuration: ProjectConfiguration) -> Iterator[SourcedLine]:
    """Yield the tasks of hatch, pdm, poe and taskipy in pyproject.toml."""
    tool = get_table(configuration.project, "tool")
    environments = get_table(tool, "hatch", "envs")
    places = [get_table(environments, name, "scripts") for name in environments]
    places += [get_table(tool, "pdm", "scripts"), get_table(tool, "poe", "tasks"), get_table(tool, "taskipy", "tasks")]
    for place in places:
        for name in TEST_TARGETS:
            held = place.get(name)
            held = held.get("cmd") if isinstance(held, dict) else held
            for line in list_texts(held):
                yield re.sub(r"\{args(?::([^{}]*))?\}", lambda match: match[1] or "", line), "", f"pyproject.toml: {name}"


def make_script_command(configuration: ProjectConfiguration, name: str) -> str:
    """Return the command that runs a script of package.json. Raises RejectedCommand unless everything that the script starts is
    known.
    """
    held = parse_json(configuration.text("package.json"))
    said = get_table(held, "scripts").get(name)
    if not isinstance(said, str):
        return ""
    parts = said.split("&&")
    for part in parts:
        words = [word for word in split_plain_words(part) if not re.fullmatch(r"\w+=[\w.,:/-]*", word)]
        if not words or words[0].rpartition("/")[2] not in KNOWN_SCRIPT_PROGRAMS:
            raise RejectedCommand(f"the script starts {(words or ['nothing'])[0][:40]!r}")
        if words[0] in ("npx", "cross-env") and not {*words[1:]} & KNOWN_SCRIPT_PROGRAMS:
            raise RejectedCommand("the script starts what is not known")
    manager = find_package_manager(configuration, held)
    return f"{manager} {name}" if name == "test" else f"{manager} run {name}"


def find_package_manager(configuration: ProjectConfiguration, held: dict) -> str:
    named = held.get("packageManager")
    if isinstance(named, str) and (match := re.match(r"npm|pnpm|yarn|bun", named)):
        return match[0]
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}
    return next((manager for lock, manager in locks.items() if lock in configuration.paths), "npm")


def list_script_names(configuration: ProjectConfiguration) -> Sequence[str]:
    names = get_table(parse_json(configuration.text("package.json")), "scripts")
    return [name for name in ("test", "test:unit", "tests") if name in names]


RUNNERS_OF_PACKAGES = {"vitest": "npx vitest run", "jest": "npx jest", "mocha": "npx mocha", "tap": "npx tap"}
"""For a project whose package manager is not installed, or whose script does more than run tests."""


def list_runner_commands(configuration: ProjectConfiguration) -> Sequence[str]:
    held = parse_json(configuration.text("package.json"))
    return [command for name, command in RUNNERS_OF_PACKAGES.items() if name in get_table(held, "devDependencies")]
