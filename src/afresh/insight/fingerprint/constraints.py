"""What the project demands of a change: versions, rules of linters, limits, hooks. Only what its files say."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from afresh.insight.commands import recipes
from afresh.insight.commands.automation import spoken
from afresh.insight.configuration import Configuration, ini, json, table, texts, toml
from afresh.insight.fingerprint.facts import Constraints

TOOLS = {
    "ruff": r"\bruff (?:check|format)|\bruff\b", "black": r"\bblack\b(?!en)", "isort": r"\bisort\b", "flake8": r"\bflake8\b",
    "pylint": r"\bpylint\b", "mypy": r"\bmypy\b", "pyright": r"\b(?:based)?pyright\b", "bandit": r"\bbandit\b",
    "import-linter": r"\blint-imports\b|\bimport-?linter\b", "pre-commit": r"\bpre-commit run\b",
    "golangci-lint": r"\bgolangci(?:-lint)?\b", "go vet": r"\bgo vet\b", "gofmt": r"\bgofmt\b", "clippy": r"\bclippy\b",
    "rustfmt": r"\bcargo fmt\b|\brustfmt\b", "eslint": r"\beslint\b", "prettier": r"\bprettier\b", "biome": r"\bbiome\b",
    "tsc": r"\btsc\b", "checkstyle": r"\bcheckstyle\b", "spotless": r"\bspotless\b", "dotnet format": r"\bdotnet format\b",
}  # fmt: skip
HOOK = re.compile(r"^\s*-\s+(?:.*\bid:|id:)\s*['\"]?([\w.-]+)", re.MULTILINE)
NUMBER = re.compile(r"\d+")
MOST = 8


def constraints(configuration: Configuration) -> Constraints:
    return Constraints(
        versions=tuple(versions(configuration)),
        linters=tuple(linters(configuration)),
        limits=tuple(limits(configuration)),
        hooks=tuple(dict.fromkeys(HOOK.findall(configuration.text(hooks_file(configuration)))))[:MOST],
    )


def hooks_file(configuration: Configuration) -> str:
    return ".pre-commit-config.yml" if ".pre-commit-config.yml" in configuration.texts else ".pre-commit-config.yaml"


def versions(configuration: Configuration) -> Iterator[str]:
    """The oldest or the only ones that must do."""
    said = table(configuration.project, "project").get("requires-python")
    said = said or table(configuration.project, "tool", "poetry", "dependencies").get("python")
    said = said or ini(configuration.text("setup.cfg")).get("options", {}).get("python_requires")
    if isinstance(said, str):
        yield f"Python {said}"
    if match := re.search(r"^go\s+([\d.]+)", configuration.text("go.mod"), re.MULTILINE):
        yield f"Go {match[1]}"
    package = table(toml(configuration.text("Cargo.toml")), "package")
    shared = table(toml(configuration.text("Cargo.toml")), "workspace", "package")
    for name, word in (("rust-version", "Rust"), ("edition", "edition")):
        said = package.get(name) if isinstance(package.get(name), str) else shared.get(name)
        if isinstance(said, str):
            yield f"{word} {said}"
    node = table(json(configuration.text("package.json")), "engines").get("node")
    if isinstance(node, str):
        yield f"Node {node}"
    frameworks = [
        re.findall(r"<TargetFrameworks?>([\w.;]+)<", text) for path, text in configuration.texts.items() if path.endswith("proj")
    ]
    yield from [f".NET {name}" for name in sorted({name for found in frameworks for name in found})[:2]]


def linters(configuration: Configuration) -> Iterator[str]:
    """Tools that are configured, or run by a server, a recipe or a hook; each with its rules where they are told."""
    lines = "\n".join(line for path in configuration.automated() for line, _ in spoken(path, configuration.text(path)))
    lines += "\n".join(line for found in (recipes.tox, recipes.nox) for line, _, _ in found(configuration))
    lines += "\n".join(recipe_lines(configuration))
    lines += "\n".join(str(said) for said in table(json(configuration.text("package.json")), "scripts").values())
    hooks = configuration.text(hooks_file(configuration))
    tools = set(table(configuration.project, "tool"))
    for name, pattern in TOOLS.items():
        details = DETAILS[name](configuration) if name in DETAILS else ""
        if (
            details
            or name in tools
            or re.search(pattern, lines)
            or re.search(rf"\bid:\s*{re.escape(name)}\b", hooks)
            or own_file(configuration, name)
        ):
            yield f"{name} ({details})" if details else name


def recipe_lines(configuration: Configuration) -> Iterator[str]:
    for path in ("Makefile", "GNUmakefile", "makefile", "justfile", "Justfile"):
        yield from (line.strip() for line in configuration.text(path).split("\n") if line[:1] in ("\t", " "))
    sections = ini(configuration.text("tox.ini"))
    yield from (held.get("commands", "") for name, held in sections.items() if name.startswith("testenv"))
    environments = table(configuration.project, "tool", "tox", "env")
    yield from (str(table(environments, name).get("commands", "")) for name in environments)


def own_file(configuration: Configuration, name: str) -> bool:
    names = {
        "flake8": (".flake8",), "mypy": ("mypy.ini", ".mypy.ini"), "pyright": ("pyrightconfig.json",),
        "biome": ("biome.json", "biome.jsonc"), "golangci-lint": (".golangci.yml", ".golangci.yaml"),
        "rustfmt": ("rustfmt.toml", ".rustfmt.toml"),
    }  # fmt: skip
    begun = {"eslint": (".eslintrc", "eslint.config."), "prettier": (".prettierrc",)}.get(name, ())
    return any(path in configuration.texts for path in names.get(name, ())) or any(
        path.startswith(begun) for path in configuration.texts if begun
    )


def ruff_tables(configuration: Configuration) -> Mapping[str, Any]:
    for name in (".ruff.toml", "ruff.toml"):
        if held := toml(configuration.text(name)):
            return held
    return table(configuration.project, "tool", "ruff")


def ruff(configuration: Configuration) -> str:
    held = ruff_tables(configuration)
    lint = table(held, "lint") or held
    rules = [*texts(lint.get("select")), *texts(lint.get("extend-select"))]
    return " ".join(rules[:14]) + (" …" if len(rules) > 14 else "")


def mypy(configuration: Configuration) -> str:
    held = table(configuration.project, "tool", "mypy")
    said = {**ini(configuration.text("setup.cfg")).get("mypy", {}), **ini(configuration.text("mypy.ini")).get("mypy", {})}
    return "strict" if held.get("strict") is True or said.get("strict", "").lower() == "true" else ""


def pyright(configuration: Configuration) -> str:
    held = table(configuration.project, "tool", "pyright") or json(configuration.text("pyrightconfig.json"))
    mode = held.get("typeCheckingMode")
    if isinstance(mode, str):
        return mode
    return f"strict in {len(strict)} places" if (strict := texts(held.get("strict"))) else ""


DETAILS = {"ruff": ruff, "mypy": mypy, "pyright": pyright}


def limits(configuration: Configuration) -> Iterator[str]:
    """Figures that a linter holds the code to."""
    if length := line_length(configuration):
        yield f"lines up to {length}"
    held = ruff_tables(configuration)
    lint = table(held, "lint") or held
    flake = flake8(configuration)
    complexity = table(lint, "mccabe").get("max-complexity") or NUMBER.search(flake.get("max-complexity", ""))
    rules = [*texts(lint.get("select")), *texts(lint.get("extend-select"))]
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
        if isinstance(number := table(lint, "pylint").get(name), int):
            yield f"at most {number} {word}"


def flake8(configuration: Configuration) -> Mapping[str, str]:
    for path in (".flake8", "setup.cfg", "tox.ini"):
        if held := ini(configuration.text(path)).get("flake8"):
            return held
    return {}


def line_length(configuration: Configuration) -> str:
    """The first tool that names one."""
    ruff_says, black = (
        ruff_tables(configuration).get("line-length"),
        table(configuration.project, "tool", "black").get("line-length"),
    )
    flake = NUMBER.search(flake8(configuration).get("max-line-length", ""))
    rust = toml(configuration.text("rustfmt.toml") or configuration.text(".rustfmt.toml")).get("max_width")
    biome = table(json(configuration.text("biome.json") or configuration.text("biome.jsonc")), "formatter").get("lineWidth")
    prettier = json(configuration.text(".prettierrc") or configuration.text(".prettierrc.json")).get("printWidth")
    editor = re.search(r"^max_line_length\s*=\s*(\d+)", configuration.text(".editorconfig"), re.MULTILINE)
    for said in (ruff_says, black, flake and int(flake[0]), rust, biome, prettier, editor and int(editor[1])):
        if isinstance(said, int) and not isinstance(said, bool) and 40 <= said <= 1000:
            return str(said)
    if "black" in table(configuration.project, "tool"):
        return "88"
    return ""
