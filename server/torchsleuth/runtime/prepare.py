"""First half of a run, in the user's interpreter: compiles what is to run, rewritten, and becomes the interpreter that runs
it as its main program.

The rewritten code is handed over as a compiled file, because only what the interpreter itself starts has no frame below it:
``traceback.print_stack()``, ``inspect.stack()``, the recursion limit and uncaught exceptions are those of a plain run. Its
first statement (`rewrite.main_code`) calls `launch.begin`, which puts everything else in place.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import marshal
import os
import runpy
import sys
import time
import types
import warnings
from typing import Any, NamedTuple, NoReturn

from torchsleuth.runtime.children import VARIABLE as FOLDER
from torchsleuth.runtime.events import DESCRIPTOR, EventStream, out_of_the_way
from torchsleuth.runtime.limits import VARIABLE
from torchsleuth.runtime.rewrite import beginning, guarded, located, main_code
from torchsleuth.runtime.tracebacks import cell_of

CELLS = "TORCHSLEUTH_CELLS"
"""Environment variable: a file with the text of a notebook as JSON; removed before the user's code starts."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BEGIN = f"""
import sys
written, sys.dont_write_bytecode = sys.dont_write_bytecode, False
if "torchsleuth" not in sys.modules:
    import importlib.util
    import os
    spec = importlib.util.spec_from_file_location(
        "torchsleuth", {os.path.join(_PACKAGE, "__init__.py")!r}, submodule_search_locations=[{_PACKAGE!r}]
    )
    sys.modules["torchsleuth"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["torchsleuth"])
from torchsleuth.runtime.launch import begin
sys.dont_write_bytecode = written
begin(*given)
"""


_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions where a script cannot be read or compiled."""


class Channel(NamedTuple):
    """Where events go (below zero: into a file of the run's folder, as those of a child), and the limits of the run, as text."""

    descriptor: int
    limits: str | None


def main(arguments: list[str]) -> NoReturn:
    """`arguments` are those of ``python``, without its own flags: SCRIPT or ``-m MODULE``, and what follows."""
    channel = Channel(_kept(int(os.environ.pop(DESCRIPTOR))), os.environ.pop(VARIABLE, None))
    flags = _interpreter_flags()
    cells = os.environ.pop(CELLS, None)
    if arguments[0] == "-m" and len(arguments) > 1:
        _become(_module_code(arguments[1], True, channel, flags, arguments), arguments[1], flags, arguments[2:])
    script = arguments[0]
    if os.path.isdir(script) or _is_archive(script):
        _become(_module_code(None, False, channel, flags, arguments), script, flags, arguments[1:])
    if cells is not None:
        _become(_notebook_code(script, cells, channel, flags, arguments), script, flags, arguments[1:])
    try:
        code = _script_code(script, channel, flags, arguments)
    except _UNREADABLE as error:  # left to the interpreter, for its message
        if isinstance(error, SyntaxError):
            with io.open_code(os.path.abspath(script)) as file:
                _report(channel, os.path.abspath(script), file.read(), error)
        _plainly(flags, arguments)
    _become(code, script, flags, arguments[1:])


def become_child(folder: str, limits: str | None, flags: list[str], arguments: list[str]) -> None:
    """Of an interpreter that a recorded script has started for the script that the arguments begin with. Returns where that cannot be
    read or compiled, which the interpreter then says."""
    try:
        code = _script_code(arguments[0], Channel(-1, limits), flags, arguments)
    except _UNREADABLE:
        return
    os.environ[FOLDER] = folder
    _become(code, arguments[0], flags, arguments[1:])


