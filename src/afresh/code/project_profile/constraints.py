"""What the project's files require of a change: linters with their rules, limits, hooks, and the settings of pytest."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.complexity_settings import list_complexity_limits, list_flake8_sections, list_ruff_tables
from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_ini, parse_json, parse_toml
from afresh.core.truncate import join_first

LINTER_PATTERNS = {
    "ruff": r"\bruff\b", "black": r"\bblack\b(?!en)", "isort": r"\bisort\b", "flake8": r"\bflake8\b",
    "pylint": r"\bpylint\b", "mypy": r"\bmypy\b", "pyright": r"\b(?:based)?pyright\b", "bandit": r"\bbandit\b",
    "import-linter": r"\blint-imports\b|\bimport-?linter\b", "pre-commit": r"\bpre-commit run\b",
    "golangci-lint": r"\bgolangci(?:-lint)?\b", "go vet": r"\bgo vet\b", "gofmt": r"\bgofmt\b", "clippy": r"\bclippy\b",
    "rustfmt": r"\bcargo fmt\b|\brustfmt\b", "eslint": r"\beslint\b", "prettier": r"\bprettier\b", "biome": r"\bbiome\b",
    "tsc": r"\btsc\b", "checkstyle": r"\bcheckstyle\b", "spotless": r"\bspotless\b", "dotnet format": r"\bdotnet format\b",
}  # fmt: skip
LINTER_PROGRAMS = {
    "import-linter": "lint-imports", "go vet": "go", "clippy": "cargo-clippy", "dotnet format": "dotnet", "spotless": "gradle",
}  # fmt: skip
"""The program of a linter that is not named after it."""
LINTER_FILES = {
    "flake8": ".flake8", "mypy": "mypy.ini .mypy.ini", "pyright": "pyrightconfig.json", "biome": "biome.json biome.jsonc",
    "golangci-lint": ".golangci.yml .golangci.yaml", "rustfmt": "rustfmt.toml .rustfmt.toml",
}  # fmt: skip
HOOK_ID = re.compile(r"^[^\S\n]*+-[^\S\n]++(?:.*\bid:|id:)\s*['\"]?([\w.-]+)", re.MULTILINE)
MAX_HOOKS = 8
MAX_RULES = 14


def find_pytest_settings(configuration: ProjectConfiguration) -> str:
    """Return the file that configures pytest, by pytest's own order, with the section."""
    places = [(path, "pytest") for path in ("pytest.ini", ".pytest.ini", "tox.ini")]
    if "pytest.ini" not in configuration.texts and get_table(configuration.project, "tool", "pytest"):
        return "pyproject.toml [tool.pytest]"
    texts = (
        f"{path} [{name}]"
        for path, name in [*places, ("setup.cfg", "tool:pytest")]
        if name in parse_ini(configuration.text(path))
    )
    return next(texts, "")


def find_hooks(configuration: ProjectConfiguration) -> Sequence[str]:
    """Return the hooks of pre-commit by their id."""
    text = configuration.text(".pre-commit-config.yml") or configuration.text(".pre-commit-config.yaml")
    return list(dict.fromkeys(HOOK_ID.findall(text)))[:MAX_HOOKS]


def find_linters(configuration: ProjectConfiguration) -> Iterator[str]:
    """Yield linters that are configured, or run by CI, a recipe or a hook, each with its rules if given."""
    lines = "\n".join(list_command_lines(configuration))
    hooks = {re.sub(r"-(?:check|format)$", "", hook) for hook in find_hooks(configuration)}
    tools = {*get_table(configuration.project, "tool"), *hooks}
    tools |= {
        name for name in ("eslint", "prettier") for path in configuration.texts if re.match(rf"\.?{name}(?:rc|\.config)", path)
    }
    for name, pattern in LINTER_PATTERNS.items():
        details = LINTER_DETAILS[name](configuration) if name in LINTER_DETAILS else ""
        files = LINTER_FILES.get(name, "").split()
        if details or name in tools or re.search(pattern, lines) or any(path in configuration.texts for path in files):
            yield f"{name} ({details})" if details else name


