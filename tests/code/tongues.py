"""A small file in each language, with most forms that its reader supports."""

from textwrap import dedent

from afresh.code.languages import registry as languages
from afresh.core.symbol import FileReading

TYPESCRIPT = dedent("""\
    #!/usr/bin/env node
    /** Carts and what is in them. */
    import money, { round as rounded, type Rate } from "./money";
    import * as stock from '../stock.js';
    import "./polyfill";
    import fs = require("fs");
    export { Price as Amount } from "./price";
    export * from './shared';
    const { open, close: shut } = require("./door");
    const lazy = await import("./lazy");

    /**
     * Holds items.
     * More of it.
     * @public
     */
    @Stored({ table: "carts" })
    export default class Cart<T> extends Base<T> implements Totals, Shown {
      static readonly limit: number = 10;
      private count = () => 3;
      constructor(private owner: string) { super(); }
      /** Of all items, taxed. */
      @Logged()
      async total(
        // not yet
        tax: number,
        round = true,
      ): Promise<number> {
        const each = () => 1;
        const local = 2;
        function inner() {}
        return 1;
      }
      get size(): number { return 1; }
      #secret() {}
    }
    export interface Totals extends Sums, Shows<string> { sum: number; add(x: string): void }
    export type Id = string | number;
    export const enum Colour { Red = 1, Green }
    namespace Shop.Inner { export const open = true; export function enter() {} }
    declare function global(x: number): string;
    export const parse = async (text: string): Promise<string> => `a${text}b`;
    export const table = { read() {}, write: () => 1, size: 3 };
    function over(a: string): void;
    function over(a: any) {}
    run({ passing() {} });
    """)
JAVASCRIPT = dedent("""\
    /*! Copyright somebody, under a licence. */
    'use strict';

    /**
     * Routes of the shop.
     */

    const path = require('path');
    const { Cart } = require("./cart");
    const View = () => <Panel title="x">text {Cart.size}</Panel>;

    /**
     * Opens it.
     */

    exports.open = function (door, key = 1) { this.local = function () {}; };
    module.exports.limit = 3;
    exports.again = open;
    Door.prototype.shut = function shut(hard) {};
    class Door extends House.Part {
      static made = 0;
      knock = () => 1;
      push(hand) {}
    }
    module.exports = { Door, lock(key) {}, hidden: function () {} };
    export default (a) => a;
    if (require.main === module) run(import("./late"));
    """)
GO = dedent("""\
    // Copyright somebody. All rights reserved.

    // Package main sells things.
    // It is small.
    package main

    import (
    \t"fmt"
    \tm "example.org/shop/money"
    \t. "example.org/shop/dot"
    \t_ "example.org/shop/side"
    )
    import "os"

    // Cart holds items. More of it.
    type Cart[T any] struct {
    \tBase
    \t*m.Rate
    \tA, B int `json:"a"`
    }

    type (
    \tTotals interface { Sum(p []byte) (int, error); fmt.Stringer }
    \tId = string
    )

    const (
    \tOpen = iota
    \t// Shut is shut.
    \tShut
    )

    var first, second = 1, 2

    // Total is taxed.
    //
    //go:noinline
    func (c *Cart[T]) Total(tax int, rest ...string) (err error) {
    \tconst local = 1
    \treturn nil
    }

    func main() { go func() {}() }
    """)
RUST = dedent("""\
    //! A shop.
    use std::collections::{HashMap, hash_map::{self, Entry as E}};
    use crate::money::*;
    pub use super::stock as goods;
    extern crate outer as inner;
    mod door;
    /// Holds items.
    #[derive(Debug)]
    // kept
    #[serde(default)]
    pub struct Cart<T: Copy> where T: Clone { pub items: T }
    struct Pair(u8, String);
    enum Colour { Red, Rgb(u8), Named { name: u8 } }
    pub trait Totals: Sums + fmt::Display { const N: u8; fn sum(&self) -> u8; }
    impl<T> Cart<T> {
        /// A new one.
        pub async fn new(items: T) -> Self { fn inner() {} const LOCAL: u8 = 1; Cart { items } }
    }
    impl<T> Totals for Cart<T> { fn sum(&self) -> u8 { 1 } }
    impl fmt::Debug for crate::far::Away<'_> { fn fmt(&self) {} }
    const LIMIT: &str = "x";
    macro_rules! say { ($x:expr) => { $x } }
    fn main() { println!("{}", rate.apply::<T>()); }
    #[cfg(test)]
    mod tests { use super::*; #[test] fn adds() {} }
    """)
