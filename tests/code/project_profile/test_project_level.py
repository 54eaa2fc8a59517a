"""Each statement about a project, on projects small enough to check it by eye."""

import pytest
from small_projects import SHOP, module, read

from afresh.code.project_profile.profile import ProfileInputs, build_profile
from afresh.code.project_profile.project_level import measure_project
from afresh.code.test_commands.try_commands import CommandTrial
from afresh.core.commit import FileChurn


def said(texts: dict[str, str], name: str, **about) -> str:
    made = build_profile(*read(texts), ProfileInputs(**about), {})
    return next((one.text for one in made.statements("project") if one.name == name), "")


def test_name_language_and_version():
    assert said(SHOP, "project") == "project: shop (Sells things); Python (>=3.11)"


def test_layout_names_code_tests_and_where_a_run_begins():
    assert said(SHOP, "layout").split("; ") == [
        "layout: code in src/shop",
        "tests in tests, in folders named as those of the code (configured in pyproject.toml)",
        "started by shop = shop.cli.main:main",
        "also docs",
    ]


def test_zones_stand_in_the_order_of_their_imports():
    assert said(SHOP, "layers") == "layers: each imports only to its right: adapters, cli → app → domain; most used: domain"


def test_zones_that_import_each_other_are_told_as_a_cycle():
    looping = {**SHOP, "src/shop/domain/loop.py": module("loop", "from shop.app.sell import sell_1")}
    assert "import each other: app, domain" in said(looping, "layers")


def test_libraries_by_how_much_of_the_code_imports_them():
    assert said(SHOP, "libraries") == "libraries: central click; also rich (cli); tests use hypothesis, pytest"


def test_neither_the_standard_library_nor_own_modules_are_libraries():
    facts = measure_project(
        *read({"tool.py": "import json, other, requests\n", "other.py": "import sys\n", "test_tool.py": "import tool, pytest\n"})
    )
    assert (facts.libraries.used, facts.libraries.testing) == (("requests",), ("pytest",))


def test_style_is_measured():
    assert said(SHOP, "style") == (
        "style: nearly all of the functions are fully annotated; nearly all of the public names are documented, in plain prose; "
        "double quotes; absolute imports; half of the functions have at most 5 lines"
    )


OTHER = '"""x"""\nfrom .a import b\n\nclass thing:\n' + "".join(
    f"\tdef doIt{n}(self, x):\n\t\t'''Does it.\n\n\t\t:param x: it\n\t\t'''\n\t\tprint('a', 'b')\n\t\traise ValueError('no')\n\n"
    for n in range(12)
)


def test_another_style_is_told_apart():
    texts = {f"pkg/m{n}.py": OTHER for n in range(3)} | {"pkg/__init__.py": ""}
    assert said(texts, "style") == (
        "style: none of the functions are fully annotated; nearly all of the public names are documented, Sphinx fields; "
        "camelCase functions; indented by tabs; single quotes; half of the functions have at most 10 lines"
    )
    assert not said(texts, "errors"), "built-in errors are nothing to tell"


@pytest.mark.parametrize(
    ("doc", "words"),
    [
        ("Does.\n\n    Args:\n        a: it\n    ", "Google style"),
        ("Does.\n\n    Parameters\n    ----------\n    a : int\n    ", "NumPy style"),
    ],
)
def test_the_convention_of_docstrings(doc: str, words: str):
    text = "".join(f'def f{n}(a):\n    """{doc}"""\n\n' for n in range(10))
    assert words in said({"a.py": text}, "style")


def test_the_root_of_the_projects_own_errors():
    raising = {**SHOP, "src/shop/domain/bad.py": "".join(f"def bad{n}():\n    raise Sold()\n\n" for n in range(12))}
    assert said(raising, "errors").split("; ") == [
        "errors: own: ShopError and what derives from it (src/shop/errors.py)",
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


def test_hot_spots_are_intricate_and_change_often():
    intricate = "def f(x):\n" + "".join(f"    if x == {n}:\n        return {n}\n" for n in range(40))
    texts = {"pkg/__init__.py": "", "pkg/hot.py": intricate, "pkg/still.py": intricate, "pkg/plain.py": "x = 1\n"}
    churn = {"pkg/hot.py": FileChurn(40, 1.0), "pkg/plain.py": FileChurn(400, 1.0), "pkg/still.py": FileChurn(1, 1.0)}
    assert measure_project(*read(texts, churn)).hot == ("pkg/hot.py",)


def test_only_a_command_that_was_tried_is_told_as_the_tests():
    assert said(SHOP, "tests") == ""
    quick = CommandTrial("pytest", "x", True, True, 0, 412, collected=410)
    cut_off = CommandTrial("pytest", "x", True, True, 124, 410, said="still running after 10 s", collected=410)
    assert said(SHOP, "tests", trial=quick) == "tests: `pytest` (tried here, about 400 tests)"
    assert said(SHOP, "tests", trial=cut_off) == said(SHOP, "tests", trial=quick), "the same on a slow machine"


OTHERS = [
    (
        {
            "go.mod": "module example.org/a\n\ngo 1.22\nrequire (\n\tgithub.com/a/b v1.2\n\tgithub.com/c/d v0.1 // indirect\n)\n",
            "main.go": "package main\n",
            "main_test.go": "",
        },
        "project: example.org/a; Go (1.22)",
        "libraries: declared github.com/a/b",
    ),
    (
        {
            "package.json": '{"name": "web", "dependencies": {"react": "1"}, "devDependencies": {"vitest": "1"}, '
            '"engines": {"node": ">=20"}}',
            "src/a.ts": "",
            "src/b.ts": "",
        },
        "project: web; TypeScript (Node >=20)",
        "libraries: declared react, vitest",
    ),
    (
        {
            "Cargo.toml": '[package]\nname = "tool"\nedition = "2021"\n[dependencies]\nserde = "1"\nown = {path = "own"}\n'
            '[dev-dependencies]\ntempfile = "3"\n',
            "src/main.rs": "",
        },
        "project: tool; Rust (edition 2021)",
        "libraries: declared serde, tempfile",
    ),
    (
        {"pom.xml": "<project><dependency><artifactId>junit</artifactId></dependency></project>", "src/main/java/A.java": ""},
        "project: the repository; Java",
        "libraries: declared junit",
    ),
    (
        {"A.csproj": '<TargetFramework>net8.0</TargetFramework><PackageReference Include="Serilog" Version="1"/>', "A.cs": ""},
        "project: the repository; C# (.NET net8.0)",
        "libraries: declared Serilog",
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
        build_profile(*read({path: text, "a.py": "def f(): pass\n"}), ProfileInputs(), {})
        .render("project")
        .startswith("project: ")
    )


def test_an_empty_repository_has_little_to_tell():
    assert (
        build_profile(*read({"README.md": "x"}), ProfileInputs(), {}).render("project")
        == "project: the repository\nlayout: no tests"
    )


def test_a_package_called_test_is_shipped_code():
    texts = {
        "web/__init__.py": "",
        "web/test/__init__.py": "",
        "web/test/client.py": "x = 1\n",
        "tests/test_client.py": "import web.test.client\n",
    }
    facts = measure_project(*read(texts))
    assert facts.layout.files == "3 source files, 1 test file" and facts.layout.roots == ("web",)
