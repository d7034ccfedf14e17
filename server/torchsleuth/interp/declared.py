"""Shapes that the author wrote down meet the values they are written beside: names for sizes, and a record for the rules."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from torchsleuth.interp.expressions import Expressions
from torchsleuth.interp.library import records
from torchsleuth.interp.trace import DeclaredSighting, PartsDiffer
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import every_parameter, stores
from torchsleuth.syntax.parse import parse as parsed
from torchsleuth.syntax.shapes import Declared, DeclaredParts, Dimension, Written, declarations, key
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import index
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import Function, Instance, NamedResult, Tensor, Value, is_int, is_unknown
from torchsleuth.values.frames import Frame
from torchsleuth.values.join import MISSING
from torchsleuth.values.names import Names

_NO_NAMES: Mapping[str, Size] = {}


class DeclaredShapes(Expressions):
    """Declared shapes of the files that are analysed. `declared`: by path; files without any are not in it."""

    def read_declarations(self, source: SourceText, tree: ast.Module) -> None:
        found = declarations(source, tree)
        if found.statements or found.parameters or found.results or found.fields:
            self.declared[source.path] = found

    def meet_statement(self, node: ast.stmt, value: Value, frame: Frame) -> None:
        """The value of an assignment or of a return, whose shape may be written beside it."""
        found = self.declared.get(frame.path)
        if not found:
            return
        declared = found.statements.get(key(node))
        if isinstance(declared, Declared):
            self._meet(declared, value, node, frame)
        elif declared is not None and isinstance(value, tuple) and len(value) == len(declared.parts):
            for part, item in zip(declared.parts, value):
                if isinstance(part, Declared):
                    self._meet(part, item, node, frame)
        if isinstance(node, ast.Return) and frame.function is not None and self.is_checked(frame):
            result = found.results.get(key(frame.function.node))
            if result:
                self._meet_returned(result, value, node, frame)

    def meet_arguments(self, function: Function, frame: Frame) -> None:
        found = self.declared.get(function.path)
        if found:
            spec = function.node.args
            for argument in every_parameter(spec):
                declared = found.parameters.get(key(argument))
                if declared:
                    self._meet(declared, frame.names.get(argument.arg), argument, frame)

    def meet_result(self, function: Function, value: Value, frame: Frame) -> None:
        found = self.declared.get(function.path)
        declared = as_kind(found and found.results.get(key(function.node)), Declared)
        if declared is not None and not self.is_checked(frame):
            self._meet(declared, value, function.node, frame)

    def meet_fields(self, record: Instance, call: ast.Call, frame: Frame) -> None:
        """The values that a record is made with, of whose fields shapes are written. The names in them are the record's own."""
        found = self.declared.get(record.cls.path)
        if not found or not found.fields or self.class_attribute(record.cls, "__post_init__") is not MISSING:
            return
        known: dict[str, Size] = {}
        outside = Frame(self.source_of(record.cls.path, frame), Names(), Names(), caller=frame)
        for name, owner in records.fields(record.cls).items():
            annotation, value = dict(owner.annotations)[name], record.slots.get(name)
            declared = found.fields.get(key(annotation)) if owner.path == record.cls.path else None
            spec = self.resolved_spec(value.spec) if isinstance(value, Tensor) else None
            if declared is None or spec is None or spec.shape is None or not self.is_noted(call, declared, frame):
                continue
            shape = tuple(map(self._resolved_size, spec.shape))
            for part, size in zip(declared.aligned(len(shape)) or (), shape):
                if part is not None and isinstance(part.size, str) and not part.may_be_one:
                    known.setdefault(part.size, size)
            sizes = tuple((one, known[one]) for one in declared.names if one in known)
            field, made = ast.copy_location(ast.arg(name, annotation), annotation), self.site(call, frame)
            self.trace.declared.setdefault(
                (outside.path, declared.start, shape, sizes, made.span),
                DeclaredSighting(
                    declared,
                    self.site(field, outside),
                    shape,
                    sizes,
                    self._expected(declared, len(shape), known, outside),
                    self.is_general(),
                    spec.dtype,
                    made,
                ),
            )

    # -- what a contract changes ---------------------------------------------------------------------

    def is_checked(self, frame: Frame) -> bool:
        """Whether it is the function whose written contract is being checked, or the constructor of its object."""
        return False

    def is_general(self) -> bool:
        """Whether a written contract is being checked."""
        return False

    def contract_sizes(self, frame: Frame) -> Mapping[str, Size]:
        """The sizes behind the names of the contract which is being checked there."""
        return _NO_NAMES

    def contract_spreads(self, frame: Frame) -> Mapping[str, tuple[Size, ...]]:
        """The dimensions behind names of several, such as ``*batch``."""
        return {}

    def note_names(
        self, declared: Declared, aligned: tuple[Dimension | None, ...], shape: tuple[Size, ...], frame: Frame
    ) -> None:
        """Keep what the sizes of a shape are called."""

    def is_noted(self, node: ast.AST, declared: Declared, frame: Frame) -> bool:
        """Whether a value beside which a shape is written is recorded."""
        return True

    # -- the values --------------------------------------------------------------------------------------

    def _meet_returned(self, declared: Written, value: Value, node: ast.Return, frame: Frame) -> None:
        """A value that a function returns, in the run that checks its contract."""
        if isinstance(declared, Declared):
            if isinstance(value, tuple) and not isinstance(value, NamedResult) and declared.kind == "annotation":
                self._differ_in_parts(declared, node, len(value), frame)
            self._meet(declared, value, node, frame)
            return
        if isinstance(value, Tensor) and declared.stated:
            # A tensor may be unpacked as a tuple is; annotations tell them apart.
            self._differ_in_parts(declared, node, None, frame)
        if not isinstance(value, tuple):
            return
        if not declared.alike and len(value) != len(declared.parts):
            if declared.stated:
                self._differ_in_parts(declared, node, len(value), frame)
            return
        for position, item in enumerate(value):
            part = declared.parts[0 if declared.alike else position]
            match part:
                case Declared():
                    self._meet(part, item, node, frame)
                case DeclaredParts():
                    self._meet_returned(part, item, node, frame)

    def _differ_in_parts(self, declared: Written, node: ast.Return, count: int | None, frame: Frame) -> None:
        if self.is_noted(node, declared if isinstance(declared, Declared) else _NOTHING, frame):
            self.trace.parts_differ.append(PartsDiffer(self.site(node, frame), declared, count))

    def _meet(self, declared: Declared, value: Value, node: ast.AST, frame: Frame) -> None:
        if not is_unknown(value) and not isinstance(value, Tensor):
            return
        spec = self.resolved_spec(value.spec) if isinstance(value, Tensor) else None
        shape = None if spec is None else spec.shape
        sizes: tuple[tuple[str, Size], ...] = ()
        known: dict[str, Size] = {name: self._resolved_size(size) for name, size in self.contract_sizes(frame).items()}
        aligned = declared.aligned(len(shape)) if shape is not None else None
        if shape is not None and aligned is not None:
            for part, size in zip(aligned, shape):
                if part is not None and isinstance(part.size, str):
                    self.named(size, part.size)
            shape = tuple(map(self._resolved_size, shape))
            self.note_names(declared, aligned, shape, frame)
            if declared.kind == "annotation":
                bound = [
                    (part.size, size) for part, size in zip(aligned, shape) if part is not None and not part.may_be_one
                ]
                for name, size in bound:
                    if isinstance(name, str):
                        frame.sizes.setdefault(name, size)
        names = list(declared.names)
        if declared.kind == "annotation":
            known = {**frame.sizes, **known}
            sizes = tuple((name, known[name]) for name in names if name in known)
        else:
            # A global variable of the name of a size says nothing of the sizes for which a contract is checked.
            variables = [
                name for name in names if name in frame.names or (name not in known and _has_one_value(name, frame))
            ]
            found = [(name, self.resolved(self.lookup(name, frame))) for name in variables]
            known.update((name, size) for name, size in found if is_int(size) and not is_unknown(size))
            sizes = tuple((name, known[name]) for name in names if name in known)
        if self.is_noted(node, declared, frame):
            self._note(declared, spec, shape, sizes, node, frame)

    def _note(
        self,
        declared: Declared,
        spec: TensorSpec | None,
        shape: tuple[Size, ...] | None,
        sizes: tuple[tuple[str, Size], ...],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        call = None
        if isinstance(node, ast.arg) and frame.call is not None and frame.caller is not None:
            call = self.site(frame.call, frame.caller)
        checked = self.is_checked(frame)
        place = (frame.path, declared.start, shape, sizes, call and call.span, checked and key(node))
        if place in self.trace.declared:
            return
        expected = None
        dtype = None
        if spec is not None and shape is not None:
            expected = self._expected(declared, len(shape), dict(sizes), frame)
            dtype = spec.dtype
        self.trace.declared[place] = DeclaredSighting(
            declared,
            self.site(node, frame),
            shape,
            sizes,
            expected,
            checked or (call is not None and self.is_general()),
            dtype,
            call,
        )

    def _resolved_size(self, size: Size) -> Size:
        value = self.resolved(size)
        return value if is_int(value) else size

    def _expected(
        self, declared: Declared, rank: int, known: Mapping[str, Size], frame: Frame
    ) -> tuple[Size | None, ...] | None:
        """The sizes that a declared shape says, for a tensor of this rank; None where it says another rank."""
        aligned = declared.aligned(rank)
        spread = self.contract_spreads(frame).get(declared.spread_name)
        if aligned is None or (spread is not None and rank != len(declared.dims) + len(spread)):
            return None
        found = [
            None
            if part is None
            else declared_size(part, {**known, **self._passed(part, frame)} if part.passed else known)
            for part in aligned
        ]
        if spread is not None and declared.spread is not None:
            found[declared.spread : declared.spread + len(spread)] = map(self._resolved_size, spread)
        return tuple(found)

    @staticmethod
    def _passed(part: Dimension, frame: Frame) -> dict[str, Size | None]:
        """What the arguments and attributes are that are numbers in a declared size; None for those that are not known."""
        function, receiver = frame.function, as_kind(frame.receiver, Instance)
        arguments = {one.arg for one in every_parameter(function.node.args)} if function is not None else set()
        rebound = {one.id for one in index(function.node).of_type(ast.Name) if stores(one)} if function else set()
        found: dict[str, Size | None] = {}
        for name in part.passed:
            owner, _, attribute = name.rpartition(".")
            value = frame.names.get(name) if name in arguments - rebound else None
            if owner == "self" and receiver is not None:
                value = receiver.slots.get(attribute)
            found[name] = value if is_int(value) and not is_unknown(value) else None
        return found


def _has_one_value(name: str, frame: Frame) -> bool:
    """Whether a file gives a name only one value: of another one, nothing tells which it is when a function is called."""
    return sum(one.id == name and stores(one) for one in index(parsed(frame.source)).of_type(ast.Name)) < 2


_NOTHING = Declared("annotation", (), None, 0, 0)


def declared_size(part: Dimension, known: Mapping[str, Size | None]) -> Size | None:
    """The size that is declared of one dimension, None where that is not known. `known`: the sizes of names."""
    if isinstance(part.size, str):
        return known.get(part.size)
    if part.size is None and part.formula:
        try:
            return _computed(_parsed(part.formula), known)
        except ZeroDivisionError:
            return None
    return part.size


@lru_cache(maxsize=512)
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def _computed(node: ast.expr, known: Mapping[str, Size | None]) -> Size | None:
    match node:
        case ast.Constant():
            return as_kind(node.value, int)
        case ast.Name() | ast.Attribute():
            return known.get(ast.unparse(node))
        case ast.UnaryOp():
            value = _computed(node.operand, known)
            return None if value is None or not isinstance(node.op, ast.USub) else dims.negate(value)
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _computed(node.left, known), _computed(node.right, known)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Pow):
        return dims.power(left, right) if isinstance(right, int) and 0 <= right < 8 else None
    apply = _ARITHMETIC.get(type(node.op))
    return None if apply is None else apply(left, right)


_ARITHMETIC = {
    ast.Add: dims.add,
    ast.Sub: dims.subtract,
    ast.Mult: dims.multiply,
    ast.FloorDiv: dims.floor_divide,
    ast.Div: dims.floor_divide,
    ast.Mod: dims.modulo,
}
