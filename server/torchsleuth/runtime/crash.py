"""The report of an uncaught exception: the user's frames, the tensors at the failing line, the layer that failed.

Everything is read from the frames of the traceback; nothing of the user's is executed.
"""

from __future__ import annotations

import ast
import os
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any

from torchsleuth.runtime.anomalies import forward_of
from torchsleuth.runtime.graphs import Graph
from torchsleuth.runtime.holders import holders, is_out_of_memory
from torchsleuth.runtime.recorder import Recorder
from torchsleuth.runtime.registry import ConstructorRegistry, code_span, file_of
from torchsleuth.runtime.rewrite import Span, span_of
from torchsleuth.runtime.unwrapped import Place, Told, innermost, place_span, told, worker_of
from torchsleuth.runtime.values import describe_value, evaluate, is_module, is_tensor

MAX_USER_FRAMES = 12
MAX_CALLS = 8
MAX_NAMES = 400
"""Names of parameters that are told."""
MAX_OPERANDS = 24
MAX_NAMED = 16
"""Tensors among the variables of the innermost frame, and among the attributes of its ``self``."""
MAX_LOOKED_AT = 2_000
"""Objects that are looked at in search of the one that a message speaks of."""
MAX_FILES = 24
MAX_TEXT_READ = 200_000
"""Bytes of a file without a frame, beyond which it is not told of."""
_TRACED = {"kind": "tensor", "type": "Tensor", "dtype": "float32", "device": "cpu", "requires_grad": False}
_OF_SIZES = re.compile(r"must match the size of tensor|Sizes of tensors must match|using a target size")
_DISPATCHING = ("__torch_function__", "__torch_dispatch__")
Entry = tuple[FrameType, int, "Span | None"]


