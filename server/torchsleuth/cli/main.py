"""``torchsleuth``: the commands and their options."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from torchsleuth import __version__

app = typer.Typer(
    help="Finds, explains and repairs mistakes in PyTorch code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class OutputFormat(str, Enum):
    text = "text"
    concise = "concise"
    json = "json"


Format = Annotated[OutputFormat, typer.Option("--output-format", help="How results are printed.")]
Python = Annotated[str | None, typer.Option("--python", help="Interpreter with PyTorch; default: this one.")]
Script = Annotated[Path, typer.Argument(help="The script to run.")]
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    output_format: Format = OutputFormat.text,
    python: Python = None,
) -> None:
    """Analyse files without running them. Exit status: 0 nothing found, 1 something found, 2 could not work."""
    from torchsleuth.cli.check import check as run

    raise typer.Exit(run(paths, output_format.value, python))


@app.command()
def hints(file: Path, output_format: Format = OutputFormat.text, python: Python = None) -> None:
    """Print what is known about each tensor expression of a file."""
    from torchsleuth.cli.hints import hints as run

    raise typer.Exit(run(file, output_format.value, python))


@app.command(context_settings=_PASS_ON)
def run(
    context: typer.Context,
    script: Script,
    report: Annotated[Path | None, typer.Option(help="Write the run's report as JSON.")] = None,
    python: Python = None,
) -> None:
    """Run a script under instrumentation and map what fails to the source. Passes on its exit status."""
    from torchsleuth.cli.run import run as start

    raise typer.Exit(start(script, context.args, report, python))


@app.command(context_settings=_PASS_ON)
def fix(
    context: typer.Context,
    script: Script,
    copy: Annotated[Path, typer.Option(help="Folder for the repaired copy.")] = Path("torchsleuth-fixed"),
    python: Python = None,
) -> None:
    """Run, repair a copy and run that, until it works or three repairs of one error have failed."""
    from torchsleuth.cli.fix import fix as start

    raise typer.Exit(start(script, context.args, copy, python))


@app.command()
def rule(code: str) -> None:
    """Explain a rule, e.g. ``torchsleuth rule TS101``."""
    from torchsleuth.cli.rule import rule as show

    raise typer.Exit(show(code))


@app.command()
def env(output_format: Format = OutputFormat.text, python: Python = None) -> None:
    """Describe the PyTorch environment."""
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
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Finds, explains and repairs mistakes in PyTorch code."""


def main() -> None:
    app()


if __name__ == "__main__":
    main()
