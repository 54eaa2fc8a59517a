"""What the project's files require of a change: versions, linter rules, limits, hooks."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_ini, parse_json, parse_toml
from afresh.code.project_profile.traits import ProjectConstraints
from afresh.code.test_commands import command_lines
from afresh.code.test_commands.command_lines import read_ci_lines
from afresh.core.truncate import join_first

LINTER_PATTERNS = {
    "ruff": r"\bruff (?:check|format)|\bruff\b", "black": r"\bblack\b(?!en)", "isort": r"\bisort\b", "flake8": r"\bflake8\b",
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
HOOK_ID = re.compile(r"^[^\S\n]*+-[^\S\n]++(?:.*\bid:|id:)\s*['\"]?([\w.-]+)", re.MULTILINE)
DIGITS = re.compile(r"\d+")
MAX_HOOKS = 8


def read_constraints(configuration: ProjectConfiguration) -> ProjectConstraints:
    return ProjectConstraints(
        versions=tuple(read_versions(configuration)),
        linters=tuple(find_linters(configuration)),
        limits=tuple(read_limits(configuration)),
        hooks=tuple(dict.fromkeys(HOOK_ID.findall(configuration.text(find_hooks_file(configuration)))))[:MAX_HOOKS],
        test_configuration=find_test_configuration(configuration),
    )


def find_test_configuration(configuration: ProjectConfiguration) -> str:
    """Return the file from which pytest takes its settings, by pytest's own order; empty if there is none."""
    if "pytest.ini" in configuration.texts:
        return "pytest.ini"
    if get_table(configuration.project, "tool", "pytest"):
        return "pyproject.toml"
    places = (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
    return next((path for path, section in places if section in parse_ini(configuration.text(path))), "")


def find_hooks_file(configuration: ProjectConfiguration) -> str:
    return ".pre-commit-config.yml" if ".pre-commit-config.yml" in configuration.texts else ".pre-commit-config.yaml"


def read_versions(configuration: ProjectConfiguration) -> Iterator[str]:
    """Yield the minimum or only versions that must work."""
    said = get_table(configuration.project, "project").get("requires-python")
    said = said or get_table(configuration.project, "tool", "poetry", "dependencies").get("python")
    said = said or parse_ini(configuration.text("setup.cfg")).get("options", {}).get("python_requires")
    if isinstance(said, str):
        yield f"Python {said}"
    if match := re.search(r"^go\s+([\d.]+)", configuration.text("go.mod"), re.MULTILINE):
        yield f"Go {match[1]}"
    package = get_table(parse_toml(configuration.text("Cargo.toml")), "package")
    shared = get_table(parse_toml(configuration.text("Cargo.toml")), "workspace", "package")
    for name, word in (("rust-version", "Rust"), ("edition", "edition")):
        said = package.get(name) if isinstance(package.get(name), str) else shared.get(name)
        if isinstance(said, str):
            yield f"{word} {said}"
    node = get_table(parse_json(configuration.text("package.json")), "engines").get("node")
    if isinstance(node, str):
        yield f"Node {node}"
    frameworks = [
        re.findall(r"<TargetFrameworks?>([\w.;]+)<", text) for path, text in configuration.texts.items() if path.endswith("proj")
    ]
    yield from [f".NET {name}" for name in sorted({name for found in frameworks for name in found})[:2]]


def find_linters(configuration: ProjectConfiguration) -> Iterator[str]:
    """Yield linters that are configured, or run by CI, a recipe or a hook, each with its rules if given."""
    lines = "\n".join(line for path in configuration.automated() for line, _ in read_ci_lines(path, configuration.text(path)))
    lines += "\n".join(
        line for found in (command_lines.read_tox_lines, command_lines.read_nox_lines) for line, _, _ in found(configuration)
    )
    lines += "\n".join(read_recipe_lines(configuration))
    lines += "\n".join(str(said) for said in get_table(parse_json(configuration.text("package.json")), "scripts").values())
    hooks = configuration.text(find_hooks_file(configuration))
    tools = set(get_table(configuration.project, "tool"))
    for name, pattern in LINTER_PATTERNS.items():
        details = LINTER_DETAILS[name](configuration) if name in LINTER_DETAILS else ""
        if (
            details
            or name in tools
            or re.search(pattern, lines)
            or re.search(rf"\bid:\s*{re.escape(name)}\b", hooks)
            or has_linter_file(configuration, name)
        ):
            yield f"{name} ({details})" if details else name


def read_recipe_lines(configuration: ProjectConfiguration) -> Iterator[str]:
    for path in ("Makefile", "GNUmakefile", "makefile", "justfile", "Justfile"):
        yield from (line.strip() for line in configuration.text(path).split("\n") if line[:1] in ("\t", " "))
    sections = parse_ini(configuration.text("tox.ini"))
    yield from (held.get("commands", "") for name, held in sections.items() if name.startswith("testenv"))
    environments = get_table(configuration.project, "tool", "tox", "env")
    yield from (str(get_table(environments, name).get("commands", "")) for name in environments)


def has_linter_file(configuration: ProjectConfiguration, name: str) -> bool:
    names = {
        "flake8": (".flake8",), "mypy": ("mypy.ini", ".mypy.ini"), "pyright": ("pyrightconfig.json",),
        "biome": ("biome.json", "biome.jsonc"), "golangci-lint": (".golangci.yml", ".golangci.yaml"),
        "rustfmt": ("rustfmt.toml", ".rustfmt.toml"),
    }  # fmt: skip
    begun = {"eslint": (".eslintrc", "eslint.config."), "prettier": (".prettierrc",)}.get(name, ())
    return any(path in configuration.texts for path in names.get(name, ())) or any(
        path.startswith(begun) for path in configuration.texts if begun
    )


def read_ruff_settings(configuration: ProjectConfiguration) -> Mapping[str, Any]:
    for name in (".ruff.toml", "ruff.toml"):
        if held := parse_toml(configuration.text(name)):
            return held
    return get_table(configuration.project, "tool", "ruff")


def describe_ruff_rules(configuration: ProjectConfiguration) -> str:
    held = read_ruff_settings(configuration)
    lint = get_table(held, "lint") or held
    rules = [*list_texts(lint.get("select")), *list_texts(lint.get("extend-select"))]
    return join_first(rules, 14, " ")


def describe_mypy_mode(configuration: ProjectConfiguration) -> str:
    held = get_table(configuration.project, "tool", "mypy")
    said = {
        **parse_ini(configuration.text("setup.cfg")).get("mypy", {}),
        **parse_ini(configuration.text("mypy.ini")).get("mypy", {}),
    }
    return "strict" if held.get("strict") is True or said.get("strict", "").lower() == "true" else ""


def describe_pyright_mode(configuration: ProjectConfiguration) -> str:
    held = get_table(configuration.project, "tool", "pyright") or parse_json(configuration.text("pyrightconfig.json"))
    mode = held.get("typeCheckingMode")
    if isinstance(mode, str):
        return mode
    return f"strict in {len(strict)} places" if (strict := list_texts(held.get("strict"))) else ""


LINTER_DETAILS = {"ruff": describe_ruff_rules, "mypy": describe_mypy_mode, "pyright": describe_pyright_mode}


def read_limits(configuration: ProjectConfiguration) -> Iterator[str]:
    """Yield the numeric limits that linters enforce."""
    if length := read_line_length(configuration):
        yield f"lines up to {length}"
    held = read_ruff_settings(configuration)
    lint = get_table(held, "lint") or held
    flake = read_flake8_settings(configuration)
    complexity = get_table(lint, "mccabe").get("max-complexity") or DIGITS.search(flake.get("max-complexity", ""))
    rules = [*list_texts(lint.get("select")), *list_texts(lint.get("extend-select"))]
    if isinstance(complexity, re.Match):
        yield f"complexity up to {complexity[0]}"
    elif isinstance(complexity, int) or any(rule in ("C", "C9", "C90", "C901", "ALL") for rule in rules):
        yield f"complexity up to {complexity or 10}"
    for name, word in (
        ("max-args", "arguments"),
        ("max-statements", "statements"),
        ("max-branches", "branches"),
        ("max-returns", "returns"),
    ):
        if isinstance(number := get_table(lint, "pylint").get(name), int):
            yield f"at most {number} {word}"


def read_flake8_settings(configuration: ProjectConfiguration) -> Mapping[str, str]:
    for path in (".flake8", "setup.cfg", "tox.ini"):
        if held := parse_ini(configuration.text(path)).get("flake8"):
            return held
    return {}


def read_line_length(configuration: ProjectConfiguration) -> str:
    """Return the line length of the first tool that sets one."""
    ruff_says, black = (
        read_ruff_settings(configuration).get("line-length"),
        get_table(configuration.project, "tool", "black").get("line-length"),
    )
    flake = DIGITS.search(read_flake8_settings(configuration).get("max-line-length", ""))
    rust = parse_toml(configuration.text("rustfmt.toml") or configuration.text(".rustfmt.toml")).get("max_width")
    biome = get_table(parse_json(configuration.text("biome.json") or configuration.text("biome.jsonc")), "formatter").get(
        "lineWidth"
    )
    prettier = parse_json(configuration.text(".prettierrc") or configuration.text(".prettierrc.json")).get("printWidth")
    editor = re.search(r"^max_line_length\s*=\s*(\d+)", configuration.text(".editorconfig"), re.MULTILINE)
    for said in (ruff_says, black, flake and int(flake[0]), rust, biome, prettier, editor and int(editor[1])):
        if isinstance(said, int) and not isinstance(said, bool) and 40 <= said <= 1000:
            return str(said)
    if "black" in get_table(configuration.project, "tool"):
        return "88"
    return ""
