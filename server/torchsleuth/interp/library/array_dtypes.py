"""NumPy's dtypes: their names, and its own promotion."""

from __future__ import annotations

from torchsleuth.tensors.spec import Native
from torchsleuth.values import Value, is_int, is_of

_INTEGERS = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
NUMERIC = ("bool", *_INTEGERS, *_UNSIGNED, *_FLOATS, *_COMPLEX)
TEXT = frozenset({"str", "object"})
ALIASES = {
    "float": "float64", "double": "float64", "single": "float32", "half": "float16", "int": "int64", "bool_": "bool",
    "long": "int64", "longlong": "int64", "uint": "uint64", "intp": "int64", "int_": "int64", "float_": "float64",
    "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32",
    "cdouble": "complex128", "csingle": "complex64", "complex": "complex128", "str_": "str", "object_": "object",
    "f": "float32", "d": "float64", "f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16",
    "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "i": "int32",
    "l": "int64", "e": "float16", "b": "int8", "B": "uint8", "?": "bool",
}  # fmt: skip

# -- dtypes ----------------------------------------------------------------------------------------


def dtype_of(value: Value) -> str | None:
    """The name of the dtype that a ``dtype=`` argument means, None where that is not known."""
    if isinstance(value, Native):
        value = value.path.removeprefix("numpy.").removeprefix("builtins.")
    if isinstance(value, str):
        name = value.lstrip("<>=|")
        name = ALIASES.get(name, name)
        return name if name in NUMERIC or name in TEXT else None
    return None


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else int("".join(letter for letter in dtype if letter.isdigit()))


def kind_of(dtype: str) -> str:
    return "bool" if dtype == "bool" else dtype.rstrip("0123456789")


def described(dtype: str, attribute: str) -> Value:
    """``dtype.name`` and its like."""
    kinds = {"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}
    return {"name": dtype, "itemsize": max(_bits(dtype) // 8, 1), "kind": kinds[kind_of(dtype)]}[attribute]


def promoted(left: str | None, right: str | None) -> str | None:
    """NumPy's result dtype of two array dtypes."""
    if left is None or right is None:
        return None
    if left == right:
        return left
    if left not in NUMERIC or right not in NUMERIC:
        return None
    kinds = (kind_of(left), kind_of(right))
    if "bool" in kinds:
        return right if kinds[0] == "bool" else left
    if kinds[0] == kinds[1]:
        return max(left, right, key=_bits)
    if "complex" in kinds or "float" in kinds:
        wanted = 0
        for dtype, kind in zip((left, right), kinds):
            bits = _bits(dtype)
            if kind == "complex":
                wanted = max(wanted, bits // 2)
            elif kind == "float":
                wanted = max(wanted, bits)
            else:
                wanted = max(wanted, 16 if bits == 8 else 32 if bits == 16 else 64)
        return f"complex{max(wanted, 32) * 2}" if "complex" in kinds else f"float{wanted}"
    signed, unsigned = (left, right) if kinds[0] == "int" else (right, left)
    if _bits(signed) > _bits(unsigned):
        return signed
    return "float64" if _bits(unsigned) == 64 else f"int{_bits(unsigned) * 2}"


def floating(dtype: str | None) -> str | None:
    """The result dtype of sqrt and its like."""
    if dtype is None or dtype not in NUMERIC:
        return None
    if kind_of(dtype) in ("float", "complex"):
        return dtype
    return {1: "float16", 8: "float16", 16: "float32"}.get(_bits(dtype), "float64")


def summed(dtype: str | None) -> str | None:
    if dtype is None or dtype not in NUMERIC:
        return None
    return {"bool": "int64", "int": "int64", "uint": "uint64"}.get(kind_of(dtype), dtype)


def python_kind(value: Value) -> str | None:
    """The kind of number that a Python scalar is: bool, int, float or complex."""
    if is_of(value, bool):
        return "bool"
    if is_int(value):
        return "int"
    if is_of(value, float):
        return "float"
    return "complex" if isinstance(value, complex) else None


def weak(dtype: str | None, kind: str) -> str | None:
    """The result dtype of an array and a Python scalar."""
    if dtype is None or dtype not in NUMERIC:
        return None
    order = ("bool", "uint", "int", "float", "complex")
    own, given = order.index(kind_of(dtype)), order.index(kind)
    if own >= given or (kind == "int" and own > 0):
        return dtype
    if kind != "complex":
        return of_python(kind)
    return {"float16": "complex64", "float32": "complex64"}.get(dtype, "complex128")


def of_python(kind: str) -> str:
    return {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}[kind]
