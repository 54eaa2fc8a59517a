"""Each statement about a project, on projects small enough to check it by eye."""

import pytest
from small_projects import SHOP, read

from afresh.code.project_profile.profile import ProfileInputs, build_profile, find_hot_spots
from afresh.code.project_profile.source_files import SourceFiles
from afresh.core.commit import FileChurn


def said(texts: dict[str, str], name: str, **about) -> str:
    made = build_profile(*read(texts), ProfileInputs(**about))
    return next((f"{name}: {'; '.join(one.parts)}" for one in made.statements("project") if one.name == name), "")


def test_name_language_and_version():
    assert said(SHOP, "project") == "project: shop (Sells things); Python >=3.11"


def test_layout_names_code_tests_and_where_a_run_begins():
    assert said(SHOP, "layout").split("; ") == [
        "layout: code in src/shop",
        "tests in tests (configured in pyproject.toml)",
        "started by shop = shop.cli.main:main",
        "also docs",
    ]


def test_a_linter_that_is_not_installed_is_not_named():
    assert said(SHOP, "checked by", missing=frozenset({"ruff"})).startswith("checked by: lines up to 100")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pytest.ini", "[pytest]\n"), ("tox.ini", "[pytest]\naddopts = -q\n"), ("setup.cfg", "[tool:pytest]\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-q'\n"),
    ],
)  # fmt: skip
def test_the_place_of_the_test_configuration(path: str, text: str):
    texts = {"a.py": "", "tests/test_a.py": "", path: text}
    assert f"tests in tests (configured in {path})" in said(texts, "layout")


def test_linters_with_their_rules_and_limits():
    assert said(SHOP, "checked by") == "checked by: ruff (E F C901); lines up to 100; complexity up to 10; at most 5 arguments"


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        (".flake8", "[flake8]\nmax-line-length = 99\nmax-complexity = 12\n", "flake8; lines up to 99; complexity up to 12"),
        ("ruff.toml", "line-length = 120\n[lint]\nextend-select = ['B']\n", "ruff (B); lines up to 120"),
        (".editorconfig", "[*]\nmax_line_length = 90\n", "lines up to 90"),
        ("mypy.ini", "[mypy]\nstrict = True\n", "mypy (strict)"),
        ("tox.ini", "[testenv:style]\ncommands =\n    pylint src\n", "pylint"),
        (".github/workflows/a.yml", "jobs:\n a:\n  steps:\n  - run: cargo clippy -- -D warnings\n", "clippy"),
    ],
)
def test_where_a_rule_is_written_it_is_found(path: str, text: str, words: str):
    assert said({"a.py": "x = 1\n", path: text}, "checked by") == f"checked by: {words}"


def test_hooks_before_a_commit():
    text = "repos:\n- repo: x\n  hooks:\n  - id: ruff-check\n  -   id: codespell\n    args: [-x]\n"
    assert (
        said({"a.py": "", ".pre-commit-config.yaml": text}, "hooks before a commit")
        == "hooks before a commit: ruff-check, codespell"
    )


def test_hot_spots_are_large_and_change_often():
    large = "def f(x):\n" + "".join(f"    if x == {n}:\n        return {n}\n" for n in range(60))
    texts = {"pkg/__init__.py": "", "pkg/hot.py": large, "pkg/still.py": large, "pkg/plain.py": "x = 1\n"}
    churn = {"pkg/hot.py": FileChurn(40, 1.0), "pkg/plain.py": FileChurn(400, 1.0), "pkg/still.py": FileChurn(1, 1.0)}
    code, _ = read(texts, churn)
    assert find_hot_spots(code, SourceFiles(code.paths)) == ["pkg/hot.py"]


OTHERS = [
    (
        {
            "go.mod": "module example.org/a\n\ngo 1.22\nrequire (\n\tgithub.com/a/b v1.2\n\tgithub.com/c/d v0.1 // indirect\n)\n",
            "main.go": "package main\n",
            "main_test.go": "",
        },
        "project: example.org/a; Go 1.22",
        "libraries: github.com/a/b",
    ),
    (
        {
            "package.json": '{"name": "web", "dependencies": {"react": "1"}, "devDependencies": {"vitest": "1"}, '
            '"engines": {"node": ">=20"}}',
            "src/a.ts": "",
            "src/b.ts": "",
        },
        "project: web; TypeScript, Node >=20",
        "libraries: react",
    ),
    (
        {
            "Cargo.toml": '[package]\nname = "tool"\nedition = "2021"\n[dependencies]\nserde = "1"\nown = {path = "own"}\n'
            '[dev-dependencies]\ntempfile = "3"\n',
            "src/main.rs": "",
        },
        "project: tool; Rust, edition 2021",
        "libraries: serde",
    ),
    (
        {"A.csproj": '<TargetFramework>net8.0</TargetFramework><PackageReference Include="Serilog" Version="1"/>', "A.cs": ""},
        "project: the repository; C#, .NET net8.0",
        "libraries: Serilog",
    ),
]


@pytest.mark.parametrize(("texts", "project", "libraries"), OTHERS)
def test_other_languages_by_their_manifests(texts: dict[str, str], project: str, libraries: str):
    assert said(texts, "project") == project
    assert said(texts, "libraries") == libraries


@pytest.mark.parametrize(
    "path",
    ["pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml", "A.csproj", "setup.cfg", ".pre-commit-config.yaml"],
)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[[[",
        "\x00",
        "[project]\nname = 3\n",
        '{"scripts": [], "dependencies": 4}',
        "[tool]\nruff = 1\n",
        "<a><dependency>" * 50,
    ],
)
def test_a_malformed_manifest_is_no_obstacle(path: str, text: str):
    assert (
        build_profile(*read({path: text, "a.py": "def f(): pass\n"}), ProfileInputs()).render("project").startswith("project: ")
    )


def test_an_empty_repository_has_little_to_tell():
    assert (
        build_profile(*read({"README.md": "x"}), ProfileInputs()).render("project") == "project: the repository\nlayout: no tests"
    )


def test_a_package_called_test_is_shipped_code():
    paths = ("web/__init__.py", "web/test/__init__.py", "web/test/client.py", "tests/test_client.py")
    sources = SourceFiles(paths)
    assert len(sources.shipped) == 3 and sources.roots == ["web"] and sources.test_folders == ["tests"]
