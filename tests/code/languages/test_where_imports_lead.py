"""Imports are resolved to files of the tree."""

import pytest

from afresh.code.index.code_index import CodeIndex, build_code_index
from afresh.code.languages import registry as languages
from support.fakes import DictFiles


def tree(texts: dict[str, str]) -> CodeIndex:
    files = DictFiles()
    files.texts = texts
    return build_code_index(files)


def lead(code: CodeIndex, path: str) -> list[str]:
    """Return the files that each import of a file leads to, in order."""
    speaker = languages.load_language(languages.detect_language(path))
    modules = speaker.index_modules(code)
    return [" ".join(sorted(speaker.resolve_import(one, path, modules))) for one in code.reading(path).imports]


def beside(code: CodeIndex, path: str) -> list[str]:
    speaker = languages.load_language(languages.detect_language(path))
    return sorted(speaker.find_package_uses(path, speaker.index_modules(code)))


WEB = {
    "package.json": '{"workspaces": ["packages/*"]}',
    "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./app/*"], "@/special": ["./app/deep/x"],}}} // end',
    "app/main.ts": "",
    "app/button.tsx": "export function Button() {}\n",
    "app/list/index.ts": 'export * from "./rows";\nexport { Cell as Box } from "./cell";\n',
    "app/list/rows.ts": "export const Rows = 1;\n",
    "app/list/cell.js": "export class Cell {}\n",
    "app/deep/x.ts": "",
    "packages/core/package.json": '{"name": "@shop/core", "main": "dist/index.js"}',
    "packages/core/src/index.ts": "",
    "packages/core/src/parts/one.ts": "",
    "packages/plain/package.json": '{"name": "plain"}',
    "packages/plain/index.js": "",
    "packages/based/tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}',
    "packages/based/src/far/away.ts": "",
    "packages/based/src/here.ts": 'import "far/away";\n',
    "node_modules/left/package.json": '{"name": "left"}',
    "node_modules/left/index.js": "",
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('import "./button"', "app/button.tsx"),
        ('import "./button.js"', "app/button.tsx"),
        ('import "./list"', "app/list/index.ts"),
        ('import {Rows} from "./list"', "app/list/index.ts app/list/rows.ts"),
        ('import {Box} from "./list"', "app/list/cell.js app/list/index.ts"),
        ('import {Nothing} from "./list"', "app/list/index.ts"),
        ('import "@/button"', "app/button.tsx"),
        ('import "@/special"', "app/deep/x.ts"),
        ('import "@shop/core"', "packages/core/src/index.ts"),
        ('import "@shop/core/parts/one"', "packages/core/src/parts/one.ts"),
        ('const p = require("plain")', "packages/plain/index.js"),
        ('import "left"', ""),
        ('import "react"', ""),
        ('import "../../../outside"', ""),
        ('import "./main"', ""),
        ('import "."', ""),
    ],
)
def test_modules_of_typescript_and_javascript(written: str, expected: str):
    assert lead(tree({**WEB, "app/main.ts": written}), "app/main.ts") == [expected]


def test_modules_below_the_base_folder_of_the_settings_are_found():
    assert lead(tree(WEB), "packages/based/src/here.ts") == ["packages/based/src/far/away.ts"]


@pytest.mark.parametrize(
    "settings", ["", "[]", "{", '{"extends": "./tsconfig", "compilerOptions": {"paths": [1]}}', "null", "[[" * 9_000]
)
def test_settings_that_make_no_sense_are_ignored(settings: str):
    web = {**WEB, "tsconfig.json": settings, "package.json": settings, "app/main.ts": 'import "./button"\nimport "@/button"'}
    assert lead(tree(web), "app/main.ts") == ["app/button.tsx", ""]


SHOP = {
    "go.mod": "// the shop\nmodule example.org/shop\n\ngo 1.22\n",
    "shop.go": "package shop\n\nfunc Open() { helper(); shut() }\n",
    "more.go": "package shop\n\nfunc helper() {}\n",
    "shop_test.go": "package shop\n\nfunc shut() {}\n",
    "money/rate.go": "package money\n\nfunc Rate() {}\n",
    "money/round.go": "package money\n\nfunc Round() {}\n",
    "money/rate_test.go": "package money\n\nfunc TestRate() {}\n",
    "tools/go.mod": "module example.org/shop/tools",
    "tools/tool.go": "package tools\n\nfunc Use() {}\n",
    "cmd/main.go": 'package main\n\nimport (\n"fmt"\n"example.org/shop/money"\n'
    't "example.org/shop/tools"\n_ "example.org/shop"\n)\n\n'
    "func main() { money.Round(); t.Use() }\n",
}


def test_packages_of_go_are_folders_and_only_what_is_used_of_them_counts():
    assert lead(tree(SHOP), "cmd/main.go") == ["", "money/round.go", "tools/tool.go", "more.go shop.go"]


def test_files_of_one_go_package_are_seen_without_an_import_but_not_its_tests():
    assert beside(tree(SHOP), "shop.go") == ["more.go"]
    assert beside(tree({**SHOP, "shop_test.go": "package shop\n\nfunc TestOpen() { Open() }\n"}), "shop_test.go") == ["shop.go"]