class CrashReporter:
    """Turns an exception into the ``crash`` event."""

    def __init__(
        self, owns: Callable[[str], bool], registry: ConstructorRegistry, recorder: Recorder, texts: dict[str, bytes]
    ) -> None:
        self._owns = owns
        self._registry = registry
        self._recorder = recorder
        self._texts = texts
        """Source of each of the user's files as it was when it was loaded."""
        self._environment = dict(os.environ)
        self._trees: dict[str, ast.AST] = {}

    def report(self, error: BaseException, traceback: TracebackType | None) -> dict[str, Any]:
        """A JSON-able description; never raises for a strange object in a frame."""
        around = list(_entries(traceback))
        origin = innermost(error, self.is_of_torch)
        entries = around if origin is error else _joined(around, list(_entries(origin.__traceback__)))
        user = [index for index, entry in enumerate(entries) if self._owns(entry[0].f_code.co_filename)]
        while len(user) > 1 and self._hands_over(entries[user[-1]]):
            user.pop()
        last = user[-1] if user else -1
        library = entries[last + 1 :]
        found: dict[str, Any] = {
            "type": type(origin).__name__,
            "message": _text(origin),
            "frames": [self._user_frame(entries, index, index == last) for index in reversed(user[-MAX_USER_FRAMES:])],
            "library": _place(library[-1]) if library else None,
            "calls": [_call(entry) for entry in reversed(library[-MAX_CALLS:])],
            "module": self._module(entries, last),
            "worker": False,
            "sample": _sample(entries),
        }
        if "out of bounds" in found["message"]:
            found["producer"] = self._producer(library, entries)
        if "does not require grad" in found["message"]:
            found["frozen"] = self._frozen()
        if "is not JSON serializable" in found["message"] and user:
            written = [entry[0].f_locals.get("obj") for entry in library[:1]]
            found["keys"] = _keys_to([*written, *entries[last][0].f_locals.values()], found["message"])
        if _OF_SIZES.search(found["message"]) and user:
            found["resized"] = self._resized(entries[last])
        if is_out_of_memory(found["message"]):
            found["holders"] = holders([entries[index][0] for index in reversed(user[-MAX_USER_FRAMES:])])
        forward = forward_of(found["message"], [entry[0] for entry in library])
        if (hidden := told(origin, found["message"], forward)) is not None:
            self._take_over(found, hidden)
        paths = {frame["path"] for frame in found["frames"]}
        constructor = (found["module"] or {}).get("constructor") or {"frames": []}
        paths |= {frame["path"] for frame in constructor["frames"]}
        found["loaded"] = self._loaded(paths)
        found["sources"] = {path: self._source(path) for path in (*paths, *found["loaded"])}
        found["environment"] = self._variables()
        return found

    def _loaded(self, told: set[str]) -> list[str]:
        """The user's other files that were loaded: what made the values of a crash may stand in one that has no frame in it."""
        others = [path for path, text in list(self._texts.items()) if path not in told and len(text) <= MAX_TEXT_READ]
        return others[:MAX_FILES]

    def is_of_torch(self, error: BaseException) -> bool:
        """Whether an exception that went through the user's code comes from torch, or from another process, rather than
        from a ``raise`` of the user's or a look-up that failed."""
        entries = list(_entries(error.__traceback__))
        if isinstance(getattr(error.__cause__, "tb", None), str):
            return True
        if not any(self._owns(entry[0].f_code.co_filename) for entry in entries):
            return False
        frame, line, span = entries[-1]
        path = file_of(frame.f_code)
        if not self._owns(path):
            return "/torch/" in path.replace("\\", "/")
        if not isinstance(error, RuntimeError | ValueError | IndexError | TypeError):
            return False
        statement = _statement(self._tree(path), line)
        if isinstance(statement, ast.Raise | ast.Assert):
            return False
        if type(error) is RuntimeError:
            return True
        operands = self._operands((frame, line, span))
        return any(operand["value"]["kind"] in ("tensor", "module") for operand in operands)

    def _hands_over(self, entry: Entry) -> bool:
        """Whether the user's own dispatch of operators has only called the operator, or that of its base class."""
        frame, line, span = entry
        code = frame.f_code
        if code.co_name not in _DISPATCHING:
            return False
        calls = (node for node in ast.walk(self._tree(file_of(code))) if isinstance(node, ast.Call))
        calling = [node.func for node in calls if span_of(node) == span or span is None and node.lineno == line]
        given = code.co_varnames[: code.co_argcount]
        return any(getattr(one, "attr", "") == code.co_name or getattr(one, "id", "") in given for one in calling)

    def _variables(self) -> list[tuple[str, str]]:
        """The environment as it was at first, and as it is: what the report must not hold (see `secrets`)."""
        now = os.environ if type(os.environ) is os._Environ else {}
        return list(dict.fromkeys((*self._environment.items(), *now.items())))

    def _source(self, path: str) -> str | None:
        import io
        import tokenize

        raw = self._texts.get(path)
        try:
            if raw is None:
                if not os.path.isfile(path):  # code may call itself after anything, a pipe too
                    return None
                with tokenize.open(path) as file:
                    return file.read()
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            return raw.decode(encoding)
        except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
            return None

    def _user_frame(self, entries: list[Entry], index: int, innermost: bool) -> dict[str, Any]:
        """`direct`: what the next of the user's frames calls is this one, not something that called it in its turn. `named`: the
        tensors that the innermost one had in variables, and in attributes of its ``self``."""
        entry = frame, line, span = entries[index]
        if span is not None:
            entry = (frame, line, _header(self._tree(file_of(frame.f_code)), span))
        around = ((code.co_filename, code.co_name) for code in (item[0].f_code for item in reversed(entries[:index])))
        told = {**_place(entry), "operands": self._operands(entry), "direct": self._is_direct(around)}
        return {**told, "named": _named(frame)} if innermost else told

    def _is_direct(self, around: Iterable[tuple[str, str]]) -> bool:
        """`around`: the files and functions of the frames around one, the nearest first."""
        return next((self._owns(path) for path, function in around if not _passes_on(path, function)), False)

    def _tree(self, path: str) -> ast.AST:
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self._texts.get(path) or self._source(path) or "")
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = ast.Module([], [])
        return self._trees[path]

    def _operands(self, entry: Entry) -> list[dict[str, Any]]:
        """Names, attributes, indexings and recorded sub-expressions inside the failing expression (before Python 3.11:
        inside the failing statement), with their values."""
        frame, line, span = entry
        found: list[dict[str, Any]] = []
        path = file_of(frame.f_code)
        for node in _expressions(self._tree(path), line, span):
            if len(found) == MAX_OPERANDS:
                break
            known, value = evaluate(node, frame)
            if known and not callable_only(value):
                described = describe_value(value)
            elif (
                not known
                and span_of(node) != span
                and (last := self._recorder.last_seen(path, span_of(node))) is not None
            ):
                described = {"kind": "tensor", "type": "Tensor", **last}
            else:
                continue
            found.append({"span": span_of(node), "value": described})
        return found

    def _module(self, entries: list[Entry], innermost: int) -> dict[str, Any] | None:
        """The module whose code raised: the innermost library module below the user's last frame, else the user's own
        module that was running there."""
        for index in [*range(len(entries) - 1, innermost, -1), innermost]:
            if index < 0:
                continue
            module = _own_module(entries[index][0])
            if module is not None:
                return self._describe_module(module, entries, index > innermost)
        return None

    def _describe_module(self, module: Any, entries: list[Entry], library: bool) -> dict[str, Any]:
        held = module.__dict__
        attributes = {
            name: value if not isinstance(value, tuple) else list(value)
            for name, value in held.items()
            if name != "training" and not name.startswith("_") and _is_simple(value)
        }
        own = {**held.get("_parameters", {}), **held.get("_buffers", {})}
        tensors = {name: describe_value(value) for name, value in own.items() if is_tensor(value)}
        return {
            "type": type(module).__name__,
            "library": library,
            "path": module_path(module, [entry[0] for entry in entries]),
            "training": bool(held.get("training")),
            "attributes": attributes,
            "tensors": dict(list(tensors.items())[:8]),
            "parameters": _parameters(type(module)),
            "inputs": _forward_inputs(module, entries),
            "constructor": self._registry.constructor(module),
        }

    def _frozen(self) -> list[str]:
        """The names of the parameters of the largest model, if there is none in any layer that takes a gradient."""
        modules = [module for module in self._registry.alive() if "_parameters" in module.__dict__]
        own = [weight for module in modules for weight in _weights(module).values() if weight is not None]
        if not own or any(weight.requires_grad for weight in own):
            return []
        return max(([name for name, _ in module.named_parameters()] for module in modules), key=len)[:MAX_NAMES]

    def _resized(self, entry: Entry) -> list[dict[str, Any]]:
        """For the variables of the failing expression: the last convolution behind each that changed the size, with where it was made."""
        frame, line, span = entry
        names = [
            node.id
            for node in _expressions(self._tree(file_of(frame.f_code)), line, span)
            if isinstance(node, ast.Name)
        ]
        found = []
        for name in dict.fromkeys(names):
            value: Any = frame.f_locals.get(name)
            graph = Graph(value.grad_fn) if is_tensor(value) and value.grad_fn is not None else None
            weights = (
                (_weight_of(node.function) for node in graph.nodes if _resizes(node)) if graph is not None else iter(())
            )
            weight = next(weights, None)
            makers = [
                module
                for module in self._registry.alive()
                if weight is not None and _weights(module).get("weight") is weight
            ]
            if len(makers) == 1 and (made := self._registry.constructor(makers[0])) is not None:
                found.append({"name": name, "type": type(makers[0]).__name__, "constructor": made})
        return found[:2]

    def _producer(self, library: list[Entry], entries: list[Entry]) -> dict[str, Any] | None:
        """The layer that made the input of the function that failed."""
        for frame, _, _ in library:
            made: Any = frame.f_locals.get("input")
            if is_tensor(made):
                makers = [module for module in self._registry.alive() if _weights(module) and _made_by(made, module)]
                if len(makers) == 1:
                    return self._describe_module(makers[0], entries, True)
        return None

    def _take_over(self, found: dict[str, Any], hidden: Told) -> None:
        """The error that a message tells of, and the user's places in it, instead of the one that brought it here."""
        around = [(place.path, place.function) for place in hidden.places]
        frames = [
            {
                "path": os.path.normpath(place.path),
                "line": place.line,
                "span": self._marked(place),
                "function": place.function,
                "direct": self._is_direct(reversed(around[:index])),
            }
            for index, place in enumerate(hidden.places)
            if self._owns(place.path)
        ]
        if not frames and not hidden.worker:
            return
        if hidden.worker:
            found["worker"] = True
            found["worker_number"] = worker_of(found["message"])
        found["module"] = None
        found["type"], found["message"] = hidden.type, hidden.message
        found["frames"] = [{**frame, "operands": []} for frame in reversed(frames)] + found["frames"]
        if frames and hidden.shapes:
            found["frames"][0]["operands"] = self._traced(found["frames"][0], hidden.shapes)
        if hidden.places and not self._owns(hidden.places[-1].path):
            last = hidden.places[-1]
            found["library"] = {"path": last.path, "line": last.line, "span": None, "function": last.function}
            found["calls"] = [{**found["library"], "owner": None, "inputs": {}}]

    def _traced(self, frame: dict[str, Any], shapes: tuple[tuple[int, ...], ...]) -> list[dict[str, Any]]:
        """The operands of an expression, with the shapes that a compiler traced it with."""
        span = frame["span"] and tuple(frame["span"])
        for node in ast.walk(self._tree(frame["path"])):
            if isinstance(node, ast.BinOp | ast.Call) and span_of(node) == span:
                owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
                operands = [node.left, node.right] if isinstance(node, ast.BinOp) else list(node.args)
                if len(operands) + 1 == len(shapes) and owner is not None:
                    operands = [owner, *operands]
                if len(operands) == len(shapes):
                    return [
                        {"span": span_of(part), "value": {**_TRACED, "shape": list(shape)}}
                        for part, shape in zip(operands, shapes)
                    ]
        return []

    def _marked(self, place: Place) -> Span | None:
        """The expression that is marked, or that is called by what is marked."""
        span = place_span(place, self._source(place.path) or "")
        if span is None:
            return None
        spans = {span_of(node): node for node in ast.walk(self._tree(place.path)) if isinstance(node, ast.expr)}
        for node in spans.values():
            if isinstance(node, ast.Call) and span_of(node.func) == span:
                return span_of(node)
        if span in spans:
            return span
        # The compiler marks lines to their end, comments included.
        inside = [known for known in spans if known[:2] == span[:2] and known[2:] <= span[2:]]
        return max(inside, key=lambda known: known[2:], default=span)


