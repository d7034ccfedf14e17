"""checkpoints-not-limited: total_limit of a project whose checkpoints the accelerator does not name.

What it finds
    `ProjectConfiguration(total_limit=…)` without `automatic_checkpoint_naming=True`, where `save_state()` is called with a folder.
Why it hurts
    Only checkpoints that the accelerator names itself are counted and deleted: the folders pile up until the disk is full.
Example
    config = ProjectConfiguration(project_dir="runs", total_limit=2)
    accelerator = Accelerator(project_config=config)
    accelerator.save_state(f"runs/epoch_{epoch}")
Use instead
    config = ProjectConfiguration(project_dir="runs", automatic_checkpoint_naming=True, total_limit=2)
    accelerator = Accelerator(project_config=config)
    accelerator.save_state()
Fix safety
    Unsafe: the checkpoints get other names.
References
    accelerate.utils.ProjectConfiguration
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.accelerate import ACCELERATOR, names_checkpoints
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_read, keyword_of, nodes_in
from torchsleuth.values import LibraryObject

CODE = "TS836"
_NAMING = "automatic_checkpoint_naming"


def find(analysis: Analysis) -> Iterator[Finding]:
    saves = [call for call in analysis.calls_at_places(f"{ACCELERATOR}.save_state") if call.given(0, "output_dir")]
    trees = [analysis.tree(one.path) for one in analysis.sources] if saves else []
    if any(not is_read(part) for tree in trees for part in nodes_in(tree, ast.Attribute) if part.attr == _NAMING):
        return
    for made in analysis.calls_at_places(".ProjectConfiguration"):
        project, node = made.result, made.site.call
        limit = keyword_of(node, "total_limit") if node is not None else None
        own = [call for call in saves if _is_of(call, project)]
        if not isinstance(project, LibraryObject) or limit is None or not own or names_checkpoints(project):
            continue
        if type(project.kwargs.get("total_limit")) is int:
            text = message("accelerator.not_limited", limit=made.site.source.segment(limit))
            place = own[0].site.span.related(message("accelerator.folder"))
            yield Finding(made.site.source.span(limit), text, (place,), tuple(_named(made, own)))


def _is_of(save: LibraryCall, project: object) -> bool:
    """Whether the accelerator that saves was made with a project."""
    return isinstance(save.receiver, LibraryObject) and save.receiver.kwargs.get("project_config") is project


def _named(made: LibraryCall, saves: list[LibraryCall]) -> Iterator[Candidate]:
    """The names left to the accelerator: ``automatic_checkpoint_naming=True``, and ``save_state()``."""
    node = made.site.call
    folders = [(save, save.site.call) for save in saves]
    if node is None or any(call is None or len(call.args) != 1 or call.keywords for _, call in folders):
        return
    changes: list[Edit] = [edits.set_keyword(made.site.source, node, _NAMING, "True")]
    changes += [edits.replace(save.site.source, call.args[0], "") for save, call in folders if call is not None]
    yield Candidate(message("fix.add_argument", argument=f"{_NAMING}=True"), tuple(changes), safe=False)


RULE = Rule(FAULTS[CODE], find)