CRATES = {
    "Cargo.toml": '[workspace]\nmembers = ["core", "tool-box"]\n',
    "core/Cargo.toml": '[package]\nname = "core-parts"\n\n[lib]\nname = "parts"\n',
    "core/src/lib.rs": "mod money;\npub mod stock;\npub use money::Rate;\n",
    "core/src/money.rs": "pub struct Rate;\nuse self::round::up;\nuse super::stock::Item;\n"
    "use crate::stock::deep::*;\nmod round;\n",
    "core/src/money/round.rs": "use super::Rate;\nuse super::super::stock;\npub fn up() {}\n",
    "core/src/stock/mod.rs": "pub mod deep;\npub struct Item;\n",
    "core/src/stock/deep.rs": "use super::Item;\n#[cfg(test)]\nmod tests { use super::*; use super::super::Item; }\n",
    "core/tests/whole.rs": "mod common;\nuse parts::{stock::Item, Rate};\nuse crate::common::set_up;\n",
    "core/tests/common/mod.rs": "pub fn set_up() {}\n",
    "tool-box/Cargo.toml": '[package]\nname = "tool-box"\n\n[[bin]]\nname = "tool"\npath = "app/run.rs"\n',
    "tool-box/app/run.rs": "mod words;\nuse words::say;\nuse std::io;\nuse parts::money;\n",
    "tool-box/app/words.rs": "use crate::main;\npub fn say() {}\n",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("core/src/lib.rs", ["core/src/money.rs", "core/src/stock/mod.rs", "core/src/money.rs"]),
        (
            "core/src/money.rs",
            ["core/src/money/round.rs", "core/src/stock/mod.rs", "core/src/stock/deep.rs", "core/src/money/round.rs"],
        ),
        ("core/src/money/round.rs", ["core/src/money.rs", "core/src/stock/mod.rs"]),
        ("core/src/stock/deep.rs", ["core/src/stock/mod.rs", "core/src/stock/deep.rs", "core/src/stock/mod.rs"]),
        (
            "core/tests/whole.rs",
            [
                "core/tests/common/mod.rs",
                "core/src/stock/mod.rs",
                "core/src/lib.rs core/src/money.rs",
                "core/tests/common/mod.rs",
            ],
        ),
        ("tool-box/app/run.rs", ["tool-box/app/words.rs", "tool-box/app/words.rs", "", "core/src/money.rs"]),
        ("tool-box/app/words.rs", ["tool-box/app/run.rs"]),
    ],
)
def test_modules_of_rust(path: str, expected: list[str]):
    assert lead(tree(CRATES), path) == expected


CLASSES = {
    "app/src/main/java/org/shop/Cart.java": "package org.shop;\nimport org.shop.money.Rate;\nimport org.shop.money.Rate.Kind;\n"
    "import static org.shop.money.Rate.round;\nimport org.shop.stock.*;\nimport java.util.List;\n"
    "class Cart { Item item; Helper helper; }\n",
    "app/src/main/java/org/shop/Helper.java": "package org.shop;\nclass Helper {}\n",
    "app/src/main/java/org/shop/Other.java": "package org.shop;\nclass Other {}\n",
    "money/java/org/shop/money/Rate.java": "package org.shop.money;\npublic class Rate { enum Kind {} }\n",
    "stock/Item.java": "package org.shop.stock;\npublic class Item {}\n",
    "stock/Shelf.java": "package org.shop.stock;\npublic class Shelf {}\n",
}


def test_classes_of_java_are_found_by_the_package_they_declare():
    rate = "money/java/org/shop/money/Rate.java"
    code = tree(CLASSES)
    assert lead(code, "app/src/main/java/org/shop/Cart.java") == [rate, rate, rate, "stock/Item.java", ""]
    assert beside(code, "app/src/main/java/org/shop/Cart.java") == ["app/src/main/java/org/shop/Helper.java"]


SPACES = {
    "Cart.cs": "using System;\nusing Shop.Money;\nusing Goods = Shop.Stock.Item;\nnamespace Shop.Carts.Deep {\n"
    "class Cart { Rate rate; Base it; int x = 1.Twice(); Door door; }\n}\n",
    "Rate.cs": "namespace Shop.Money;\npublic class Rate {}\n",
    "Twice.cs": "namespace Shop.Money;\npublic static class Extras { public static int Twice(this int x) => 2; }\n",
    "Unused.cs": "namespace Shop.Money;\npublic class Unused {}\n",
    "Item.cs": "namespace Shop.Stock;\npublic class Item {}\n",
    "Base.cs": "namespace Shop.Carts;\npublic class Base {}\n",
    "Door.cs": "public class Door {}\n",
}


def test_types_of_c_sharp_are_found_by_namespace():
    code = tree(SPACES)
    assert lead(code, "Cart.cs") == ["", "Rate.cs Twice.cs", "Item.cs"]
    assert beside(code, "Cart.cs") == ["Base.cs", "Door.cs"]