def _named(frame: FrameType) -> dict[str, Any]:
    if frame.f_locals is frame.f_globals:
        return {}
    held = list(frame.f_locals.items())
    try:
        own = object.__getattribute__(frame.f_locals.get("self"), "__dict__")
    except AttributeError:
        own = {}
    tensors = [(name, value) for name, value in held if is_tensor(value)][:MAX_NAMED]
    kept = [*own.items(), *(own.get("_buffers") or {}).items(), *(own.get("_parameters") or {}).items()]
    tensors += [(f"self.{name}", value) for name, value in kept if is_tensor(value)][:MAX_NAMED]
    return {name: describe_value(value) for name, value in tensors}


def _resizes(node: Any) -> bool:
    """Whether a function of the graph is a convolution whose result has other sizes than what it was given."""
    if not node.name.startswith("ConvolutionBackward"):
        return False
    function, weight = node.function, _weight_of(node.function)
    if weight is None or weight.dim() < 3:
        return False
    if function._saved_transposed or any(step != 1 for step in function._saved_stride):
        return True
    sizes = zip(weight.shape[2:], function._saved_padding, function._saved_dilation)
    return any(2 * padding != dilation * (size - 1) for size, padding, dilation in sizes)


def _weight_of(function: Any) -> Any:
    """The parameter that a convolution was computed with, as its graph has it."""
    leaf = function.next_functions[1][0] if len(function.next_functions) > 1 else None
    return getattr(leaf, "variable", None)


