"""``torchsleuth run``: run a script under instrumentation, then show what failed on the source."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.cli.explained import Explainer
from torchsleuth.cli.files import PathNames, is_script
from torchsleuth.cli.output import Output, complain, data
from torchsleuth.cli.render import print_diagnostic, source_reader, to_json
from torchsleuth.cli.writing import Unwritable, check_private, write_private, write_private_bytes
from torchsleuth.messages import message
from torchsleuth.report.dashboards import NAME, event_file
from torchsleuth.report.history import Kept, earlier, remember
from torchsleuth.report.page import page
from torchsleuth.report.summary import summary
from torchsleuth.runtime import together
from torchsleuth.runtime.limits import Limits
from torchsleuth.runtime.session import Run, RunReport, collected
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.syntax.notebooks import in_cells, is_notebook


@dataclass(frozen=True)
class Options:
    """The command line's; see `cli.main`."""

    reports: tuple[Path, ...]
    output_format: str
    python: str | None
    module: bool = False
    flags: tuple[str, ...] = ()
    timeout: float | None = None
    stall: float | None = None
    limits: tuple[int | None, bool, str | None, int, tuple[str, ...]] | None = None
    full_traceback: bool = False


def run(script: str, arguments: list[str], options: Options) -> int:
    """The script's exit status; 2 where it could not be started or the report could not be written."""
    reports = options.reports
    if not options.module and not can_run(Path(script)) or not all(map(_can_write, reports)):
        return 2
    interpreter = options.python or sys.executable
    limits = Limits(*options.limits) if options.limits is not None else Limits()
    job = Run(
        script, tuple(arguments), interpreter, module=options.module, flags=options.flags, timeout=options.timeout
    )
    job.stall = options.stall
    # Who reads it is at a terminal; what goes into a file or another program is Python's own, byte for byte.
    job.folded = not options.full_traceback and sys.stderr.isatty()
    job.limits = limits if limits != Limits() else None
    with Explainer(interpreter) as explainer:
        job.on_event = explainer.follow
        try:
            result = job.execute()
        except OSError as error:
            complain(message("cli.cannot_start", python=interpreter, error=error.strerror or error))
            return 2
        result = explainer.explain(result)
    _show(script, result, options.output_format)
    if result.ended in ("timeout", "stall", "max-steps", "smoke"):
        seconds = options.stall if result.ended == "stall" else options.timeout
        complain(message(f"cli.run.{result.ended}", seconds=seconds or 0, steps=limits.steps))
    before = earlier(result.script) if reports else ()
    remember(result, source_reader({}))
    if not all([_written(result, report, before) for report in reports]):
        return 2
    code = result.exit_code
    return 128 - code if code < 0 else code


def collect(folder: Path, reports: Sequence[Path], output_format: str, python: str | None) -> int:
    """0: nothing was found in what processes have left in a folder; 1: something was; 2: there is no such folder."""
    if not folder.is_dir():
        complain(message("cli.no_run", path=folder))
        return 2
    if not all(map(_can_write, reports)):
        return 2

    def damaged(process: str) -> None:
        complain(message("cli.damaged", path=folder, process=process))

    result = collected(str(folder), damaged)
    with Explainer(python or sys.executable) as explainer:
        result = explainer.explain(result)
    _show(str(folder), result, output_format)
    if not all([_written(result, report) for report in reports]):
        return 2
    return 1 if result.diagnostics else 0


def _written(result: RunReport, report: Path, before: Sequence[Kept] = ()) -> bool:
    try:
        if _is_for_dashboards(report):
            _write_events(result, report)
        else:
            write_private(report, _text_of(result, report, before))
    except Unwritable as error:
        complain(str(error))
        return False
    return True


def _is_for_dashboards(report: Path) -> bool:
    return report.suffix.lower() == ".tb"


def _write_events(result: RunReport, report: Path) -> None:
    """A folder for TensorBoard: that is what it reads. Raises Unwritable."""
    try:
        report.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unwritable(message("cli.cannot_write", path=report, error=error.strerror or error)) from None
    if result.recorded is None:
        complain(message("cli.no_scalars", path=report))
    write_private_bytes(report / NAME, event_file(result.recorded))


def _text_of(result: RunReport, report: Path, before: Sequence[Kept]) -> str:
    """The report in the format that the name of its file asks for: a page, or JSON."""
    read = source_reader({})
    if report.suffix.lower() in (".html", ".htm"):
        return page(result, read, before)
    found = in_cells(result.to_json(), lambda path: read(path).text)
    return json.dumps(found, indent=2) + "\n"


def can_run(script: Path) -> bool:
    """Whether it is a script, a notebook or a folder that can be run; said where it is not."""
    if not is_notebook(script):
        return (script / "__main__.py").is_file() or is_script(script)
    try:
        read_source(script)
    except Unreadable as error:
        complain(str(error))
        return False
    return True


def _can_write(report: Path) -> bool:
    """Asked before the run, which may take a day."""
    try:
        check_private(report / NAME if _is_for_dashboards(report) and report.is_dir() else report)
    except Unwritable as error:
        complain(str(error))
        return False
    return True


def _show(script: str, result: RunReport, output_format: str) -> None:
    """The diagnosis on standard error: the script's own output stays untouched."""
    names = PathNames([script])
    diagnostics = [names.diagnostic(diagnostic) for diagnostic in result.diagnostics]
    if output_format == "json":
        data(to_json(diagnostics), sys.stderr)
        return
    out = Output(stderr=True)
    for diagnostic in diagnostics:
        out.line()
        print_diagnostic(out, diagnostic, source_reader({}))
    if result.recorded is not None and result.crash is None:
        complain(summary(result, result.recorded, diagnostics))
    if result.ranks is not None:
        complain(together.summary(result.ranks))
