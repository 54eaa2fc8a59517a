import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.code.manifests import MANIFEST_READERS, Manifest, read_manifest

PACKAGE = """{
  "name": "@org/shop", "description": "Sells  things.", "bin": {"shop": "./bin/shop.js", "odd": 3}, "main": "lib/index.js",
  "scripts": {"test": "vitest run", "build": "tsc"}
}"""
PYPROJECT = """
[project]
description = "Sells things."
scripts = {shop = "shop.cli:main"}
[project.gui-scripts]
window = "shop.gui:main"
[tool.poetry.scripts]
old = "shop.old:run"
"""
SETUP = "[options.entry_points]\nconsole_scripts =\n    shop = shop.cli:main\n    other=shop.other:run\n"
CARGO = """
[package]
name = "shop"
description = "Sells things."
[lib]
path = "source/lib.rs"
[[bin]]
name = "till"
[[bin]]
name = "door"
path = "apps/door.rs"
"""
PROJECT = (
    "<Project><PropertyGroup><OutputType>Exe</OutputType><Description>\n Sells things.</Description></PropertyGroup></Project>"
)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "web/package.json",
            PACKAGE,
            ["shop web/bin/shop.js"],
        ),
        ("package.json", '{"name": "@org/shop", "bin": "cli.js"}', ["shop cli.js"]),
        (
            "pyproject.toml",
            PYPROJECT,
            ["shop shop.cli:main", "window shop.gui:main", "old shop.old:run"],
        ),
        ("setup.cfg", SETUP, ["shop shop.cli:main", "other shop.other:run"]),
        (
            "rust/Cargo.toml",
            CARGO,
            ["till rust/src/bin/till.rs", "door rust/apps/door.rs"],
        ),
        ("src/Shop/Shop.csproj", PROJECT, ["Shop src/Shop"]),
        ("src/Shop/Shop.csproj", "<Project/>", []),
        ("package.json", '{"bin": {"out": "../../outside.js"}}', []),
        ("README.md", PACKAGE, []),
    ],
)
def test_a_manifest_says_where_runs_begin(path: str, text: str, expected: list[str]):
    assert [f"{one.name} {one.target}" for one in read_manifest(path, text).programs] == expected


TEXTS = st.sampled_from([PACKAGE, PYPROJECT, SETUP, CARGO, PROJECT])


@given(
    st.sampled_from([*MANIFEST_READERS, "a.csproj", "README.md"]), st.one_of(st.text(max_size=200), TEXTS), st.integers(0, 400)
)
def test_any_text_is_a_manifest_that_may_say_nothing(path: str, text: str, length: int):
    assert isinstance(read_manifest(path, text[:length]), Manifest)


@pytest.mark.parametrize("text", ['{"name": 3, "bin": [1], "main": {}, "scripts": "x"}', "[]", "null", '{"bin": {"a": null}}'])
def test_a_manifest_of_the_wrong_shape_says_nothing(text: str):
    assert read_manifest("package.json", text) == Manifest()