def _keys_to(values: list[Any], text: str) -> list[str]:
    """The keys that lead to the object of the type that a message names, through dictionaries and lists in one of these values."""
    kind = text.partition("Object of type ")[2].split(" ")[0]
    waiting: list[tuple[Any, list[str]]] = [(value, []) for value in values]
    for _ in range(MAX_LOOKED_AT):
        if not waiting:
            break
        value, keys = waiting.pop(0)
        if type(value).__name__ == kind and keys:
            return keys
        if type(value) in (dict, OrderedDict, defaultdict):
            waiting += [
                (part, [*keys, key] if type(key) is str else keys) for key, part in list(value.items())[:MAX_NAMED]
            ]
        elif type(value) in (list, tuple):
            waiting += [(part, keys) for part in value[:MAX_NAMED]]
    return []


def _weights(module: Any) -> dict[str, Any]:
    return module.__dict__.get("_parameters") or {}


def _made_by(value: Any, module: Any) -> bool:
    """Whether a value comes right out of a layer, by its graph; without one, whether it may, by its size."""
    if value.grad_fn is None:
        weight = _weights(module).get("weight")
        if weight is None or weight.dim() < 2 or value.dim() < 2:
            return False
        return bool(weight.shape[0] == value.shape[1])
    graph = Graph(value.grad_fn)
    node = graph.node(value.grad_fn)
    weight = graph.layer_before(node) if node is not None else None
    return weight is not None and any(parameter is weight for parameter in _weights(module).values())


