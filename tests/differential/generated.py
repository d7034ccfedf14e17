"""Programs made by Hypothesis: statements over variables of a few types, nested as training code nests them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[object]], object]
NAMES = {"int": "ijk", "str": "st", "list": "xyz", "dict": "de", "bool": "pq", "tuple": "uv", "set": "ab"}


@dataclass
class Maker:
    """Writes one program. `bound`: the variables that are bound for certain, with their types."""

    draw: Callable[..., object]
    bound: dict[str, str] = field(default_factory=dict)
    functions: int = 0

    def pick(self, options: list[str]) -> str:
        return str(self.draw(st.sampled_from(options)))

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))  # type: ignore[call-overload]

    def of(self, kind: str, depth: int) -> str:
        """An expression of a type."""
        names = [name for name, of in self.bound.items() if of == kind]
        if names and (depth <= 0 or self.number(0, 2) == 0):
            return self.pick(names)
        return getattr(self, f"_{kind}")(depth)  # type: ignore[no-any-return]

    def _int(self, depth: int) -> str:
        if depth <= 0:
            return str(self.number(-5, 9))
        one, two = self.of("int", depth - 1), self.of("int", depth - 1)
        xs = self.of("list", depth - 1)
        forms = [
            f"{one} + {two}",
            f"({one} - {two}) * 2",
            f"{one} // 3",
            f"{one} % 4",
            f"abs({one})",
            f"len({xs})",
            f"sum({xs})",
            f"max({xs}, default={two})",
            f"({xs} or [0])[-1]",
            f"{self.of('dict', depth - 1)}.get({self.of('str', depth - 1)}, {two})",
            f"len({self.of('str', depth - 1)})",
            f"({one} if {self.of('bool', depth - 1)} else {two})",
            f"len(set({xs}))",
            f"{self.of('tuple', depth - 1)}[0]",
            f"{xs}.count({one})",
            f"divmod({one}, 3)[1]",
            f"round({one} / 4)",
            f"({one} & 7) ^ {two}",
        ]
        return self.pick(forms)

    def _str(self, depth: int) -> str:
        if depth <= 0:
            return repr(self.pick(["a", "bc", "x-y", "", "Hi", "3"]))
        one = self.of("str", depth - 1)
        forms = [
            f"{one} + {self.of('str', depth - 1)}",
            f"{one}.upper()",
            f"{one}[::-1]",
            f"str({self.of('int', depth - 1)})",
            f"f'{{{self._name('int')}:>4}}|'" if self._name("int") else one,
            f"'-'.join(map(str, {self.of('list', depth - 1)}))",
            f"{one}.replace('a', 'o')",
            f"'%d' % {self.of('int', 0)}",
            f"{one} * 2",
            f"repr({self.of('tuple', depth - 1)})",
            f"{one}.partition('-')[0]",
        ]
        return self.pick(forms)

    def _name(self, kind: str) -> str:
        return next((name for name, of in self.bound.items() if of == kind), "")

    def _list(self, depth: int) -> str:
        if depth <= 0:
            return str([self.number(-3, 6) for _ in range(self.number(0, 4))])
        xs = self.of("list", depth - 1)
        forms = [
            f"sorted({xs})",
            f"{xs}[1:]",
            f"{xs}[::-1]",
            f"{xs} + {self.of('list', depth - 1)}",
            f"[n * 2 for n in {xs} if n > {self.of('int', 0)}]",
            f"list(range({self.number(0, 5)}))",
            f"[{self.of('int', depth - 1)}, *{xs}]",
            f"list({self.of('dict', depth - 1)}.values())",
            f"sorted({xs}, key=lambda n: -n)",
            f"list(map(abs, {xs}))",
            f"list({self.of('tuple', depth - 1)})",
            f"[len(w) for w in {self.of('str', depth - 1)}.split('-')]",
            f"list(reversed({xs}))",
            f"sorted(set({xs}))",
            f"[i + n for i, n in enumerate({xs})]",
            f"{xs}.copy()",
        ]
        return self.pick(forms)

    def _dict(self, depth: int) -> str:
        if depth <= 0:
            return str({key: self.number(0, 5) for key in ["a", "bc", "x"][: self.number(0, 3)]})
        forms = [
            f"{{**{self.of('dict', depth - 1)}, 'k': {self.of('int', depth - 1)}}}",
            f"{{str(n): n for n in {self.of('list', depth - 1)}}}",
            f"dict(zip('abc', {self.of('list', depth - 1)}))",
            f"{{key: n + 1 for key, n in {self.of('dict', depth - 1)}.items()}}",
            f"{self.of('dict', depth - 1)} | {self.of('dict', depth - 1)}",
        ]
        return self.pick(forms)

    def _bool(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(["True", "False"])
        forms = [
            f"{self.of('int', depth - 1)} < {self.of('int', depth - 1)}",
            f"{self.of('int', depth - 1)} in {self.of('list', depth - 1)}",
            f"not {self.of('bool', depth - 1)}",
            f"({self.of('bool', depth - 1)} and {self.of('bool', depth - 1)})",
            f"{self.of('list', depth - 1)} == {self.of('list', depth - 1)}",
            f"any(n > 2 for n in {self.of('list', depth - 1)})",
            f"{self.of('str', depth - 1)}.startswith('a')",
            f"isinstance({self.of('int', depth - 1)}, (str, int))",
            f"0 <= {self.of('int', depth - 1)} < 5",
            f"bool({self.of('dict', depth - 1)})",
        ]
        return self.pick(forms)

    def _tuple(self, depth: int) -> str:
        if depth <= 0:
            return f"({self.number(0, 4)}, {self.number(0, 4)})"
        return self.pick(
            [
                f"({self.of('int', depth - 1)}, {self.of('int', depth - 1)})",
                f"{self.of('tuple', depth - 1)}[::-1]",
                f"divmod({self.of('int', depth - 1)}, 5)",
            ]
        )

    def _set(self, depth: int) -> str:
        if depth <= 0:
            return f"set({self.of('list', 0)})"
        return f"{self.of('set', depth - 1)} {self.pick(['|', '&', '-', '^'])} {self.of('set', depth - 1)}"

    # -- statements ----------------------------------------------------------------------------------

    def assign(self, pad: str, kinds: tuple[str, ...] = tuple(NAMES)) -> list[str]:
        kind = self.pick(list(kinds))
        value = self.of(kind, 2)
        name = self.pick(list(NAMES[kind]))
        self.bound[name] = kind
        return [f"{pad}{name} = {value}"]

    def change(self, pad: str) -> list[str]:
        """A statement that changes what is bound."""
        names = [name for name, kind in self.bound.items() if kind in ("int", "list", "dict", "str", "set")]
        if not names:
            return self.assign(pad)
        name = self.pick(names)
        forms = {
            "int": [f"{name} += {self.of('int', 1)}", f"{name} -= 2", f"{name} *= 2"],
            "str": [f"{name} += {self.of('str', 0)}"],
            "list": [
                f"{name}.append({self.of('int', 1)})",
                f"{name}.extend({self.of('list', 0)})",
                f"{name}[:2] = {self.of('list', 0)}",
                f"{name}.insert(1, {self.of('int', 0)})",
                f"{name}.sort(reverse=True)",
                f"del {name}[1:2]",
                f"{name} += {self.of('list', 0)}",
                f"{name}.reverse()",
            ],
            "dict": [
                f"{name}[{self.of('str', 0)}] = {self.of('int', 1)}",
                f"{name}.update({self.of('dict', 0)})",
                f"{name}.setdefault('n', {self.of('int', 0)})",
                f"{name}.pop('a', None)",
            ],
            "set": [f"{name}.add({self.of('int', 0)})", f"{name} |= {{1, 2}}", f"{name}.discard(1)"],
        }[self.bound[name]]
        return [f"{pad}{self.pick(forms)}"]

    def block(self, pad: str, depth: int) -> list[str]:
        """What stands under a condition: names that are bound there are not bound for certain."""
        before = dict(self.bound)
        lines = [line for _ in range(self.number(1, 2)) for line in self.statement(pad, depth - 1)]
        self.bound = {name: kind for name, kind in self.bound.items() if before.get(name) == kind}
        return lines

    def statement(self, pad: str = "", depth: int = 2) -> list[str]:
        simple = [self.assign, self.change, self.change]
        nested = [self._if, self._for, self._while, self._try, self._function, self._generator] if depth > 0 else []
        chosen = self.number(0, len(simple) + len(nested) - 1)
        if chosen < len(simple):
            return simple[chosen](pad)
        return nested[chosen - len(simple)](pad, depth)

    def _if(self, pad: str, depth: int) -> list[str]:
        lines = [f"{pad}if {self.of('bool', 2)}:", *self.block(pad + "    ", depth)]
        if self.number(0, 1):
            lines += [f"{pad}else:", *self.block(pad + "    ", depth)]
        return lines

    def _for(self, pad: str, depth: int) -> list[str]:
        source = self.of("list", 1)
        lines = [f"{pad}for n{len(pad)} in {source}[:4]:"]
        if self.number(0, 2) == 0:
            lines += [f"{pad}    if n{len(pad)} > 3:", f"{pad}        {self.pick(['break', 'continue'])}"]
        return lines + self.block(pad + "    ", depth)

    def _while(self, pad: str, depth: int) -> list[str]:
        counter = f"c{len(pad)}"
        body = self.block(pad + "    ", depth)
        return [
            f"{pad}{counter} = {self.number(0, 4)}",
            f"{pad}while {counter} > 0:",
            *body,
            f"{pad}    {counter} -= 1",
        ]

    def _try(self, pad: str, depth: int) -> list[str]:
        risky = self.pick(
            [
                f"k = int({self.of('str', 1)})",
                f"k = {self.of('list', 1)}[2]",
                f"k = {self.of('dict', 1)}['a']",
                f"k = 10 // {self.of('int', 1)}",
                "raise KeyError('k')",
                "k = next(iter([]))",
            ]
        )
        error = self.pick(["ValueError", "(IndexError, KeyError)", "Exception", "ArithmeticError", "LookupError"])
        lines = [f"{pad}try:", f"{pad}    {risky}"]
        if error != "Exception":
            lines += [f"{pad}except {error}:", *self.block(pad + "    ", depth)]
        lines += [f"{pad}except Exception as error:", f"{pad}    k = type(error).__name__"]
        if self.number(0, 1):
            lines += [f"{pad}finally:", *self.block(pad + "    ", depth)]
        self.bound.pop("k", None)
        return lines

    def _function(self, pad: str, depth: int) -> list[str]:
        self.functions += 1
        name = f"f{self.functions}"
        outside, self.bound = self.bound, {"n": "int", "xs": "list"}
        body = [line for _ in range(self.number(1, 2)) for line in self.statement(pad + "    ", depth - 1)]
        result = self.of(self.pick(["int", "list", "str", "tuple"]), 1)
        self.bound = outside
        call = f"{name}({self.of('int', 1)}, {self.of('list', 1)})"
        return [
            f"{pad}def {name}(n, xs):",
            *body,
            f"{pad}    return {result}",
            f"{pad}r{self.functions} = {call}",
        ]

    def _generator(self, pad: str, depth: int) -> list[str]:
        self.functions += 1
        name, made = f"g{self.functions}", f"h{self.functions}"
        return [
            f"{pad}def {name}(n):",
            f"{pad}    while True:",
            f"{pad}        got = yield n",
            f"{pad}        n += 1 if got is None else got",
            f"{pad}{made} = {name}({self.of('int', 1)})",
            f"{pad}r{self.functions} = [next({made}), {made}.send({self.number(1, 3)}), next({made})]",
        ]


@st.composite
def programs(draw: Callable[..., object]) -> str:
    """The text of a program of some lines."""
    maker = Maker(draw)
    lines: list[str] = []
    for _ in range(maker.number(2, 6)):
        lines += maker.statement()
    return "\n".join(lines) + "\n"
