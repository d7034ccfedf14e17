"""Second half of a run: puts the instrumentation in place, in the process that the script is about to run in, and reports
what it does.

The script's standard streams, arguments, working directory, environment and exit status are its own.
"""

from __future__ import annotations

import _warnings
import atexit
import builtins
import contextlib
import functools
import linecache
import os
import sys
import time
import types
from collections.abc import Callable
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import TracebackType
from typing import Any

from torchsleuth.runtime import page
from torchsleuth.runtime.caught import CaughtErrors
from torchsleuth.runtime.children import VARIABLE, ChildStream, announce, keep_last_lines, watch_what_is_passed_on
from torchsleuth.runtime.crash import CrashReporter
from torchsleuth.runtime.events import EventStream
from torchsleuth.runtime.hooks import watch_hooks
from torchsleuth.runtime.imports import ImportHook, silently
from torchsleuth.runtime.limits import Limiter, Limits
from torchsleuth.runtime.places import Places
from torchsleuth.runtime.project import Project
from torchsleuth.runtime.ranks import Progress
from torchsleuth.runtime.recorder import Recorder, unrecorded
from torchsleuth.runtime.registry import ConstructorRegistry
from torchsleuth.runtime.rewrite import (
    CALLED,
    CAUGHT,
    DIFFERENTIATED,
    GRADIENTS,
    IMPORTED,
    LEAVE,
    LOADED,
    LOSS,
    RECORDER,
    Site,
    Span,
    gate_names,
    rewrite,
    switch_gates,
)
from torchsleuth.runtime.tracebacks import VARIABLE as TRACEBACK
from torchsleuth.runtime.tracebacks import Printer
from torchsleuth.runtime.tracing import TracerWatch
from torchsleuth.runtime.training import TrainingRecorder
from torchsleuth.runtime.versions import versions
from torchsleuth.runtime.watch import TrainingWatch

_OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_TRACERS_OF_TORCH = ("torch._dynamo", "torch.fx.experimental.symbolic_shapes")


