"""``torchsleuth``: the commands and their options."""

from __future__ import annotations

import os
import sys
import traceback
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from torchsleuth import __version__
from torchsleuth.messages import message

app = typer.Typer(
    help="Finds, explains and repairs mistakes in PyTorch code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class OutputFormat(str, Enum):
    text = "text"
    json = "json"


class Recorded(str, Enum):
    shapes = "shapes"
    values = "values"
    training = "training"
    constructors = "constructors"


class ProbeKind(str, Enum):
    nonfinite = "nonfinite"
    overfit = "overfit"
    lr = "lr"
    gradcheck = "gradcheck"
    independence = "independence"
    determinism = "determinism"
    workers = "workers"


class CheckFormat(str, Enum):
    text = "text"
    concise = "concise"
    json = "json"
    github = "github"
    sarif = "sarif"


class ContractFormat(str, Enum):
    text = "text"
    json = "json"
    markdown = "markdown"


_FORMAT = typer.Option("--output-format", help="How results are printed.")
Format = Annotated[OutputFormat, _FORMAT]
Python = Annotated[str | None, typer.Option("--python", help="Interpreter with PyTorch; default: this one.")]
Script = Annotated[Path, typer.Argument(help="The script; everything behind it is passed on to it.")]
# As with `python`: options before the script are ours, everything behind it is the script's own.
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    output_format: Annotated[CheckFormat, _FORMAT] = CheckFormat.text,
    python: Python = None,
    select: Annotated[str | None, typer.Option(help="Look for these codes only, such as TS5,TS101 or ALL.")] = None,
    extend_select: Annotated[str | None, typer.Option(help="Look for these codes too.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Do not look for these codes.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Files or folders left out; may be repeated.")] = None,
    config: Annotated[Path | None, typer.Option(help="Use this pyproject.toml for all files.")] = None,
    isolated: Annotated[bool, typer.Option("--isolated", help="Read no pyproject.toml.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply safe fixes to the files.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would change, and change nothing.")] = False,
    unsafe_fixes: Annotated[bool, typer.Option("--unsafe-fixes", help="Also fixes that change behaviour.")] = False,
    baseline: Annotated[Path | None, typer.Option(help="Leave out the findings recorded in this file.")] = None,
    write_baseline: Annotated[Path | None, typer.Option(help="Record all findings in this file.")] = None,
) -> None:
    """Analyse files without running them. Exit status: 0 nothing found, 1 something found, 2 could not work.

    With --diff: 1 if there is something to change.
    """
    from torchsleuth.cli.check import Options
    from torchsleuth.cli.check import check as run

    options = Options(
        output_format.value,
        python,
        select,
        extend_select,
        ignore,
        tuple(exclude or ()),
        config,
        isolated,
        fix,
        diff,
        unsafe_fixes,
        baseline,
        write_baseline,
    )
    raise typer.Exit(run(paths, options))


@app.command()
def hints(
    file: Annotated[Path, typer.Argument(help="A Python file.")],
    output_format: Format = OutputFormat.text,
    python: Python = None,
) -> None:
    """Print what is known about each tensor expression of a file."""
    from torchsleuth.cli.hints import hints as run

    raise typer.Exit(run(file, output_format.value, python))


@app.command()
def explain(
    places: Annotated[
        list[str], typer.Argument(help="FILE:LINE or FILE:LINE:COLUMN; with --causes, files and folders.")
    ],
    causes: Annotated[bool, typer.Option("--causes", help="Count the first causes in files and folders.")] = False,
    output_format: Format = OutputFormat.text,
    python: Python = None,
) -> None:
    """Say what is known of each expression on a line, and why the rest is unknown.

    Exit status: 0, or 2 where it could not work.
    """
    from torchsleuth.cli import explain as command

    if causes:
        raise typer.Exit(command.first_causes(places, output_format.value, python))
    raise typer.Exit(max(command.explain(place, output_format.value, python) for place in places))


@app.command()
def contract(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    output_format: Annotated[ContractFormat, _FORMAT] = ContractFormat.text,
    python: Python = None,
) -> None:
    """Say what each module and function of tensors asks of its inputs, and what it gives back.

    Exit status: 0, or 2 where it could not work.
    """
    from torchsleuth.cli.contract import contract as show

    raise typer.Exit(show(paths, output_format.value, python))