JAVA = dedent("""\
    /* Licensed to somebody. */
    package org.shop.cart;
    import java.util.List;
    import static org.shop.Money.round;
    import static org.shop.Money.*;
    import org.shop.stock.*;
    /**
     * Holds {@link Item items}. More of it.
     *
     * @author somebody
     */
    @Stored
    @Named(value = "cart")
    public final class Cart<T extends Item> extends Base<T> implements Totals, Shown<T> {
      private static final int LOW = 1, HIGH = 2;
      public Cart(int size) throws Full { }
      @Override public <K> Map<K, T> total(@Nullable final K key, String... rest) throws IOException {
        int local = 1;
        return new Runner() { public void go() {} };
      }
      static class Inner { void act() {} }
      enum Colour implements Shown { RED(1), GREEN; }
      interface Door extends Wood, Metal { int WIDTH = 1; void open(); }
      @interface Stored { String value() default ""; }
      record Point(int x, int y) implements Shown { }
      public static void main(String[] args) { }
    }
    """)
C_SHARP = dedent("""\
    #region License
    // Copyright somebody
    #endregion
    using System;
    using static System.Math;
    using Goods = Shop.Stock.Items<int>;
    global using Shop.Money;
    namespace Shop.Carts
    {
      /// <summary>
      /// Holds <see cref="Item"/> things.
      /// </summary>
      /// <remarks>More.</remarks>
      [Serializable, Stored]
      public sealed partial class Cart<T> : Base<T>, ITotals
    #if FULL
        , IShown
    #endif
        where T : class
      {
        private const int Low = 1, High = 2;
        public event EventHandler Sold;
        public int Count { get; set; } = 3;
        public int Size => 1;
        public string this[int i] { get { return ""; } }
        public Cart(int a) : base(a) { }
        public static Cart<T> operator +(Cart<T> a, Cart<T> b) => a;
        public async Task<int> Total<K>([Given] K key, params string[] rest) where K : new() { int Local(int q) => q; return 1; }
        void ITotals.Sum() {}
        enum Colour : byte { Red = 1, Green }
        delegate void Changed(int x);
        interface IDoor : IWood { void Open(); }
        record Point(int X, string Y) : Base(X);
        static void Main(string[] args) { var s = $"a{args}b"; }
      }
    }
    namespace Shop.More { static class Extras { public static int Twice(this int x) => 2 * x; } }
    """)
PYTHON = """
import os
from .rates import (Rate as R,  # why
    round)

LIMIT = 3


@round
class Cart(Base):
    items = []

    def add(self, items: list, /, *, twice: bool = False) -> int:
        '''Adds items.'''
        return os.total(f"{items!r:>{LIMIT}} no")


async def main():
    pass
""".lstrip()
SAMPLES = {
    "cart.py": PYTHON,
    "cart.ts": TYPESCRIPT,
    "cart.tsx": TYPESCRIPT,
    "door.js": JAVASCRIPT,
    "cart.go": GO,
    "cart.rs": RUST,
    "Cart.java": JAVA,
    "Cart.cs": C_SHARP,
}


def outline(path: str) -> list[str]:
    """Return one line per symbol of a sample."""
    return [f"{one.line}-{one.end} {one.kind} {one.name}: {one.signature}" for one in reading(path).symbols]


def reading(path: str) -> FileReading:
    return languages.read_source(path, SAMPLES[path])


def imports(path: str) -> list[str]:
    return [
        f"{one.line} {one.module}"
        + "".join(f" {there}={here}" for there, here in one.names)
        + (f" as {one.alias}" if one.alias else "")
        for one in reading(path).imports
    ]


def doc_of(path: str, name: str) -> str:
    return next(one.doc for one in reading(path).symbols if one.name == name)


def bases_of(path: str, name: str) -> tuple[str, ...]:
    return next(one.bases for one in reading(path).symbols if one.name == name)
