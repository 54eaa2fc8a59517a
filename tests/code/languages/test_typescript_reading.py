from tongues import bases_of, doc_of, imports, outline, reading

from afresh.code.languages.ecmascript import read_source


def test_symbols_are_told_as_a_reader_would():
    assert outline("cart.ts") == [
        "17-36 class Cart: export default class Cart<T> extends Base<T> implements Totals, Shown",
        "19-19 constant Cart.limit: static readonly limit: number = 10",
        "20-20 method Cart.count: private count = ()",
        "21-21 method Cart.constructor: constructor(private owner: string)",
        "23-33 method Cart.total: async total(tax: number, round = true): Promise<number>",
        "29-29 function Cart.total.each: const each = ()",
        "31-31 function Cart.total.inner: function inner()",
        "34-34 method Cart.size: get size(): number",
        "35-35 method Cart.#secret: #secret()",
        "37-37 interface Totals: export interface Totals extends Sums, Shows<string>",
        "37-37 constant Totals.sum: sum: number",
        "37-37 method Totals.add: add(x: string): void",
        "38-38 constant Id: export type Id = string | number",
        "39-39 class Colour: export const enum Colour",
        "39-39 constant Colour.Red: Red = 1",
        "39-39 constant Colour.Green: Green",
        "40-40 class Shop.Inner: namespace Shop.Inner",
        "40-40 constant Shop.Inner.open: export const open = true",
        "40-40 function Shop.Inner.enter: export function enter()",
        "41-41 function global: declare function global(x: number): string",
        "42-42 function parse: export const parse = async (text: string): Promise<string>",
        "43-43 constant table: export const table = { read() {}, write: () => 1, size: 3 }",
        "43-43 method table.read: read()",
        "43-43 method table.write: write: ()",
        "44-44 function over: function over(a: string): void",
        "45-45 function over: function over(a: any)",
    ]


def test_imports_of_every_form():
    assert imports("cart.ts") == [
        "3 ./money default=money round=rounded Rate=Rate",
        "4 ../stock.js as stock",
        "5 ./polyfill",
        "6 fs as fs",
        "7 ./price Price=Amount",
        "8 ./shared",
        "9 ./door open=open close=shut",
        "10 ./lazy as lazy",
    ]


def test_docs_are_first_sentences():
    assert doc_of("cart.ts", "Cart") == "Holds items."
    assert doc_of("cart.ts", "Cart.total") == "Of all items, taxed."
    assert doc_of("cart.ts", "Cart.total.inner") == ""


def test_bases_are_told_without_the_arguments_of_types():
    assert bases_of("cart.ts", "Cart") == ("Base", "Totals", "Shown")
    assert bases_of("cart.ts", "Totals") == ("Sums", "Shows")


def test_mentions_are_names_in_code_not_in_strings_and_comments():
    mentions = reading("cart.ts").mentions
    assert {"Stored", "text", "Promise", "passing", "local"} <= set(mentions)
    assert not {"carts", "polyfill", "yet", "More"} & set(mentions)
    assert list(mentions) == sorted(set(mentions))


def test_a_script_with_an_interpreter_is_an_entry():
    assert reading("cart.ts").entry == "#!/usr/bin/env node"


def test_markup_is_understood_in_tsx_only():
    text = "export const Panel = (props: Props) => <Box title='x'>words {props.size}</Box>;\n"
    assert [one.signature for one in read_source("panel.tsx", text).symbols] == ["export const Panel = (props: Props)"]
    assert not {"words", "x"} & set(read_source("panel.tsx", text).mentions)
