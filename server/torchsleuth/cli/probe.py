"""``torchsleuth probe``: one question about a script, and its answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from torchsleuth.cli.explained import Explainer
from torchsleuth.cli.files import PathNames, is_script
from torchsleuth.cli.output import Output, complain, data
from torchsleuth.cli.render import print_diagnostic, print_place, source_reader
from torchsleuth.messages import message
from torchsleuth.numbers import number
from torchsleuth.probing.result import EXIT_STATUS, Outcome, Place, Result
from torchsleuth.probing.session import Request
from torchsleuth.probing.shown import points, verdict
from torchsleuth.runtime.session import Run

TIMEOUT = 600.0
"""Seconds, where the user says nothing; a search for what is not finite may take as long as the training."""
WIDTH = 40
"""Of a curve, in cells."""
_COLOURS: dict[Outcome, str] = {"passed": "bold green", "found": "bold red", "impossible": "bold yellow"}


def probe(
    kind: str,
    script: str,
    arguments: tuple[str, ...],
    module: bool,
    steps: int | None,
    timeout: float | None,
    output_format: str,
    python: str,
) -> int:
    """0: it passes; 1: something was found; 2: there is no answer."""
    if not module and not (Path(script) / "__main__.py").is_file() and not is_script(Path(script)):
        return 2
    if timeout is None and kind != "nonfinite":
        timeout = TIMEOUT
    request = Request(kind, script, arguments, python, module, steps, timeout)
    if output_format == "json":
        request.start = _to_standard_error
    try:
        with Explainer(python) as explainer:
            request.explain = explainer.explain
            result = request.answer()
    except OSError as error:
        complain(message("cli.cannot_start", python=python, error=error.strerror or error))
        return 2
    if output_format == "json":
        data(json.dumps(result.to_json(), indent=2))
    else:
        show(result, script)
    return EXIT_STATUS[result.outcome]


def _to_standard_error(job: Run) -> None:
    """Output of the script does not come between the lines of the document."""

    def pass_on(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    job.on_output = pass_on


def show(result: Result, script: str) -> None:
    """The verdict first, then the place, then what was measured."""
    out, colour = Output(), _COLOURS[result.outcome]
    out.line((verdict(result), colour), f": {result.message}")
    names = PathNames([script])
    if result.diagnosis is not None:
        print_diagnostic(out, names.diagnostic(result.diagnosis), source_reader({}))
    elif result.place is not None:
        _place(out, names, result.place, colour)
    for text in result.details:
        out.line(f"  {text}")
    for text, place in result.related:
        out.line((f"  {text}", "dim"))
        _place(out, names, place, "blue")
    _draw(out, result)


def _place(out: Output, names: PathNames, place: Place, colour: str) -> None:
    print_place(out, names.shown(place.path), place.start, place.end, source_reader({}), colour)


def _draw(out: Output, result: Result) -> None:
    """A curve as bars, one line for each of some points."""
    rows = points(result)
    if len(rows) < 2:
        return
    low, high = min(value for _, value in rows), max(value for _, value in rows)
    out.line((f"  {result.axis:>14}  {message('probe.loss')}", "dim"))
    for at, value in rows:
        cells = round(WIDTH * (value - low) / (high - low)) if high > low else 0
        out.line(f"  {number(at):>14}  {number(value):<9} ", ("█" * cells, "cyan"))
