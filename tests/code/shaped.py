"""Random programs with the patterns that rewrites look for, among statements that should prevent a rewrite."""

from random import Random

from hypothesis import strategies as st
from programs import NAMES, STYLES, Writer, indented, program


class Shapes(Writer):
    """As `Writer`, but every other statement is one of the patterns, with random parts."""

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        if self.number(0, 1):
            return super().statement(depth, in_loop)
        shapes = (self.conditions, self.conditions, self.values, self.values, self.search, self.collecting, self.lookup)
        more = (self.moving, self.moving, self.guarded, self.cases, self.two_things)
        return self.pick(shapes + more)(depth, in_loop)

    def small(self, in_loop: bool) -> list[str]:
        return indented([self.simple(in_loop) for _ in range(self.number(1, 2))])

    def conditions(self, depth: int, in_loop: bool) -> list[str]:
        kind, body = self.number(0, 3), self.small(in_loop)
        if kind == 0:
            comment = ["    # only then"] * self.number(0, 1)
            return [f"if {self.test()}:", *comment, f"    if {self.test()}:", *indented(body)]
        if kind == 1:
            other = ["else:", *self.small(in_loop)] * self.number(0, 1)
            return [f"if {self.test()}:", *body, f"elif {self.test()}:", *body, *other]
        leave = self.pick(("return 1", "return", "raise ValueError", *["continue", "break"] * in_loop))
        return [line for _ in range(self.number(2, 3)) for line in (f"if {self.test()}:", f"    {leave}")]

    def values(self, depth: int, in_loop: bool) -> list[str]:
        kind, name = self.number(0, 9), self.pick((*NAMES, "keep[0:1]"))
        one, two, test = self.expression(), self.expression(), self.test()
        plain = self.pick(NAMES)
        shapes = {
            0: [f"if {test}:", f"    {name} = {one}", "else:", f"    {name} = {two}"],
            1: [f"if {test}:", f"    return {one}", f"return {two}"],
            2: [f"{plain} = {self.atom()}", f"if {test}:", f"    {plain} = {one}"],
            3: [f"if not {plain}:", f"    {plain} = {one}"],
            4: [f"if {plain} is None:", f"    {plain} = {self.atom()}"],
            5: [f"if {self.truth()}:", "    return True", "return False"],
            6: [f"if {self.truth()}:", "    return False", "return True"],
            7: [f"{plain} = False", f"if {self.truth()}:", f"    {plain} = True"],
            8: [f"if {test}:", f"    keep.append({one})", "else:", f"    keep.append({two})"],
            9: [f"if {plain} == {self.atom()}:", f"    {plain} = {one}"],
        }
        return shapes[kind]

    def truth(self) -> str:
        return self.pick((self.test(), f"{self.atom()} in xs", f"not {self.pick(NAMES)}", f"isinstance({self.atom()}, int)"))

    def search(self, depth: int, in_loop: bool) -> list[str]:
        name, flag = self.pick((*NAMES, "x", "x", "x")), self.pick(("c", "d", "hit"))
        test = self.pick((self.test(), f"{name} > {self.atom()}", f"not {name}", f"note({name})"))
        found = self.pick(("True", "False"))
        other = "False" if found == "True" else "True"
        if self.number(0, 1):
            return [f"for {name} in xs:", f"    if {test}:", f"        return {found}", f"return {other}"]
        loop = [f"for {name} in xs:", f"    if {test}:", f"        {flag} = {found}", "        break"]
        return [f"{flag} = {other}", *loop, f"note({flag})"]

    def collecting(self, depth: int, in_loop: bool) -> list[str]:
        name, into = self.pick((*NAMES, "x", "x", "x")), self.pick(("c", "d", "items", "items"))
        value = self.pick((self.expression(), name, f"note({name})", f"{name} // {self.atom()}"))
        kinds = (("[]", f"{into}.append({value})"), ("set()", f"{into}.add({value})"), ("{}", f"{into}[{name}] = {value}"))
        empty, adds = self.pick((*kinds, ("{}", f"{into}[{value}] = {self.expression()}")))
        around = self.number(0, 3)
        inside = [adds]
        if around == 0:
            inside = [f"if {self.test()}:", f"    {adds}"]
        if around == 1:
            inside = [f"if {self.test()}:", "    continue", adds]
        return [f"{into} = {empty}", f"for {name} in xs:", *indented(inside), f"note({into})"]

    def lookup(self, depth: int, in_loop: bool) -> list[str]:
        place, key = self.pick(("known", "known", "d")), self.pick((self.atom(), self.expression()))
        value, name = self.pick((self.atom(), "[]", self.expression())), self.pick(NAMES)
        made = [f"{place} = {{1: 2, 0: 5}}"] * self.number(0, 3)
        shapes = (
            [f"if {key} not in {place}:", f"    {place}[{key}] = {value}", f"note({place})"],
            [f"if {key} in {place}:", f"    {name} = {place}[{key}]", "else:", f"    {name} = {value}"],
            ["try:", f"    {name} = {place}[{key}]", "except KeyError:", f"    {name} = {value}"],
        )
        passing = [f"for {name} in xs:", f"    yield {name}"]
        return passing if self.number(0, 9) == 0 else [*made[:1], *self.pick(shapes)]

    def moving(self, depth: int, in_loop: bool) -> list[str]:
        name = f"scale{self.number(1, 3)}"
        one, two, own = self.pick(NAMES), self.pick(NAMES), self.pick((*NAMES, "p"))
        inside = self.pick(
            (
                [f"if {own}:", f"    return {one}, {own}", f"return {own}"],
                [f"if {own}:", f"    note({one})", f"return {own}"],
                [f"if {one}:", f"    return {two}", f"return {own}"],
            )
        )
        inside = [f"nonlocal {one}", f"{one} = 3", *inside] if self.number(0, 9) == 0 and own != one else inside
        inside = [*inside, f"yield {two}"] if self.number(0, 9) == 0 else inside
        calls = (
            f"note({name}({self.atom()}))",
            f"{self.pick(NAMES)} = {name}({self.expression()})",
            f"note(sorted(xs, key={name}))",
        )
        more = (
            f"note([{name}({one}) for {two} in xs])",
            f"note(lambda: {name}(1))",
            f"keep.append({name})",
            f"note({name}(*xs))",
        )
        between = [self.simple(in_loop) for _ in range(self.number(0, 2))]
        default = "=1" if self.number(0, 3) == 0 else ""
        return [f"def {name}({own}{default}):", *indented(inside), *between, self.pick(calls), self.pick((*calls, *more))]

    def guarded(self, depth: int, in_loop: bool) -> list[str]:
        long = [self.simple(in_loop) for _ in range(self.number(4, 5))]
        short = self.pick(("return 1", "raise ValueError", *["continue", "break"] * in_loop))
        kind, test = self.number(0, 2), self.test()
        if kind == 0:
            return [f"if {test}:", *indented(long)]
        if kind == 1:
            return [f"if {test}:", *indented(long), "else:", f"    {short}"]
        return [f"if {test}:", f"    {short}", self.pick(("else:", f"elif {self.test()}:")), *indented(long)]

    def cases(self, depth: int, in_loop: bool) -> list[str]:
        subject = self.pick(("str({0})", "str({0})", "{0}", "repr({0})")).format(self.pick(NAMES))
        form = self.pick(("return ", f"{self.pick(NAMES)} = "))
        tests = [
            self.pick((f"k == '{self.number(0, 3)}'", f"k in ('{self.number(0, 3)}', '{self.number(0, 5)}')")) for _ in range(4)
        ]
        lines = [f"k = {subject}"]
        for number, test in enumerate(tests):
            lines += [f"{'elif' if number else 'if'} {test}:", f"    {form}{self.pick(('1', '-2', '(3, 4)', repr('text')))}"]
        other = self.pick(([], ["else:", f"    {form}{self.pick(('0', 'None', self.expression()))}"]))
        return [*lines, *other, *([f"return {self.atom()}"] if form == "return " and self.number(0, 1) else [])]

    def two_things(self, depth: int, in_loop: bool) -> list[str]:
        one, two = self.pick(("c", "d", "low")), self.pick(("c", "d", "high"))
        first = ["if x:", "    if x > 1:", f"        {one}.append({self.pick(('x', self.atom(), 'len(pairs)'))})"]
        second = ["if x < 3:", f"    if {self.pick(('x', self.test()))}:", f"        {two}.append(x // {self.atom()})"]
        lines = [f"{one} = []", f"{two} = []", "pairs = [1, 2, 0, 3]", "for x in pairs:", *indented(first), *indented(second)]
        return [*lines, f"note({one}, {two})"]


def shaped_program(random: Random) -> str:
    bound = [f"{name} = {number}" for number, name in enumerate(NAMES) if name not in "ab" and random.randint(0, 3)]
    return program([*bound, *Shapes(random).block(2, False)], random.choice(STYLES))


shaped_programs = st.builds(shaped_program, st.randoms(use_true_random=False))
