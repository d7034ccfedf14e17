"""hook-arguments: a method that a trainer calls, and that cannot take what it is called with.

What it finds
    `compute_loss()` and `training_step()` in a subclass of the Trainer of transformers, methods of its callbacks, and hooks of
    Lightning's modules, data modules and callbacks: without a parameter for something that the trainer passes, or with one
    that it does not pass, as those written for an earlier version have. Hooks that Lightning refuses since 2.0.
Why it hurts
    TypeError at the first call, which may come only after the data were loaded.
Example
    class Focal(Trainer):
        def compute_loss(self, model, inputs, return_outputs=False): ...
Use instead
        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None): ...
Fix safety
    Safe where a parameter is added, or one is left out that the method does not use.
References
    transformers.Trainer.compute_loss, lightning.pytorch.LightningModule, "Hooks"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.installed import version_of
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import name_span, subclasses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import by_position, every_parameter, nodes_in

CODE = "TS827"


@dataclass(frozen=True)
class _Calls:
    """How a package calls the methods of a class, by their names: ``"batch batch_idx"`` by position, ``"stage="`` by name. `since`: the
    version from which on it does. `refused`: methods that it does not allow any more."""

    packages: tuple[str, ...]
    since: tuple[int, int]
    methods: dict[str, str]
    refused: tuple[str, ...] = ()


_LIGHTNING = ("lightning", "pytorch-lightning")
_TRANSFORMERS = ("transformers",)
_STEPS = "batch batch_idx"
_CALLBACK = "args state control model= optimizer= lr_scheduler= train_dataloader= eval_dataloader="
_EVENTS = (
    "init_end train_begin train_end epoch_begin epoch_end step_begin step_end pre_optimizer_step optimizer_step substep_end "
    "evaluate predict save log prediction_step"
).split()
_WITH_MODULE = (
    "fit_start fit_end sanity_check_start sanity_check_end train_start train_end train_epoch_start train_epoch_end "
    "validation_start validation_end validation_epoch_start validation_epoch_end test_start test_end test_epoch_start "
    "test_epoch_end predict_start predict_end predict_epoch_start after_backward"
).split()
_CALLED = {
    "Trainer": _Calls(
        _TRANSFORMERS,
        (4, 46),
        {
            "compute_loss": "model inputs num_items_in_batch=",
            "training_step": "model inputs num_items_in_batch",
        },
    ),
    "TrainerCallback": _Calls(_TRANSFORMERS, (4, 0), {f"on_{event}": _CALLBACK for event in _EVENTS}),
    "LightningModule": _Calls(
        _LIGHTNING,
        (2, 0),
        {
            **{f"on_{event}": "" for event in _WITH_MODULE},
            "setup": "stage=",
            "teardown": "stage=",
            "on_train_batch_start": _STEPS,
            "on_train_batch_end": f"outputs {_STEPS}",
            "optimizer_step": "epoch batch_idx optimizer optimizer_closure",
            "optimizer_zero_grad": "epoch batch_idx optimizer",
            "lr_scheduler_step": "scheduler metric",
            "on_before_zero_grad": "optimizer",
            "on_before_optimizer_step": "optimizer",
            "configure_gradient_clipping": "optimizer gradient_clip_val= gradient_clip_algorithm=",
            "configure_optimizers": "",
            "backward": "loss",
        },
        ("training_epoch_end", "validation_epoch_end"),
    ),
    "LightningDataModule": _Calls(_LIGHTNING, (2, 0), {"setup": "stage=", "teardown": "stage=", "prepare_data": ""}),
    "Callback": _Calls(
        _LIGHTNING,
        (2, 0),
        {
            **{f"on_{event}": "trainer pl_module" for event in _WITH_MODULE},
            "setup": "trainer pl_module stage=",
            "on_train_batch_start": f"trainer pl_module {_STEPS}",
            "on_train_batch_end": f"trainer pl_module outputs {_STEPS}",
            "on_before_optimizer_step": "trainer pl_module optimizer",
            "on_before_zero_grad": "trainer pl_module optimizer",
        },
    ),
}
"""Classes whose subclasses are called by the package that they are of, by their names there."""
_PACKAGES = {"transformers": _TRANSFORMERS, "lightning": _LIGHTNING, "pytorch_lightning": _LIGHTNING}


def find(analysis: Analysis) -> Iterator[Finding]:
    for owner, base in subclasses(analysis, lambda path: path.rpartition(".")[2] in _CALLED):
        path = base.split(".")
        calls = _CALLED[path[-1]]
        installed = version_of(*sorted(calls.packages, key=lambda name: name.replace("-", "_") != path[0]))
        if _PACKAGES.get(path[0]) != calls.packages or installed is None or installed < calls.since:
            continue
        for method in of_kind(owner.body, ast.FunctionDef):
            yield from _of_method(analysis, method, calls, path)


def _of_method(analysis: Analysis, method: ast.FunctionDef, calls: _Calls, path: list[str]) -> Iterator[Finding]:
    if method.name in calls.refused and not method.decorator_list:
        text = message("hook.refused", hook=method.name, new=f"on_{method.name.replace('training', 'train')}")
        yield Finding(name_span(analysis.source, method), text)
    elif method.name in calls.methods and not method.decorator_list:
        given = calls.methods[method.name].split()
        positions = [one for one in given if not one.endswith("=")]
        keywords = [one[:-1] for one in given if one.endswith("=")]
        wrong = _wrong(method, positions, keywords)
        if wrong is not None:
            called = ", ".join([*positions, *(f"{one}=…" for one in keywords[:2]), *("…" for _ in keywords[2:3])])
            text = message("hook.arguments", package=path[0], hook=method.name, arguments=called, wrong=wrong)
            yield Finding(
                name_span(analysis.source, method), text, (), tuple(_taking(analysis, method, positions, keywords))
            )


def _wrong(method: ast.FunctionDef, positions: list[str], keywords: list[str]) -> str | None:
    """Why a call by these positions and keywords fails, in the words of the catalogue."""
    arguments = method.args
    own = [one.arg for one in by_position(arguments)][1:]
    required = own[: len(own) - len(arguments.defaults)] if arguments.defaults else own
    required += [one.arg for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is None]
    names = {one.arg for one in every_parameter(arguments)} - {one.arg for one in arguments.posonlyargs}
    if len(own) < len(positions) and arguments.vararg is None:
        return message("hook.few", count=len(positions), own=len(own))
    unknown = [one for one in keywords if one not in names]
    if unknown and arguments.kwarg is None:
        return message("hook.no_parameter", name=unknown[0])
    missing = [one for one in required if one not in own[: len(positions)] and one not in keywords]
    return message("hook.not_passed", name=missing[0]) if missing else None


def _taking(
    analysis: Analysis, method: ast.FunctionDef, positions: list[str], keywords: list[str]
) -> Iterator[Candidate]:
    """The method with parameters for what it is called with."""
    source, arguments = analysis.source, method.args
    own = by_position(arguments)
    if not own or arguments.posonlyargs:
        return
    defaults = dict(zip([one.arg for one in own[::-1]], [source.segment(one) for one in arguments.defaults[::-1]]))
    used = {part.id for part in nodes_in(method, ast.Name)}
    by_name = {one.arg: one for one in own}
    named = [by_name[one] for one in positions if one in by_name]
    kept = [own[0], *named] if len(named) == len(positions) else own[: len(positions) + 1]
    rest = [one for one in own if one not in kept and (one.arg in defaults or one.arg in keywords)]
    if any(one.arg in used for one in own if one not in kept and one not in rest) or arguments.kwonlyargs:
        return
    names = {one.arg for one in (*kept, *rest)}
    texts = [source.segment(one) + (f"={defaults[one.arg]}" if one.arg in defaults else "") for one in kept]
    texts += [one for one in positions[len(kept) - 1 :] if one not in names]
    texts += [f"{source.segment(one)}={defaults.get(one.arg, 'None')}" for one in rest]
    lacking = [one for one in keywords if one not in names]
    if arguments.vararg is not None:
        texts.append(f"*{source.segment(arguments.vararg)}")
    if arguments.kwarg is None and len(lacking) < 3:
        texts += [f"{one}=None" for one in lacking]
    elif arguments.kwarg is not None or lacking:
        texts.append("**kwargs" if arguments.kwarg is None else f"**{source.segment(arguments.kwarg)}")
    new = ", ".join(texts)
    ends = [*own, *arguments.defaults, arguments.vararg, arguments.kwarg]
    last = max((one for one in ends if one is not None), key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
    starred = last in (arguments.vararg, arguments.kwarg)
    if not starred or last is arguments.kwarg:
        edit = edits.replace_between(source, own[0], last, new)
        yield Candidate(message("fix.parameters", names=new), (edit,))


RULE = Rule(FAULTS[CODE], find)
