"""trackers-not-started: accelerator.log() before there is any tracker.

What it finds
    `accelerator.log()` of an `Accelerator(log_with=…)` in a program that never calls `init_trackers()`.
Why it hurts
    log() goes through the trackers that were started, and there are none: nothing is written, and nothing is raised.
Example
    accelerator = Accelerator(log_with="tensorboard", project_dir="runs")
    accelerator.log({"loss": loss.item()}, step=step)
Use instead
    accelerator = Accelerator(log_with="tensorboard", project_dir="runs")
    accelerator.init_trackers("training")
    accelerator.log({"loss": loss.item()}, step=step)
Fix safety
    Unsafe: the name of the project is made up.
References
    accelerate.Accelerator.init_trackers
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.accelerate import ACCELERATOR
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.accelerators import called_by_name, name_of
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.values import is_object

CODE = "TS835"


def find(analysis: Analysis) -> Iterator[Finding]:
    if called_by_name(analysis, "init_trackers") or any(".trackers" in one.text for one in analysis.sources):
        return
    made = {id(call.result): call for call in analysis.calls_at_places(ACCELERATOR)}
    for log in analysis.calls_at_places(f"{ACCELERATOR}.log")[:1]:
        accelerator = made.get(id(log.receiver))
        escaped = not is_object(log.receiver, ACCELERATOR) or log.receiver.identity in analysis.trace.escaped
        if accelerator is not None and not escaped and accelerator.kwargs.get("log_with") is not None:
            place = accelerator.site.span.related(message("accelerator.made"))
            text = message("accelerator.no_trackers")
            yield Finding(log.site.span, text, (place,), tuple(_started(analysis, accelerator, log)))


def _started(analysis: Analysis, made: LibraryCall, log: LibraryCall) -> Iterator[Candidate]:
    statement, name = statement_of(analysis, made.site), name_of(log)
    if statement is not None and name is not None and is_alone(statement, analysis, made.site.span.path):
        if made.site.scene.function is log.site.scene.function:
            line = f'{name}.init_trackers("training")'
            edit = edits.insert_line_after(made.site.source, statement, line)
            yield Candidate(message("fix.insert", text=line), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
