"""state-not-restored: a checkpoint holds the state of a schedule or a scaler, and resuming leaves it there.

What it finds
    A dict for `torch.save()` with the `state_dict()` of an object, in a file that loads a checkpoint, takes the state of the
    optimizer out of it, and never that of the other one.
Why it hurts
    The training that is resumed goes on with the weights and moments it had, and with a schedule that begins anew: the learning rate
    jumps back to its first value, a warm-up is run again. Nothing is raised.
Example
    torch.save({"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, "last.pt")
    state = torch.load("last.pt")
    optimizer.load_state_dict(state["optimizer"])
Use instead
    torch.save({"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, "last.pt")
    state = torch.load("last.pt")
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
Fix safety
    Safe: the object gets the state that was saved for it.
References
    "Saving and Loading a General Checkpoint" in the tutorials of PyTorch
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, is_text

CODE = "TS583"
_LATE = ("sched", "scaler", "warmup")
"""Parts of the names of what goes on from step to step beside the weights."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    calls = index.of_type(ast.Call)
    if "load_state_dict" not in source.text or "last_epoch" in source.text:
        return
    loads = [call for call in calls if is_method_call(call, "load_state_dict") and call.args]
    keyed: dict[str, ast.Call] = {}
    for call in loads:
        given = call.args[0]
        if not isinstance(given, ast.Subscript) or not is_text(given.slice):
            return  # a state that is found otherwise may be any
        keyed[given.slice.value] = call
    written = [node.value for node in index.of_type(ast.Constant) if is_text(node)]
    for payload in index.of_type(ast.Dict):
        states = {
            key.value: value
            for key, value in zip(payload.keys, payload.values)
            if is_text(key) and is_method_call(value, "state_dict")
        }
        beside = next((keyed[key] for key in states if key in keyed and "opt" in key.lower()), None)
        for key, value in states.items() if beside is not None else ():
            owner = ast.unparse(value.func.value)
            late = any(part in owner.lower() for part in _LATE)
            # `scheduler.step(epoch)` says where it is.
            told = any(
                is_method_call(call, "step") and call.args and ast.unparse(call.func.value) == owner for call in calls
            )
            restored = told or any(is_method_call(call) and ast.unparse(call.func.value) == owner for call in loads)
            if late and not restored and written.count(key) == 1 and beside is not None:
                places = (source.span(value).related(message("state.kept.saved")),)
                text = message("state.kept", name=f"`{owner}`", key=repr(key))
                yield Finding(source.span(beside), text, places, tuple(_restored(analysis, beside, owner, key)))


def _restored(analysis: Analysis, beside: ast.Call, owner: str, key: str) -> Iterator[Candidate]:
    """The state taken out of the same checkpoint, below that of the optimizer."""
    source, given = analysis.source, beside.args[0]
    statement = edits.enclosing_statement(analysis.tree(source.path), beside)
    if isinstance(given, ast.Subscript) and isinstance(statement, ast.Expr):
        line = f'{owner}.load_state_dict({source.segment(given.value)}["{key}"])'
        yield Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, statement, line),))


RULE = Rule(FAULTS[CODE], find)
