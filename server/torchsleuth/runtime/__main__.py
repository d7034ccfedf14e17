"""``python -m torchsleuth.runtime SCRIPT ARGS…``: runs the script as ``python SCRIPT ARGS…`` would, and reports.

The script's standard streams, arguments, working directory and exit status are its own.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import io
import os
import signal
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from torchsleuth.runtime.crash import report
from torchsleuth.runtime.events import DESCRIPTOR, EventStream
from torchsleuth.runtime.recorder import Recorder
from torchsleuth.runtime.registry import ConstructorRegistry
from torchsleuth.runtime.rewrite import RECORDER, RecordedSite, belongs, rewrite


class ProjectLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of the user's project rewritten; never from or to a bytecode cache."""

    sites: list[RecordedSite] = []

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return rewrite(self.get_data(path), path, self.sites)


class Hooks(importlib.abc.MetaPathFinder):
    """Rewrites modules of the project, and completes the set-up when torch has been imported."""

    def __init__(self, root: str, sites: list[RecordedSite], on_torch: Callable[[Any], None]) -> None:
        self._root = root
        self._on_torch = on_torch
        self._busy = False
        ProjectLoader.sites = sites

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if self._busy or (fullname != "torch" and path is None and fullname in sys.builtin_module_names):
            return None
        self._busy = True
        try:
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        finally:
            self._busy = False
        if spec is None or spec.loader is None:
            return None
        if fullname == "torch":
            self._after_load(spec.loader)
            return spec
        if isinstance(spec.loader, importlib.machinery.SourceFileLoader) and belongs(spec.origin, self._root):
            assert spec.origin is not None
            spec.loader = ProjectLoader(fullname, spec.origin)
            return spec
        return None

    def _after_load(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self._on_torch(module)

        loader.exec_module = exec_module


def main() -> int:
    stream = EventStream(int(os.environ.pop(DESCRIPTOR)))
    os.set_inheritable(stream._descriptor, False)
    script, arguments = sys.argv[1], sys.argv[2:]
    path = os.path.abspath(script)
    root = os.path.dirname(path)

    def is_user_file(file: str) -> bool:
        return os.path.abspath(file) == path or belongs(file, root)

    sites: list[RecordedSite] = []
    recorder = Recorder(sites, stream)
    registry = ConstructorRegistry(is_user_file)

    def on_torch(torch: Any) -> None:
        recorder.tensor_types = (torch.Tensor,)
        registry.install(torch.nn.Module)

    setattr(builtins, RECORDER, recorder.record)
    sys.meta_path.insert(0, Hooks(root, sites, on_torch))
    sys.argv = [script, *arguments]
    sys.path[0] = root
    module = types.ModuleType("__main__")
    module.__dict__.update({"__file__": script, "__builtins__": builtins, "__cached__": None})
    sys.modules["__main__"] = module
    stream.send("started", pid=os.getpid(), script=path, python=sys.version.split()[0])
    recorder.start()
    try:
        try:
            with io.open_code(path) as file:
                code = rewrite(file.read(), path, sites)
            exec(code, module.__dict__)
        except SystemExit:
            raise
        except BaseException as error:
            traceback = error.__traceback__
            while traceback is not None and traceback.tb_frame.f_code.co_filename in (__file__, _REWRITE_FILE):
                traceback = traceback.tb_next
            recorder.flush()
            stream.send("crash", **report(error, traceback, is_user_file, registry))
            sys.excepthook(type(error), error.with_traceback(traceback), traceback)
            if isinstance(error, KeyboardInterrupt):
                recorder.stop()
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGINT)
            return 1
    finally:
        recorder.stop()
    return 0


_REWRITE_FILE = rewrite.__code__.co_filename

if __name__ == "__main__":
    sys.exit(main())
