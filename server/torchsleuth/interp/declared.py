"""Shapes that the author wrote down meet the values they are written beside: names for sizes, and a record for the rules."""

from __future__ import annotations

import ast

from torchsleuth.interp.expressions import Expressions
from torchsleuth.interp.trace import DeclaredSighting
from torchsleuth.syntax.shapes import Declared, declarations, key
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.dims import Size
from torchsleuth.values import Function, Tensor, Value, is_int, is_unknown
from torchsleuth.values.frames import Frame


class DeclaredShapes(Expressions):
    """Declared shapes of the files that are analysed. `declared`: by path; files without any are not in it."""

    def read_declarations(self, source: SourceText, tree: ast.Module) -> None:
        found = declarations(source, tree)
        if found.statements or found.parameters or found.results:
            self.declared[source.path] = found

    def meet_statement(self, node: ast.stmt, value: Value, frame: Frame) -> None:
        """The value of an assignment or of a return, whose shape may be written beside it."""
        found = self.declared.get(frame.path)
        declared = found and found.statements.get(key(node))
        if declared:
            self._meet(declared, value, node, frame)

    def meet_arguments(self, function: Function, frame: Frame) -> None:
        found = self.declared.get(function.path)
        if found:
            spec = function.node.args
            for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
                declared = found.parameters.get(key(argument))
                if declared:
                    self._meet(declared, frame.names.get(argument.arg), argument, frame)

    def meet_result(self, function: Function, value: Value, frame: Frame) -> None:
        found = self.declared.get(function.path)
        declared = found and found.results.get(key(function.node))
        if declared:
            self._meet(declared, value, function.node, frame)

    def _meet(self, declared: Declared, value: Value, node: ast.AST, frame: Frame) -> None:
        if not is_unknown(value) and not isinstance(value, Tensor):
            return
        spec = self.resolved_spec(value.spec) if isinstance(value, Tensor) else None
        shape = None if spec is None else spec.shape
        sizes: tuple[tuple[str, Size], ...] = ()
        aligned = declared.aligned(len(shape)) if shape is not None else None
        if shape is not None and aligned is not None:
            for part, size in zip(aligned, shape):
                if part is not None and isinstance(part.size, str):
                    self.named(size, part.size)
            shape = tuple(self.resolved(size) for size in shape)
            if declared.kind == "annotation":
                bound = [
                    (part.size, size) for part, size in zip(aligned, shape) if part is not None and not part.may_be_one
                ]
                for name, size in bound:
                    if isinstance(name, str):
                        frame.sizes.setdefault(name, size)
        names = [part.size for part in declared.dims if isinstance(part.size, str)]
        if declared.kind == "annotation":
            sizes = tuple((name, frame.sizes[name]) for name in names if name in frame.sizes)
        else:
            found = [(name, self.resolved(self.lookup(name, frame))) for name in names]
            sizes = tuple((name, size) for name, size in found if is_int(size))
        place = (frame.path, declared.start, shape, sizes)
        if place not in self.trace.declared:
            self.trace.declared[place] = DeclaredSighting(declared, self.site(node, frame), shape, sizes)