@app.command()
def estimate(
    script: Annotated[Path, typer.Argument(help="A training script.")],
    batch: Annotated[int | None, typer.Option(min=1, help="The size of a batch, if not that of the script.")] = None,
    device_memory: Annotated[
        str | None, typer.Option(help="Such as 24GiB: find the largest batch that fits into it.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Count on this kind of device: cpu or cuda.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    python: Python = None,
) -> None:
    """Say how much memory a step of a training takes, without running it. Exit status: 1 where it is not known or does not fit."""
    from torchsleuth.cli.estimate import Options
    from torchsleuth.cli.estimate import estimate as run

    raise typer.Exit(run(script, Options(batch, device_memory, device, as_json, python)))


@app.command(context_settings=_PASS_ON)
def run(
    context: typer.Context,
    script: Annotated[
        str, typer.Argument(help="A script, or a folder with a __main__.py; everything behind it is passed on to it.")
    ],
    module: Annotated[bool, typer.Option("-m", help="SCRIPT is the name of a module, as for python -m.")] = False,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            help="Write the run's report here: a page (.html), TensorBoard (.tb), else JSON; may be repeated."
        ),
    ] = None,
    output_format: Format = OutputFormat.text,
    python: Python = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="End after this many optimizer steps.")] = None,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="2 samples a batch, 3 steps of training, 2 batches of each evaluation.")
    ] = False,
    timeout: Annotated[float | None, typer.Option(min=0, help="Stop after this many seconds.")] = None,
    stall: Annotated[
        float | None, typer.Option(min=0, help="Stop when training has begun, and nothing moves for so many seconds.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="The device for the script, such as cpu or cuda:1.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Record shapes in each such optimizer step only.")] = 1,
    no_record: Annotated[
        list[Recorded] | None, typer.Option("--no-record", help="Do not record this; may be repeated.")
    ] = None,
    fit_batch: Annotated[
        bool,
        typer.Option(
            "--fit-batch", help="Run it with larger and larger batches, two steps each: which one still fits?"
        ),
    ] = False,
    full_traceback: Annotated[
        bool,
        typer.Option("--full-traceback", help="Do not fold the frames of libraries in a traceback at the terminal."),
    ] = False,
    optimize: Annotated[int, typer.Option("-O", count=True, help="Passed on to the interpreter, as -X and -W.")] = 0,
    implementation: Annotated[list[str] | None, typer.Option("-X", help="Passed on to the interpreter.")] = None,
    warnings: Annotated[list[str] | None, typer.Option("-W", help="Passed on to the interpreter.")] = None,
) -> None:
    """Run a script under instrumentation and map what fails to the source.

    The diagnosis goes to standard error, and the exit status is the script's own; 2 where it could not be started.
    """
    from torchsleuth.cli.run import Options
    from torchsleuth.cli.run import run as start

    flags = ["-O"] * optimize
    flags += [item for value in implementation or () for item in ("-X", value)]
    flags += [item for value in warnings or () for item in ("-W", value)]
    limits = (max_steps, smoke, device, every, tuple(item.value for item in no_record or ()))
    options = Options(
        tuple(report or ()), output_format.value, python, module, tuple(flags), timeout, stall, limits, full_traceback
    )
    if fit_batch:
        from torchsleuth.cli.fit_batch import fit_batch as fit

        raise typer.Exit(fit(script, context.args, options))
    raise typer.Exit(start(script, context.args, options))


@app.command(context_settings=_PASS_ON)
def probe(
    context: typer.Context,
    script: Annotated[
        str, typer.Argument(help="A script, or a folder with a __main__.py; everything behind it is passed on to it.")
    ],
    kind: Annotated[
        ProbeKind,
        typer.Option(
            help="nonfinite: where is NaN born? overfit: is one batch learnt? lr: which learning rate? gradcheck: are custom"
            " gradients right? independence: do samples of a batch mix? determinism: do two runs agree? workers: do more"
            " loader workers help?"
        ),
    ] = ProbeKind.overfit,
    module: Annotated[bool, typer.Option("-m", help="SCRIPT is the name of a module, as for python -m.")] = False,
    steps: Annotated[int | None, typer.Option(min=1, help="Optimizer steps that the probe takes at most.")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Stop after this many seconds; 600, but for nonfinite.")
    ] = None,
    output_format: Format = OutputFormat.text,
    python: Python = None,
) -> None:
    """Run a script, as it is, to answer one question about it.

    Exit status: 0 it passes, 1 something was found, 2 there is no answer. The script writes what it writes; the probe nothing.
    """
    from torchsleuth.cli.probe import probe as ask

    request = (kind.value, script, tuple(context.args), module, steps, timeout)
    raise typer.Exit(ask(*request, output_format.value, python or sys.executable))


@app.command()
def collect(
    folder: Annotated[Path, typer.Argument(help="The folder that TORCHSLEUTH_RUN named.")],
    report: Annotated[
        list[Path] | None,
        typer.Option(help="Write the report here: a page (.html), TensorBoard (.tb), else JSON; may be repeated."),
    ] = None,
    output_format: Format = OutputFormat.text,
    python: Python = None,
) -> None:
    """Report what processes have left in a folder that TORCHSLEUTH_RUN named. Exit status: 1 if something was found."""
    from torchsleuth.cli.run import collect as show

    raise typer.Exit(show(folder, report or (), output_format.value, python))


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(help="A report that run --report has written, as JSON.")],
    now: Annotated[Path, typer.Argument(help="The same of a later run.")],
    fail_on: Annotated[
        str | None, typer.Option(help="Such as slower=10%,memory=10%,loss=5%: what may not be worse by more.")
    ] = None,
    output_format: Format = OutputFormat.text,
) -> None:
    """Say what has changed from one run to another. Exit status: 1 if something is worse than --fail-on allows."""
    from torchsleuth.cli.compare import compare as show

    raise typer.Exit(show(before, now, fail_on, output_format.value))


