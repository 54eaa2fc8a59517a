"""How a person works, whatever the project: only by what that person has written down for all projects."""

import re
from collections.abc import Iterator, Sequence

from afresh.code.project_profile.statement import ProfileStatement, make_statement
from afresh.core.truncate import to_one_line

KNOWN_LANGUAGES = (
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
KNOWN_TOOLS = (
    "pytest", "unittest", "hypothesis", "ruff", "black", "isort", "flake8", "pylint", "mypy", "pyright", "uv", "poetry",
    "pip", "pipenv", "conda", "tox", "nox", "make", "just", "docker", "podman", "git", "jj", "gh", "npm", "pnpm", "yarn",
    "bun", "deno", "jest", "vitest", "mocha", "playwright", "eslint", "prettier", "biome", "cargo", "clippy", "gradle",
    "maven", "dotnet", "bazel", "terraform", "kubectl", "rg", "fd", "sqlite", "postgres", "redis", "django", "flask",
    "fastapi", "react", "vue", "svelte", "angular", "pydantic", "sqlalchemy", "pandas", "numpy",
)  # fmt: skip
EVERYDAY_WORDS = {"go", "make", "just", "black", "rust", "swift", "java", "bash", "bun", "fd", "react"}
"""Names that are everyday words too: they count only as written, or marked as code."""
REJECTING_WORDS = re.compile(
    r"\bprefer\b.*?\b(?:to|over)\b"
    r"|\b(?:no(?!\s*[:,])|not|never|avoid|without|don'?t|do not|instead of|rather than|stop|nor|isn'?t)\b",
    re.IGNORECASE,
)
LEADING_WORDS = r"\b(?:use|using|run|with|prefer|avoid|like|of|than|over|never)\s+(?:the\s+)?"
CLAUSE_BOUNDARY = re.compile(
    r"(?<=[.;!?])\s+|\n|,\s+(?=(?:not|never|no|instead|rather|but)\b)|\s(?=(?:instead of|rather than|but not)\b)"
)
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")
MAX_RULE_CHARACTERS = 90
MAX_RULES = 6


def describe_user(texts: Sequence[str]) -> list[ProfileStatement]:
    """Nothing, when the person has written nothing."""
    clauses = [clause for text in texts for clause in CLAUSE_BOUNDARY.split(strip_code_blocks(text)) if clause and clause.strip()]
    languages, tools, avoided = (list(dict.fromkeys(found)) for found in sort_names_by_preference(clauses))
    return [
        *make_statement("the user's own rules speak of", [", ".join(languages), ", ".join(tools)], 20),
        *make_statement("and against", [", ".join(avoided)], 18),
        *make_statement("in the user's words", list(quote_preferences(texts)), 16),
    ]


def strip_code_blocks(text: str) -> str:
    """Blocks of code are examples, not statements."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def sort_names_by_preference(clauses: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Languages and tools in favour, and those that a clause speaks against. Whatever is in both is in neither."""
    wanted, avoided = list[str](), list[str]()
    for clause in clauses:
        against = REJECTING_WORDS.search(clause)
        for name in () if clause.rstrip().endswith("?") else (*KNOWN_LANGUAGES, *KNOWN_TOOLS):
            if place := find_name(name, clause):
                (avoided if against and against.end() <= place.end() - len(name) else wanted).append(name)
    both = {*wanted} & {*avoided}
    return (
        [name for name in KNOWN_LANGUAGES if name in wanted and name not in both],
        [name for name in KNOWN_TOOLS if name in wanted and name not in both],
        [name for name in (*KNOWN_LANGUAGES, *KNOWN_TOOLS) if name in avoided and name not in both],
    )


def find_name(name: str, clause: str) -> re.Match[str] | None:
    pattern = rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\w)"
    if name.lower() in EVERYDAY_WORDS:
        marked = re.search(rf"`[^`]*{pattern}[^`]*`|{LEADING_WORDS}{pattern}", clause, re.IGNORECASE)
        return marked or (re.search(pattern, clause) if name in KNOWN_LANGUAGES and name not in ("Go", "Swift") else None)
    return re.search(pattern, clause, re.IGNORECASE)


def quote_preferences(texts: Sequence[str]) -> Iterator[str]:
    """Short rules as they are written: items of lists, or texts that are one sentence."""
    seen = list[str]()
    for text in texts:
        lines = [match[1] for line in strip_code_blocks(text).split("\n") if (match := LIST_ITEM.match(line))]
        seen += lines or ([text] if "\n" not in text.strip() else [])
    short = [to_one_line(line.rstrip(". ")) for line in dict.fromkeys(seen) if len(line.strip()) <= MAX_RULE_CHARACTERS]
    yield from [line for line in short if line][:MAX_RULES]