def _passes_on(path: str, function: str) -> bool:
    """Whether a function calls another one with the arguments that it was called with: that of a module, of a wrapper for ranks,
    or of a decorator."""
    path = path.replace("\\", "/")
    of_ranks = path.endswith("torch/nn/parallel/distributed.py") and function in ("forward", "_run_ddp_forward")
    of_module = path.endswith("torch/nn/modules/module.py") and function in (
        "_wrapped_call_impl",
        "_call_impl",
        "inner",
    )
    return of_module or of_ranks or path.endswith("torch/utils/_contextlib.py")


def callable_only(value: Any) -> bool:
    """Functions, classes and imported modules: no operands."""
    return not is_module(value) and not is_tensor(value) and (callable(value) or type(value).__name__ == "module")


def _text(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception:
        return ""


def _entries(traceback: TracebackType | None) -> Iterator[Entry]:
    while traceback is not None:
        frame = traceback.tb_frame
        yield frame, traceback.tb_lineno, code_span(frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next


def _sample(entries: list[Entry]) -> int | None:
    """The index of the sample that a loader was reading."""
    for frame, _, _ in reversed(entries):
        if frame.f_code.co_filename.replace("\\", "/").endswith("torch/utils/data/_utils/fetch.py"):
            index = frame.f_locals.get("idx")
            if type(index) is int:
                return index
    return None


def _joined(around: list[Entry], inside: list[Entry]) -> list[Entry]:
    """The frames of an exception that was caught, below those that led to where it was caught."""
    for index, entry in enumerate(around):
        if inside and entry[0] is inside[0][0]:
            return [*around[:index], *inside]
    return inside or around


def _place(entry: Entry) -> dict[str, Any]:
    frame, line, span = entry
    code = frame.f_code
    return {"path": file_of(code), "line": line, "span": span, "function": code.co_name}


def _call(entry: Entry) -> dict[str, Any]:
    """A frame of a library: its function and the tensors (or other operands) among its locals."""
    frame, _, _ = entry
    inputs = {
        name: describe_value(value)
        for name, value in list(frame.f_locals.items())[:MAX_OPERANDS]
        if is_tensor(value) or isinstance(value, int | float | str | tuple | list)
    }
    owner = frame.f_locals.get("self")
    return {**_place(entry), "owner": type(owner).__name__ if is_module(owner) else None, "inputs": inputs}


def _expressions(tree: ast.AST, line: int, span: Span | None) -> Iterator[ast.expr]:
    """Expressions inside a span, or, without one, inside the innermost statement at a line."""
    within = span or _statement_span(tree, line)
    if within is None:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
            inner = span_of(node)
            if within[:2] <= inner[:2] and inner[2:] <= within[2:]:
                yield node


def _header(tree: ast.AST, span: Span) -> Span:
    """The iterable of a loop or the condition of a test, where the place of an error is the whole statement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor) and span_of(node) == span:
            return span_of(node.iter)
        if isinstance(node, ast.If | ast.While | ast.Assert) and span_of(node) == span:
            return span_of(node.test)
    return span


def _statement(tree: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement at a line."""
    found: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            if found is None or span_of(node)[:2] >= span_of(found)[:2]:
                found = node
    return found


def _statement_span(tree: ast.AST, line: int) -> Span | None:
    best: Span | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            header = span_of(node)
            body = getattr(node, "body", None)
            if body:  # a compound statement: its header only
                header = (*header[:2], body[0].lineno, body[0].col_offset)
                if line >= body[0].lineno:
                    continue
            if best is None or header[:2] >= best[:2]:
                best = header
    return best


def _own_module(frame: FrameType) -> Any:
    owner = frame.f_locals.get("self")
    if owner is None or not is_module(owner) or frame.f_code.co_name in ("__init__", "__getattr__", "__setattr__"):
        return None
    return owner


def _forward_inputs(module: Any, entries: list[Entry]) -> list[dict[str, Any]]:
    """The positional parameters of the outermost ``forward`` frame of a module, described."""
    for frame, _, _ in entries:
        code = frame.f_code
        if code.co_name == "forward" and frame.f_locals.get("self") is module:
            names = code.co_varnames[1 : code.co_argcount]
            return [
                {"name": name, "value": describe_value(frame.f_locals[name])}
                for name in names
                if name in frame.f_locals
            ]
    return []


def _parameters(kind: type) -> list[str]:
    """Names of a constructor's parameters without self, to match positional arguments."""
    code = getattr(kind.__init__, "__code__", None)  # type: ignore[misc]
    return list(code.co_varnames[1 : code.co_argcount]) if code is not None else []


def _is_simple(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(item, int) for item in value)
    return type(value) in (int, float, bool, str, type(None))


def module_path(module: Any, frames: list[FrameType]) -> str | None:
    """How the user reaches a module: ``model.classifier.2``, ``self.encoder.proj``; else below its root's class."""
    roots: list[tuple[str, Any]] = []
    for frame in frames:
        scopes = [frame.f_locals] if frame.f_locals is frame.f_globals else [frame.f_locals, frame.f_globals]
        for scope in scopes:
            for name, value in list(scope.items()):
                if is_module(value):
                    roots.append((name, value))
                elif name == "self":
                    held = getattr(value, "__dict__", {})
                    roots += [(f"self.{part}", inner) for part, inner in held.items() if is_module(inner)]
    for name, root in sorted(roots, key=lambda root: root[0] == "self"):
        path = _path_within(root, module)
        if path is not None:
            top = type(root).__name__ if name == "self" else name
            return f"{top}.{path}" if path else top
    return None


def _path_within(root: Any, module: Any) -> str | None:
    """Dotted path of a module below a root, following the registered children only."""
    seen: set[int] = set()
    queue: list[tuple[str, Any]] = [("", root)]
    while queue:
        path, current = queue.pop(0)
        if current is module:
            return path
        if id(current) in seen:
            continue
        seen.add(id(current))
        for name, child in (current.__dict__.get("_modules") or {}).items():
            if child is not None:
                queue.append((f"{path}.{name}" if path else name, child))
    return None
