"""Every user-facing message of the Python side, in one catalogue, so that a translation is one more table."""

from __future__ import annotations

from typing import Any

ENGLISH: dict[str, str] = {
    # shapes
    "matmul.linear": (
        "{tensor} is {shape}: its last size {got} does not fit {layer}, which was built with in_features={wanted}"
    ),
    "matmul.operands": "{left} is {left_shape} and {right} is {right_shape}: inner sizes {a} and {b} differ",
    "conv.channels": "{tensor} is {shape} with {got} channels, but {layer} was built with in_channels={wanted}",
    "reshape.size": "{tensor} is {shape}, {count} elements, which {call} cannot arrange",
    "view.layout": "{tensor} is {shape} and not contiguous after {producer}: view cannot be used on it, reshape can",
    "operator.error": "{operator}({shapes}): {error}",
    "operator.plain": "{operator}: {error}",
    "related.constructor": "{layer} is defined here with {argument}={value}",
    "related.constructor.plain": "{layer} is defined here",
    "related.origin": "{tensor} becomes {shape} here, by {operator} of {inputs}",
    "related.origin.plain": "{tensor} becomes {shape} here",
    "related.call": "reached by this call",
    # devices
    "device.operands": "{left} is on {left_device} and {right} is on {right_device}: {operator} needs both on one device",
    "device.module": "{tensor} is on {tensor_device}, but the weights of {module} are on {module_device}",
    "device.born": "{tensor} is created here, on {device}",
    "device.moved": "{module} is used with its weights on {device}",
    "to.discarded": "{call} does not change {tensor}: the result is thrown away, assign it",
    "fix.assign": "Assign the result of {call} to {tensor}",
    # losses
    "softmax.cross_entropy": (
        "{tensor} already went through {softmax}, and cross entropy applies log_softmax itself: pass the raw logits"
    ),
    "softmax.here": "{softmax} is applied here",
    # loop
    "zero_grad.missing": "gradients of {optimizer} are never cleared: each backward() adds to those of the steps before",
    "zero_grad.step": "{optimizer} steps here with the gradients of all iterations so far",
    "no_grad.missing": (
        "{module} is evaluated here with autograd recording: no backward() follows, so the graph only costs memory"
    ),
    "clip.missing": "{module} is recurrent or attention-based and trained without gradient clipping",
    # fixes
    "fix.argument": "Change {argument} of {layer} from {old} to {new}",
    "fix.call_argument": "Pass {new} instead of {old} for {argument} of {layer}",
    "fix.to_device": "Move {tensor} to {device} here",
    "fix.to_device_loop": "Move {tensor} to {device} at the top of the loop",
    "fix.reshape": "Use reshape instead of view",
    "fix.flatten": "Use flatten(1) to keep the batch dimension",
    "fix.size": "Change {old} to {new}",
    "fix.transpose": "Transpose {tensor}",
    "fix.permute": "Permute {tensor} from channels-last to channels-first",
    "fix.unsqueeze": "Add the missing channel dimension to {tensor}",
    "fix.remove_softmax": "Remove {softmax}",
    "fix.zero_grad": "Insert {optimizer}.zero_grad() before backward()",
    "fix.no_grad": "Wrap in with torch.no_grad():",
    "fix.clip": "Clip gradients between backward() and step()",
    # analysis
    "analysis.budget": "the analysis stopped early: {reason}",
    # worker
    "worker.no_torch": "PyTorch is not installed in {python}: choose an interpreter that has it, or install it there",
    "worker.broken_torch": "PyTorch cannot be imported in {python}: {error}",
    "worker.old_torch": "{python} has torch {version}: {wanted} or newer is needed",
    "worker.old_python": "{python} is Python {version}: {wanted} or newer is needed",
    "worker.cannot_start": "{python} cannot be started: {error}",
    "worker.no_start": "{python} ended before the analysis was ready",
    "worker.ready": "torch {torch}, Python {python}",
    "worker.died": "the analysis of {path} did not answer in time or ended unexpectedly",
    "worker.unfinished": "the analysis did not finish and was stopped",
    "worker.deadly_text": "this text made the analysis fail before; it is tried again when it changes",
    "worker.given_up": "the analysis ended unexpectedly {count} times in a row",
    "worker.closed": "the analysis was stopped",
    # command line
    "cli.missing": "{path} does not exist",
    "cli.not_a_file": "{path} is a folder: name a script in it",
    "cli.undecodable": "{path} cannot be decoded: {error}",
    "cli.unreadable": "{path} cannot be read: {error}",
    "cli.not_python": "{path}:{line}: not Python: {error}",
    "cli.incomplete": "{path}: {reason}",
    "cli.cannot_start": "{python} cannot be started: {error}",
    "cli.cannot_write": "{path} cannot be written: {error}",
    "cli.no_answer": "{python} did not say what it is: {error}",
    "cli.env_no_torch": "PyTorch cannot be imported in {python}: {error}",
    "cli.no_rule": "there is no rule {code}; known: {known}",
    "cli.fault": "a fault of TorchSleuth itself, please report it: {error}",
    "cli.note": "note: {message}  ({path}:{line})",
    "cli.fix": "fix: {title}",
    "cli.possible_fix": "possible fix: {title}",
    "cli.unverified": "{title} (not verified)",
    "cli.more_lines": "… {count} more lines",
    "cli.checked": "{files} checked: {found}",
    "cli.nothing_found": "nothing found",
    "cli.remaining": "[REMAINING] {path}:{line}  {code} {message}",
    "cli.status": "Status: {status} | Errors Fixed: {count} | Files Modified: {files}",
    # editor
    "editor.untrusted": "the workspace is not trusted: nothing is analysed or run",
    "editor.analyzing": "Analysing PyTorch code",
    "editor.starting": "starting {python}",
    "editor.running": "Running {script}",
    "editor.lens.run": "▶ Run and Diagnose",
    "editor.confirmed": "{message} (confirmed by run)",
    "editor.stale": "{message} (from a run before this line changed)",
    "editor.hint.observed": "{hint} ◉",
    "editor.inferred": "inferred from the source",
    "editor.observed": "observed in the last run",
    "editor.shape_unknown": "shape unknown",
    "editor.requires_grad": "requires grad",
    "editor.no_grad": "no grad",
    "editor.run.missing": "{path} is no file on disk: save it first",
    "editor.run.busy": "{script} is still running: stop it first",
    "editor.run.finished": "{script} finished",
    "editor.run.status": "{script} ended with exit status {status}",
    "editor.run.crashed": "{script} crashed: {error}",
    "editor.run.cancelled": "{script} was stopped",
    "editor.run.failed": "{script} could not be run: {error}",
    "editor.run.found": "{code} at {place}: {message}",
    "editor.fix.measured": "{title} (from the run)",
}


def message(identifier: str, **values: Any) -> str:
    """The message with its placeholders filled. Raises KeyError for an unknown identifier."""
    return ENGLISH[identifier].format(**values)