@app.command()
def diagnose(
    path: Annotated[
        Path,
        typer.Argument(help="Event files, metrics.csv, trainer_state.json, CSV or JSON lines, or a folder with them."),
    ],
    output_format: Format = OutputFormat.text,
) -> None:
    """Say what the log of a training shows. Exit status: 1 if something was found."""
    from torchsleuth.cli.diagnose import diagnose as show

    raise typer.Exit(show(path, output_format.value))


@app.command(context_settings=_PASS_ON)
def fix(
    context: typer.Context,
    script: Script,
    copy: Annotated[Path, typer.Option(help="Folder for the repaired copy.")] = Path("torchsleuth-fixed"),
    python: Python = None,
) -> None:
    """Run a copy of a script, repair it and run it again, until it works or no repair helps. Exit status: 0 it works."""
    from torchsleuth.cli.fix import fix as start

    raise typer.Exit(start(script, context.args, copy, python))


@app.command()
def rule(code: Annotated[str, typer.Argument(help="Such as TS101.")]) -> None:
    """Explain what a code means."""
    from torchsleuth.cli.rule import rule as show

    raise typer.Exit(show(code))


@app.command()
def env(output_format: Format = OutputFormat.text, python: Python = None) -> None:
    """Describe Python, PyTorch and the accelerator. Exit status: 0 PyTorch works, 2 it does not."""
    from torchsleuth.cli.env import env as show

    raise typer.Exit(show(output_format.value, python))


@app.command()
def server() -> None:
    """Serve the Language Server Protocol on standard input and output."""
    from torchsleuth.lsp.server import main as serve

    serve()


def _version(value: bool) -> None:
    if value:
        typer.echo(f"torchsleuth {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Finds, explains and repairs mistakes in PyTorch code."""


def main() -> None:
    """The entry point. A fault of our own must not look like a finding (1) or like the script's failure: status 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character of the user's source shows a question mark for it.
            stream.reconfigure(errors="replace")
    try:
        sys.exit(app(standalone_mode=False))
    except BrokenPipeError:
        # Nobody reads any more, as behind `| head`; nor shall the interpreter write what is left when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except Exception as error:
        sys.exit(_failed(error))


def _failed(error: Exception) -> int:
    """Says what went wrong. The exit status."""
    from torchsleuth.cli.output import complain, lines

    if isinstance(error, typer.Abort):
        return 2
    said = getattr(error, "format_message", None)
    if said is not None:  # a command line that makes no sense
        text = str(said())
        lines(text, sys.stderr) if "\n" in text else complain(message("cli.usage", error=text.rstrip(".")))
        return int(getattr(error, "exit_code", 2))
    lines(traceback.format_exc().rstrip("\n"), sys.stderr)
    complain(message("cli.fault", error=f"{type(error).__name__}: {error}"))
    return 2
