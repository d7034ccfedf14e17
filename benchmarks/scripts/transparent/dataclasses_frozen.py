"""Frozen dataclasses, named tuples, enumerations, typed dictionaries and slots."""
import collections
import dataclasses
import enum
import functools
import typing


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = max(3, 4)
    names: tuple = dataclasses.field(default_factory=lambda: tuple(sorted("ba")))
    extra: "typing.Optional[Config]" = None

    def __post_init__(self):
        object.__setattr__(self, "area", self.width**2)


class Color(enum.Enum):
    RED = enum.auto()
    BLUE = str("b").upper()

    @property
    def low(self):
        return self.name.lower()


class Point(typing.NamedTuple):
    x: int
    y: int = abs(-2)


class Typed(typing.TypedDict, total=bool(0)):
    a: int


class Slotted:
    __slots__ = tuple("ab") + ("c",)

    def __init_subclass__(cls, **kwargs):
        print("subclass", cls.__name__, kwargs)

    def __set_name__(self, owner, name):
        print(name)


class Child(Slotted, flag=len("x")):
    descriptor = Slotted()

    @functools.cached_property
    def p(self):
        return self.q()

    @staticmethod
    def q(__private=1):
        return __private


print(Config(), Config(5).area, Color.BLUE, Color("B").low, Point(1), Typed.__annotations__, typing.get_type_hints(Config))
print(Child().p, collections.namedtuple("N", "a b")(1, 2), dataclasses.fields(Config)[1].name, Child.__qualname__, vars(Color)["low"].fget.__qualname__)
try:
    Config().width = 2
except dataclasses.FrozenInstanceError as error:
    print(error)
