"""How a person works, whatever the project: only by what that person has written down for all projects."""

import re
from collections.abc import Iterator, Sequence

from afresh.domain.text import one_line
from afresh.insight.fingerprint.level import Statement, statement

LANGUAGES = (
    "Python",
    "TypeScript",
    "JavaScript",
    "Go",
    "Rust",
    "Java",
    "C#",
    "C++",
    "Kotlin",
    "Swift",
    "Ruby",
    "PHP",
    "Scala",
    "SQL",
    "Bash",
)
TOOLS = (
    "pytest", "unittest", "hypothesis", "ruff", "black", "isort", "flake8", "pylint", "mypy", "pyright", "uv", "poetry",
    "pip", "pipenv", "conda", "tox", "nox", "make", "just", "docker", "podman", "git", "jj", "gh", "npm", "pnpm", "yarn",
    "bun", "deno", "jest", "vitest", "mocha", "playwright", "eslint", "prettier", "biome", "cargo", "clippy", "gradle",
    "maven", "dotnet", "bazel", "terraform", "kubectl", "rg", "fd", "sqlite", "postgres", "redis", "django", "flask",
    "fastapi", "react", "vue", "svelte", "angular", "pydantic", "sqlalchemy", "pandas", "numpy",
)  # fmt: skip
PROSE = {"go", "make", "just", "black", "rust", "swift", "java", "bash", "bun", "fd", "react"}
"""Names that are everyday words too: they count only as written, or marked as code."""
AGAINST = re.compile(
    r"\bprefer\b.*?\b(?:to|over)\b"
    r"|\b(?:no(?!\s*[:,])|not|never|avoid|without|don'?t|do not|instead of|rather than|stop|nor|isn'?t)\b",
    re.IGNORECASE,
)
LEADS = r"\b(?:use|using|run|with|prefer|avoid|like|of|than|over|never)\s+(?:the\s+)?"
CLAUSE = re.compile(r"(?<=[.;!?])\s+|\n|,\s+(?=(?:not|never|no|instead|rather|but)\b)|\s(?=(?:instead of|rather than|but not)\b)")
RULE = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")
LONGEST = 90
MOST = 6


def user(texts: Sequence[str]) -> list[Statement]:
    """Nothing, when the person has written nothing."""
    clauses = [clause for text in texts for clause in CLAUSE.split(without_code(text)) if clause and clause.strip()]
    languages, tools, avoided = (list(dict.fromkeys(found)) for found in zip_names(clauses))
    return [
        *statement("the user's own rules speak of", [", ".join(languages), ", ".join(tools)], 20),
        *statement("and against", [", ".join(avoided)], 18),
        *statement("in the user's words", list(preferences(texts)), 16),
    ]


def without_code(text: str) -> str:
    """Blocks of code are examples, not statements."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def zip_names(clauses: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Languages and tools in favour, and those that a clause speaks against. Whatever is in both is in neither."""
    wanted, avoided = list[str](), list[str]()
    for clause in clauses:
        against = AGAINST.search(clause)
        for name in () if clause.rstrip().endswith("?") else (*LANGUAGES, *TOOLS):
            if place := named(name, clause):
                (avoided if against and against.end() <= place.end() - len(name) else wanted).append(name)
    both = {*wanted} & {*avoided}
    return (
        [name for name in LANGUAGES if name in wanted and name not in both],
        [name for name in TOOLS if name in wanted and name not in both],
        [name for name in (*LANGUAGES, *TOOLS) if name in avoided and name not in both],
    )


def named(name: str, clause: str) -> re.Match[str] | None:
    pattern = rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\w)"
    if name.lower() in PROSE:
        marked = re.search(rf"`[^`]*{pattern}[^`]*`|{LEADS}{pattern}", clause, re.IGNORECASE)
        return marked or (re.search(pattern, clause) if name in LANGUAGES and name not in ("Go", "Swift") else None)
    return re.search(pattern, clause, re.IGNORECASE)


def preferences(texts: Sequence[str]) -> Iterator[str]:
    """Short rules as they are written: items of lists, or texts that are one sentence."""
    seen = list[str]()
    for text in texts:
        lines = [match[1] for line in without_code(text).split("\n") if (match := RULE.match(line))]
        seen += lines or ([text] if "\n" not in text.strip() else [])
    short = [one_line(line.rstrip(". ")) for line in dict.fromkeys(seen) if len(line.strip()) <= LONGEST]
    yield from [line for line in short if line][:MOST]
