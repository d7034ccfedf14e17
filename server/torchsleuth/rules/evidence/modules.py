"""Shared by the rules about modules: whether one has something to train, and names for library classes in a file."""

from __future__ import annotations

from torchsleuth.interp.library.hierarchy import descendants, has_own_parameters
from torchsleuth.rules.rule import Analysis
from torchsleuth.schema import Edit
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.values import Instance, LibraryModule, Site, Tensor, Value, is_native


def trainable(module: Value) -> bool:
    """Whether some parameter in the module is known to require grad."""
    for part in descendants(module):
        match part:
            case LibraryModule() if part.slots["requires_grad"] is True and has_own_parameters(part):
                return True
            case Instance():
                held = part.slots.values()
                if any(value.parameter and value.spec.requires_grad for value in of_kind(held, Tensor)):
                    return True
    return False


def wholly_frozen(module: Value) -> bool:
    """Whether the module has parameters, and none of them is to learn."""
    grads: list[object] = []
    for part in descendants(module):
        match part:
            case LibraryModule() if has_own_parameters(part):
                grads.append(part.slots["requires_grad"])
            case Instance():
                grads += [one.spec.requires_grad for one in of_kind(part.slots.values(), Tensor) if one.parameter]
    return bool(grads) and all(one is False for one in grads)


def named(analysis: Analysis, site: Site, path: str) -> tuple[str, tuple[Edit, ...]]:
    """How something of a library can be written at a place, and the import that this takes."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        parent, rest = ".".join(parts[:count]), parts[count:]
        for scope in (site.scene.names, site.scene.globals):
            for known, value in scope.items():
                if is_native(value, parent):
                    return ".".join([str(known), *rest]), ()
    source = site.source
    return path, edits.add_import(source, analysis.tree(site.span.path), f"import {parts[0]}")