def _notebook_code(script: str, cells: str, channel: Channel, flags: list[str], arguments: list[str]) -> types.CodeType:
    """The rewritten code of a notebook. `cells`: a file with its text, and where its cells begin there."""
    path = os.path.abspath(script)
    with open(cells, encoding="utf-8") as file:
        text, beginnings = json.load(file)
    source = text.encode()
    given = (*channel, "notebook", path, tuple(flags), tuple(arguments), source, (), tuple(beginnings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return main_code(source, path, _BEGIN, given)
        except SyntaxError as error:
            _report(channel, path, source, error)
            cell, line = cell_of(beginnings, error.lineno or 1)
            raise SystemExit(f"{script}, cell {cell}, line {line}: {type(error).__name__}: {error.msg}") from None


def _script_code(script: str, channel: Channel, flags: list[str], arguments: list[str]) -> types.CodeType:
    """The rewritten code of a script. Raises what is `_UNREADABLE` where there is none."""
    path = os.path.abspath(script)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with io.open_code(path) as file:
            source = file.read()
        if source[:2] == importlib.util.MAGIC_NUMBER[:2]:
            raise ValueError(f"{script} was compiled before")
        compile(source, path, "exec", dont_inherit=True)
    said = tuple((str(item.message), item.category.__name__, item.lineno) for item in warned)
    given = (*channel, "script", path, tuple(flags), tuple(arguments), source, said, ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return main_code(source, path, _BEGIN, given, _as_shown(script))


def _as_shown(script: str) -> str:
    """The path of a script as the interpreter gives it to the program: made absolute, and nothing else."""
    return os.path.join(os.getcwd(), script)


def _report(channel: Channel, path: str, source: bytes, error: SyntaxError) -> None:
    from torchsleuth.runtime.launch import Launch

    launch = Launch(path, EventStream(channel.descriptor))
    launch.start()
    launch.loaded(path, source)
    launch.report(error, None)


def _module_code(
    module: str | None, alter_argv: bool, channel: Channel, flags: list[str], arguments: list[str]
) -> types.CodeType:
    """The function that the interpreter calls for ``-m`` and for folders, `runpy._run_module_as_main`, as the code of a main program: with
    its name, file and lines, so that the frames are the same."""
    function = runpy._run_module_as_main  # type: ignore[attr-defined]
    with open(os.path.join(os.path.dirname(os.__file__), "runpy.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    (definition,) = (
        item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == "_run_module_as_main"
    )
    values = {"mod_name": module or "__main__", "alter_argv": alter_argv}
    target = ("folder", os.path.abspath(arguments[0])) if module is None else ("module", module)
    given = (*channel, *target, tuple(flags), tuple(arguments), b"", (), ())
    return module_code(definition, values, function.__code__, given)


def module_code(
    definition: ast.FunctionDef, values: dict[str, Any], like: types.CodeType, given: tuple[Any, ...]
) -> types.CodeType:
    """The body of `definition` with values given to its parameters and the globals of runpy reached through it."""
    outer = {name for name in vars(runpy) if not name.startswith("__")}

    class Freed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in outer:
                called = ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant("runpy")], [])
                reached = ast.copy_location(ast.Attribute(called, node.id, ast.Load()), node)
                return ast.fix_missing_locations(reached)
            return node

        def visit_arguments(self, node: ast.arguments) -> ast.arguments:
            return ast.arguments([], [], None, [], [], None, [])

    begin = beginning(_BEGIN, given, definition.body[0])
    freed = Freed().visit(definition)
    assert isinstance(freed, ast.FunctionDef)
    first, *body = freed.body  # its docstring
    given_values = [ast.parse(f"{name} = {value!r}").body[0] for name, value in values.items()]
    freed.body = [begin, *(located(statement, first) for statement in given_values), guarded(body)]
    module = ast.Module([freed], [])
    code = compile(ast.fix_missing_locations(module), like.co_filename, "exec", dont_inherit=True)
    (inner,) = (item for item in code.co_consts if isinstance(item, types.CodeType))
    return inner


def _become(code: types.CodeType, name: str, flags: list[str], arguments: list[str]) -> NoReturn:
    """The interpreter again, with this code as its main program. `name`: by which lists of processes show it."""
    compiled = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
        descriptor = os.memfd_create("torchsleuth", 0)
        path = _named(f"/proc/self/fd/{descriptor}", name)
    else:
        import tempfile

        descriptor, path = tempfile.mkstemp(".pyc", "torchsleuth")
        os.set_inheritable(descriptor, True)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(compiled)
    os.execv(sys.executable, [sys.orig_argv[0], *flags, path, *arguments])


def _named(path: str, name: str) -> str:
    """A link with a name to the compiled file, which `launch.begin` takes away; the file itself where there can be none."""
    try:
        folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"torchsleuth-{os.getpid()}-{time.time_ns()}")
        os.mkdir(folder, 0o700)
        link = os.path.join(folder, os.path.basename(os.path.abspath(name)))
        os.symlink(path, link)
    except OSError:
        return path
    return link


def _plainly(flags: list[str], arguments: list[str]) -> NoReturn:
    """The interpreter again, and nothing of ours."""
    os.environ.pop(FOLDER, None)
    os.execv(sys.executable, [sys.executable, *flags, *arguments])


def _interpreter_flags() -> list[str]:
    """The interpreter's own options: what stands before the file that started this process."""
    given = sys.orig_argv[1:]
    own = os.path.join(_PACKAGE, "runtime", "__main__.py")
    return given[: next(index for index, item in enumerate(given) if os.path.realpath(item) == os.path.realpath(own))]


def _is_archive(path: str) -> bool:
    if path.endswith(".py") or not os.path.isfile(path):
        return False
    import zipfile  # a tenth of the start, for the few that are one

    return zipfile.is_zipfile(path)


def _kept(descriptor: int) -> int:
    """The same channel for the interpreter that this process becomes."""
    high = out_of_the_way(descriptor)
    os.set_inheritable(high, True)
    return high