def list_command_lines(configuration: ProjectConfiguration) -> Iterator[str]:
    """Yield the lines of CI files, and what tox, make and the scripts of package.json run."""
    for path in (*configuration.automated(), "Makefile", "GNUmakefile", "makefile"):
        yield from (line for line in configuration.text(path).split("\n") if line[:1] in ("\t", " ") and line.strip()[:1] != "#")
    yield str(get_table(configuration.project, "tool", "tox"))
    yield from (section.get("commands", "") for section in parse_ini(configuration.text("tox.ini")).values())
    yield from map(str, get_table(parse_json(configuration.text("package.json")), "scripts").values())


def list_ruff_rules(configuration: ProjectConfiguration) -> list[str]:
    tables = list_ruff_tables(configuration)
    return [rule for table in tables for key in ("select", "extend-select") for rule in list_texts(table.get(key))]


def describe_mypy_mode(configuration: ProjectConfiguration) -> str:
    lines = [parse_ini(configuration.text(path)).get("mypy", {}).get("strict", "") for path in ("setup.cfg", "mypy.ini")]
    strict = get_table(configuration.project, "tool", "mypy").get("strict") is True or "true" in map(str.lower, lines)
    return "strict" if strict else ""


def describe_pyright_mode(configuration: ProjectConfiguration) -> str:
    table = get_table(configuration.project, "tool", "pyright") or parse_json(configuration.text("pyrightconfig.json"))
    places = list_texts(table.get("strict"))
    mode = table.get("typeCheckingMode")
    return mode if isinstance(mode, str) else f"strict in {len(places)} places" if places else ""


LINTER_DETAILS: Mapping[str, Callable[[ProjectConfiguration], str]] = {
    "ruff": lambda configuration: join_first(list_ruff_rules(configuration), MAX_RULES, " "),
    "mypy": describe_mypy_mode,
    "pyright": describe_pyright_mode,
}


def read_limits(configuration: ProjectConfiguration) -> Iterator[str]:
    """Yield the numeric limits that linters enforce."""
    if length := read_line_length(configuration):
        yield f"lines up to {length}"
    is_on = {"C", "C9", "C90", "C901", "ALL"} & {*list_ruff_rules(configuration)}
    if complexity := max(list_complexity_limits(configuration), default=MAX_COMPLEXITY if is_on else 0):
        yield f"complexity up to {complexity}"
    limits = {key: value for table in list_ruff_tables(configuration) for key, value in get_table(table, "pylint").items()}
    for name in ("args", "statements", "branches", "returns"):
        if isinstance(number := limits.get(f"max-{name}"), int):
            yield f"at most {number} {'arguments' if name == 'args' else name}"


def read_line_length(configuration: ProjectConfiguration) -> int | None:
    """Return the line length of the first tool that sets one."""
    ruff, _ = list_ruff_tables(configuration)
    flake = next((text for section in list_flake8_sections(configuration) if (text := section.get("max-line-length"))), "")
    rust = parse_toml(configuration.text("rustfmt.toml") or configuration.text(".rustfmt.toml"))
    biome = parse_json(configuration.text("biome.json") or configuration.text("biome.jsonc"))
    prettier = parse_json(configuration.text(".prettierrc") or configuration.text(".prettierrc.json"))
    editor = re.search(r"^max_line_length\s*=\s*(\d+)", configuration.text(".editorconfig"), re.MULTILINE)
    black = get_table(configuration.project, "tool").get("black")
    lengths = [
        ruff.get("line-length"),
        get_table(black).get("line-length"),
        int(match[0]) if (match := re.search(r"\d+", flake)) else None,
        rust.get("max_width"),
        get_table(biome, "formatter").get("lineWidth"),
        prettier.get("printWidth"),
        editor and int(editor[1]),
        88 if isinstance(black, dict) else None,
    ]
    return next(
        (length for length in lengths if isinstance(length, int) and not isinstance(length, bool) and 40 <= length <= 1000), None
    )