class Launch:
    """The instrumentation of this process."""

    def __init__(
        self,
        script: str,
        stream: EventStream | ChildStream,
        folder: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`folder`: where forked processes write their events."""
        self.path = os.path.abspath(script)
        self.project = Project(script)
        self.stream = stream
        self._folder = stream.folder if isinstance(stream, ChildStream) else folder
        self.sites: list[Site] = []
        self.texts: dict[str, bytes] = {}
        self.recorder = Recorder(self.sites, self.stream)  # type: ignore[arg-type]
        self.registry = ConstructorRegistry(self.project.owns)
        self.watch = TrainingWatch()
        self.training = TrainingRecorder(Places(self.project.owns), self.registry.alive, self.registry.constructor)
        self.progress = Progress(self.project.owns, lambda: self.recorder.slots, self._send)
        self.crash = CrashReporter(self.project.owns, self.registry, self.recorder, self.texts)
        self.caught = CaughtErrors(self.crash, self.training.steps_made)
        self.limits = limits
        self._recording = True
        before = dict.fromkeys(_TRACERS_OF_TORCH, self._tracer_imported)
        self.imports = ImportHook(self.project.owns, self.compile, before)
        self.tracers = TracerWatch(self.suspend, self._go_on)
        self.printer: Printer | None = None
        self.suspended = False
        self.probe: Any = None
        self.desk: Any = None
        self._probes_record: Callable[[int, Any], Any] | None = None
        self._watched = False
        self._careful = False
        self._process = os.getpid()
        self._ended = False
        self._left = False
        """Something else than its last statement has ended the main program."""
        self._reported: set[tuple[int, str]] = set()

    def install(self) -> None:
        set_record(self._record_when_imported)
        names: dict[str, Any] = {
            RECORDER: _RECORD,
            LOSS: functools.partial(self._see_loss),
            DIFFERENTIATED: functools.partial(self.training.differentiated),
            GRADIENTS: functools.partial(self.training.gradients),
            LOADED: functools.partial(self.training.loaded),
            CALLED: functools.partial(self.training.told),
            LEAVE: self.leave,
            CAUGHT: self.caught.note,
            IMPORTED: self.imported,
        }
        vars(builtins).update(names)
        self.imports.install()
        self.tracers.install()
        watch_hooks(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._forks, after_in_child=self._forked)
        leave = os._exit

        def _exit(status: int) -> None:
            self._left = True
            self.end()
            leave(status)

        os._exit = _exit  # type: ignore[assignment]
        atexit.register(self.end)

    def _see_loss(self, value: Any) -> Any:
        self.watch.see_loss(value)
        self.training.see_loss(value)
        return value

    def start(self) -> None:
        self.stream.send("started", pid=os.getpid(), script=self.path, python=sys.version.split()[0])

    def _forks(self) -> None:
        """A child may reach what this process does not."""
        self.recorder.blind = True

    def _forked(self) -> None:
        """In a forked child: nothing is recorded, but its crashes are reported."""
        self.recorder.rest(True)
        set_record(unrecorded)
        self.recorder.slots = page.private()
        self._ended = True
        if self._folder is not None:
            self._process = os.getpid()
            self.stream = ChildStream(self._folder)
            watch_what_is_passed_on(self)

    def loaded(self, path: str, source: bytes) -> None:
        self.texts[path] = source
        self.stream.send("loaded", path=path, first=0 if path == self.path else len(self.sites))

    def compile(self, source: bytes, path: str, plain: types.CodeType) -> types.CodeType:
        """The rewritten code of a module of the user's."""
        self.loaded(path, source)
        code = silently(lambda: rewrite(source, path, self.sites))
        if self.recorder.resting:
            self.recorder.rest(True)
        return code

    def imported(self) -> None:
        """Called after import statements."""
        if self.suspended:
            return
        self.tracers.imported()
        self._look_for_torch()

    def _look_for_torch(self) -> bool:
        torch = sys.modules.get("torch")
        if torch is None or self._watched or getattr(torch.__spec__, "_initializing", False):
            return self._watched
        self._watched = True
        self.recorder.slots = page.shared(self._folder)
        if "training" not in self._without:
            self._record_training()
        self._recording = "shapes" not in self._without
        if not self._recording:
            self.recorder.rest(True)
        self._watch(torch, self.training.install)
        self._choose_record()
        if self.limits is not None:
            Limiter(self.limits, self._ends, self._switch).install(torch)
            if self.limits.probe is not None:
                self._start_probe(self.limits.probe, torch)
        return True

    @property
    def _without(self) -> tuple[str, ...]:
        """The kinds of observations that are not made."""
        return self.limits.without if self.limits is not None else ()

    def _watch(self, torch: Any, training: Callable[[Any, Any], None]) -> None:
        """Put in place what sees the script's use of torch. `training`: what does so for the recorder of the training."""
        without, optimizers = self._without, sys.modules["torch.optim.optimizer"]
        if "constructors" not in without:
            self.registry.install(torch)
        if "training" not in without:
            self.watch.install(torch, optimizers)
            training(torch, optimizers)
        if not {"shapes", "values"}.intersection(without):
            self.recorder.install(torch, optimizers)
        # Behind the recorder of the training, which counts batches in the same way.
        self.progress.install(torch, optimizers, compare=isinstance(self.stream, ChildStream))

    def _start_probe(self, settings: dict[str, Any], torch: Any) -> None:
        from torchsleuth.runtime.probes.desk import Desk
        from torchsleuth.runtime.probes.start import start

        own, registry = Places(self.project.owns), self.registry
        self.desk = Desk(
            own, self.sites, self.texts, registry.alive, registry.constructor, self._record_for_probe, self._send
        )
        self.probe = start(settings, self.desk, torch)

    def _record_for_probe(self, record: Callable[[int, Any], Any]) -> None:
        self._probes_record = record
        self.recorder.rest(False)
        set_record(record)

    def _record_training(self) -> None:
        self.registry.on_made = self.training.made
        self.registry.on_compile = self.training.compiles
        self.training.site_place = self._place_of_site
        self.training.on_loss = self.watch.note_loss
        self.training.on_exchange = self._losses_are_seen
        self.training.attention.on_whole = self._tell
        self.recorder.training = self.training

    def _losses_are_seen(self, seen: bool) -> None:
        """Rewritten code need not tell of losses where each backward() is seen."""
        told = functools.partial(_NOTHING.get, None) if seen else functools.partial(self._see_loss)
        vars(builtins)[LOSS].__setstate__((told.func, told.args, {}, None))

    def _results_are_seen(self, seen: bool) -> None:
        """Whether rewritten code is to tell of calls of autograd.grad(), and of keys of a state that did not fit."""
        recorder = self.training
        for name, told in (
            (DIFFERENTIATED, recorder.differentiated),
            (GRADIENTS, recorder.gradients),
            (LOADED, recorder.loaded),
        ):
            function, given = (told, ()) if seen else (_NOTHING.get, (None,))
            vars(builtins)[name].__setstate__((function, given, {}, None))

    def _tell(self, whole: bool) -> None:
        """Whether rewritten code is to tell of the structure of the loop."""
        vars(builtins)[CALLED].__setstate__((self.training.told if whole else _NOTHING.get, (), {}, None))

    def _place_of_site(self, number: int) -> dict[str, Any] | None:
        if not 0 <= number < len(self.sites):
            return None
        site = self.sites[number]
        return {"path": site.path, "line": site.span[0], "span": site.span, "function": ""}

    def _send(self, kind: str, **fields: Any) -> None:
        self.stream.send(kind, **fields)

    def _ends(self, why: str) -> None:
        self.stream.send("ended", why=why)

    def _switch(self, recording: bool) -> None:
        """Whether shapes are recorded from now on."""
        if self.limits is None or "shapes" not in self.limits.without:
            self._recording = recording
            if not self.suspended:
                self.recorder.rest(not recording)
                self._choose_record()

    def _choose_record(self) -> None:
        """Choose how to record, again when a tracer of torch's is about to be imported."""
        if self._probes_record is not None and not self.suspended:
            set_record(self._probes_record)
        elif self._watched and not self.suspended and not self._recording:
            set_record(_NOTHING.get)
        elif self._watched and not self.suspended:
            careful = self._careful or not sys.modules.keys().isdisjoint(_TRACERS_OF_TORCH)
            set_record(self.recorder.make_record(sys.modules["torch"], careful=careful))
        elif not self.suspended:
            set_record(self._record_when_imported)

    def _tracer_imported(self) -> None:
        self._careful = True
        self._choose_record()

    def _record_when_imported(self, site: int, value: Any) -> Any:
        """Records nothing before torch is imported."""
        if not self._watched and self._look_for_torch():
            return _RECORD(site, value)
        self.recorder.count(site)
        return value

    def suspend(self, gate: Any) -> None:
        """Nothing of ours runs any more, because a debugger, tracer or profiler would see it. Rewritten code calls functions
        in C that give back what they get, and asks `gate` what to execute."""
        self.suspended = True
        self.recorder.rest(True, gate)
        set_record(_NOTHING.get)
        vars(builtins)[IMPORTED] = dict
        vars(builtins)[CAUGHT] = _NOTHING.get
        self.imports.remove()
        self.registry.remove()
        self.watch.remove()
        self.training.detach()
        self._losses_are_seen(True)
        self._results_are_seen(False)
        self._tell(False)
        self.progress.remove()
        self.recorder.samples.remove()

    def _go_on(self) -> None:
        """The debugger or tracer is gone."""
        if self._ended:
            return
        self.suspended = False
        vars(builtins)[IMPORTED] = self.imported
        vars(builtins)[CAUGHT] = self.caught.note
        self.imports.install()
        self._losses_are_seen(False)
        self._results_are_seen(True)
        if self._watched:
            self._watch(sys.modules["torch"], self.training.attach_again)
        self.recorder.rest(not self._recording and self._probes_record is None)
        self._choose_record()

    def leave(self) -> None:
        """Called with an exception that leaves the main program."""
        self._left = True
        error = sys.exc_info()[1]
        if self.desk is not None:
            self.desk.crashed = isinstance(error, Exception)
        if error is not None:
            _hide_own_frames(error.__traceback__)
        if error is not None and self.printer is not None:
            self.printer.install()
        if isinstance(error, SystemExit):
            _report_hidden(self, error)
        elif error is not None and not isinstance(error, KeyboardInterrupt):
            self.report(error, error.__traceback__)

    def _outlive_builtins(self) -> None:
        """Objects that are deleted when the interpreter ends may still run rewritten code, after the builtins of ours are gone."""
        names: dict[str, Any] = {
            RECORDER: _NOTHING.get,
            LOSS: functools.partial(_NOTHING.get, None),
            DIFFERENTIATED: functools.partial(_NOTHING.get, None),
            GRADIENTS: functools.partial(_NOTHING.get, None),
            CALLED: _NOTHING.get,
            CAUGHT: _NOTHING.get,
            IMPORTED: dict,
            LEAVE: dict,
        }
        names.update(dict.fromkeys(gate_names({gate for site in self.sites for gate in site.gates}), False))
        for name, module in list(sys.modules.items()):
            if name == "__main__" or getattr(module, "__dict__", {}).get("__file__") in self.texts:
                vars(module).update(names)

    def end(self) -> None:
        """Send what has not been sent; once, and not from a forked child."""
        if self._ended or os.getpid() != self._process:
            return
        self._ended = True
        try:
            if self.probe is not None:
                self.probe.ended()
            self._outlive_builtins()
            self.recorder.flush()
            self.progress.tell(complete=not self._left)
            trained = self.watch.result()
            self.recorder.blind = self.recorder.blind or _runs_compiled()
            lines = self.recorder.lines()
            recorded = self.training.to_json() if "training" not in self._without else None
            ran_on = versions()
        except Exception:
            return  # the end of the user's process is no place for an error of ours
        if trained is not None:
            self.stream.send("training", **trained)
        self.stream.send("lines", files=lines, completed=None if self._left or self.suspended else self.path)
        if recorded is not None:
            self.stream.send("recorded", training=recorded)
        for error in self.caught.that_undo():
            self.stream.send("caught", **error)
        self.stream.send("versions", versions=ran_on)

    def report(
        self, error: BaseException, traceback: TracebackType | None, thread: str | None = None, ends: bool = True
    ) -> None:
        """Send an exception that nobody has caught; each one once. `thread`: the one that it ended. `ends`: the process
        ends by it, rather than to hand it to its parent, who may know what to do."""
        key = (id(error), str(type(error)))
        if os.getpid() != self._process or key in self._reported:
            return
        self._reported.add(key)
        try:
            if not self._ended:
                self.recorder.flush()
            found = self.crash.report(error, traceback)
            if thread is None or found["frames"]:
                self.stream.send("crash", thread=thread, ends=ends, time=time.time(), **found)
        except Exception:
            return  # the script's own error is what has to reach the user


def _runs_compiled() -> bool:
    """Whether something of the user's was compiled by torch: that runs unseen."""
    dynamo, recursive = sys.modules.get("torch._dynamo.utils"), sys.modules.get("torch.jit._recursive")
    traced = dynamo is not None and dynamo.counters["frames"]
    return bool(traced or (recursive is not None and recursive.concrete_type_store.type_store))


_NOTHING: Any = {}
"""An empty dictionary: its ``get`` is a function in C that gives back the second of two arguments."""
_RECORD: Any = functools.partial(unrecorded)
"""The function that rewritten code calls: in C, so that no profiler sees it, and exchanged by its state, so that a call whose arguments are
being evaluated is changed too."""


def set_record(record: Callable[[int, Any], Any]) -> None:
    _RECORD.__setstate__((record, (), {}, None))


def begin(
    descriptor: int,
    limits: str | None,
    kind: str,
    target: str,
    flags: tuple[str, ...],
    arguments: tuple[str, ...],
    source: bytes,
    warned: tuple[tuple[str, str, int], ...],
    cells: tuple[int, ...],
    sites: tuple[tuple[Span, tuple[str, Span] | None, tuple[int, ...]], ...] = (),
) -> None:
    """First statement of what `prepare` made: afterwards everything is as the interpreter leaves it for a main program.

    `target` is the name of a module, or the path of a folder or of a script, to which `source`, `warned` and `sites` belong. Of a
    notebook, `cells` are the lines before its cells.
    """
    _forget_the_compiled_file(sys.argv[0])
    sys.orig_argv = [sys.orig_argv[0], *flags, *arguments]
    sys.argv[0] = arguments[0]
    own_folder = not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
    if own_folder:
        del sys.path[0]
    script, first = _SURROUNDINGS[kind](vars(sys.modules["__main__"]), target, source)
    if own_folder or kind == "folder":
        sys.path.insert(0, first)
    folder = os.environ.pop(VARIABLE, None)
    launch = Launch(script, _stream(descriptor, folder), folder, None if limits is None else Limits.of_text(limits))
    if folder is not None:
        announce(folder, launch.path, launch.limits)
        keep_last_lines(folder)
    launch.sites += [Site(script, *site) for site in sites]
    switch_gates({gate for site in launch.sites for gate in site.gates}, True)
    short = os.environ.pop(TRACEBACK, None) == "short"
    launch.printer = Printer(launch.project.owns, short, {script: cells} if kind == "notebook" else {})
    launch.start()
    if kind in ("script", "notebook"):
        launch.loaded(script, source)
    launch.install()
    if descriptor < 0:
        watch_what_is_passed_on(launch)
    shown = vars(sys.modules["__main__"]).get("__file__", script)
    for message, category, line in warned:
        _warnings.warn_explicit(message, getattr(builtins, category), shown, line)


def _stream(descriptor: int, folder: str | None) -> EventStream | ChildStream:
    if descriptor < 0 and folder is not None:
        return ChildStream(folder)
    os.set_inheritable(descriptor, False)
    return EventStream(descriptor)


def _of_module(main: dict[str, Any], name: str, source: bytes) -> tuple[str, str]:
    _without_file(main)
    return os.path.join(os.getcwd(), "__main__.py"), os.getcwd()


def _of_folder(main: dict[str, Any], path: str, source: bytes) -> tuple[str, str]:
    _without_file(main)
    return os.path.join(path, "__main__.py"), path


def _of_script(main: dict[str, Any], path: str, source: bytes) -> tuple[str, str]:
    shown = os.path.join(os.getcwd(), sys.argv[0])
    main["__file__"], main["__loader__"] = shown, SourceFileLoader("__main__", shown)
    sys.path_importer_cache.setdefault(shown, None)
    return path, os.path.dirname(os.path.realpath(sys.argv[0]))


def _of_notebook(main: dict[str, Any], path: str, source: bytes) -> tuple[str, str]:
    """As in a kernel: its own folder, no file of the program, ``display``, and figures that open no window."""
    os.chdir(os.path.dirname(path))
    _without_file(main)
    main["display"] = _display
    os.environ.setdefault("MPLBACKEND", "Agg")
    text = source.decode()
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return path, ""


def _without_file(main: dict[str, Any]) -> None:
    main["__loader__"] = BuiltinImporter
    del main["__file__"], main["__cached__"]


_SURROUNDINGS: dict[str, Callable[[dict[str, Any], str, bytes], tuple[str, str]]] = {
    "module": _of_module,
    "folder": _of_folder,
    "script": _of_script,
    "notebook": _of_notebook,
}
"""The names of ``__main__`` for each kind of program: its path, and the first place that imports are looked for in."""


def _display(*values: object, **options: object) -> None:
    for value in values:
        print(value)


def _forget_the_compiled_file(path: str) -> None:
    sys.path_importer_cache.pop(path, None)
    file = os.readlink(path) if os.path.islink(path) and not path.startswith("/proc/") else path
    if file.startswith("/proc/self/fd/"):
        os.close(int(os.path.basename(file)))
    if not path.startswith("/proc/"):
        os.unlink(path)
    if file != path:
        os.rmdir(os.path.dirname(path))


def _report_hidden(launch: Launch, stop: SystemExit) -> None:
    """A script that catches its crash and then exits with a failure: the crash is the context of the exit. Errors that do
    not come from torch are its own business."""
    failed = stop.code not in (None, 0)
    cause = stop.__context__
    with contextlib.suppress(Exception):
        if failed and isinstance(cause, Exception) and launch.crash.is_of_torch(cause):
            launch.report(cause, cause.__traceback__)


def _hide_own_frames(traceback: TracebackType | None) -> None:
    """A signal's handler may raise while something is recorded."""
    while traceback is not None:
        following = traceback.tb_next
        if following is None or not following.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
            traceback = following
        else:
            traceback.tb_next = following.tb_next
