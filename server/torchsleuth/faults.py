"""The catalogue of faults: what each is called, how grave it is, and what it means, wherever it is found.

A fault has one code, one name and one explanation, whether the analysis of the text finds it, a run, or both. Nothing
here needs the engine: what selects, documents or shows findings reads this alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torchsleuth.faults_of_runs import PAGES
from torchsleuth.schema import Severity

_RULES = Path(__file__).parent / "rules"


@dataclass(frozen=True)
class Family:
    """Faults whose codes begin alike. `folder`: where their rules lie, None for faults that only a run shows."""

    name: str
    folder: str | None


FAMILIES = {
    "0": Family("suppression", "suppression"),
    "1": Family("shape", "shapes"),
    "2": Family("device", "devices"),
    "3": Family("dtype and loss", "losses"),
    "4": Family("autograd", "autograd"),
    "5": Family("training loop", "training"),
    "6": Family("data", "data"),
    "7": Family("memory and performance", "performance"),
    "8": Family("use of the library", "api"),
    "9": Family("seen at run time", None),
}
"""By the first digit of the code."""


@dataclass(frozen=True)
class Fault:
    """`default`: reported without being selected. `syntactic`: its rule needs the names and the text alone, so that it is
    asked before PyTorch is there. `deprecated`: what is found still works, and is no longer the way to do it; editors
    strike it through."""

    code: str
    name: str
    severity: Severity
    default: bool = True
    syntactic: bool = False
    deprecated: bool = False

    @property
    def family(self) -> Family:
        return FAMILIES[self.code[2]]

    @property
    def rule(self) -> str | None:
        """The module of the rule that finds the fault in the text, below `torchsleuth.rules`; None if only a run shows it."""
        folder = self.family.folder
        return None if folder is None else f"{folder}.{self.name.replace('-', '_')}"

    @property
    def title(self) -> str:
        """The fault in a few words."""
        return _page(self)[0]

    @property
    def explanation(self) -> str:
        """Its meaning, its harm and the remedy: a heading line without indentation above each indented section."""
        return _page(self)[1]


@cache
def _page(fault: Fault) -> tuple[str, str]:
    """Title and explanation: the docstring of the rule's file, which is read, not imported."""
    if fault.rule is None:
        text = PAGES[fault.code]
    else:
        path = _RULES.joinpath(*fault.rule.split(".")).with_suffix(".py")
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")), clean=False) or ""
    first, _, rest = text.strip().partition("\n")
    return first.removeprefix(f"{fault.name}:").strip(), rest.strip("\n")


_ALL = (
    Fault("TS001", "unused-suppression", "hint", default=False),
    Fault("TS101", "matmul-shape-mismatch", "error"),
    Fault("TS102", "conv-channel-mismatch", "error"),
    Fault("TS103", "broadcast-mismatch", "error"),
    Fault("TS104", "reshape-size-mismatch", "error"),
    Fault("TS105", "view-not-contiguous", "error"),
    Fault("TS106", "cat-mismatch", "error"),
    Fault("TS107", "dim-out-of-range", "error"),
    Fault("TS108", "rank-mismatch", "error"),
    Fault("TS109", "norm-features-mismatch", "error"),
    Fault("TS110", "rnn-size-mismatch", "error"),
    Fault("TS111", "attention-size-mismatch", "error"),
    Fault("TS112", "output-too-small", "error"),
    Fault("TS113", "loss-shape-mismatch", "error"),
    Fault("TS114", "loss-broadcast", "warning"),
    Fault("TS115", "unpack-mismatch", "error"),
    Fault("TS116", "declared-shape-mismatch", "warning"),
    Fault("TS117", "hard-coded-batch", "warning"),
    Fault("TS118", "flatten-eats-batch", "warning"),
    Fault("TS119", "batch-first-confusion", "warning"),
    Fault("TS120", "reshape-instead-of-transpose", "warning"),
    Fault("TS121", "positions-along-batch", "warning"),
    Fault("TS122", "index-not-expanded", "warning"),
    Fault("TS123", "arguments-refused", "error"),
    Fault("TS199", "operator-error", "error"),
    Fault("TS201", "device-mismatch", "error"),
    Fault("TS202", "to-result-discarded", "error"),
    Fault("TS203", "tensor-born-on-cpu", "warning"),
    Fault("TS204", "tensor-attribute-not-buffer", "warning"),
    Fault("TS205", "numpy-on-accelerator", "error"),
    Fault("TS206", "load-without-map-location", "hint"),
    Fault("TS207", "hard-coded-cuda", "hint"),
    Fault("TS208", "misspelt-device", "error"),
    Fault("TS301", "dtype-mismatch", "error"),
    Fault("TS302", "class-target-dtype", "error"),
    Fault("TS303", "softmax-before-cross-entropy", "warning"),
    Fault("TS304", "sigmoid-before-bce-with-logits", "warning"),
    Fault("TS305", "nll-without-log-softmax", "warning"),
    Fault("TS306", "bce-on-logits", "warning"),
    Fault("TS307", "binary-target-dtype", "error"),
    Fault("TS308", "softmax-over-batch", "warning"),
    Fault("TS309", "index-dtype", "error"),
    Fault("TS310", "index-out-of-range", "error"),
    Fault("TS311", "mse-on-class-indices", "warning"),
    Fault("TS312", "float-size", "error"),
    Fault("TS313", "loss-arguments-exchanged", "warning"),
    Fault("TS314", "likelihood-parameter", "warning"),
    Fault("TS315", "sign-labels", "warning"),
    Fault("TS316", "softmax-for-several-labels", "warning"),
    Fault("TS317", "weights-after-mean", "warning"),
    Fault("TS318", "mask-inverted", "warning"),
    Fault("TS319", "softmax-axis", "warning"),
    Fault("TS320", "ignored-labels-counted", "warning"),
    Fault("TS321", "overlap-of-logits", "warning"),
    Fault("TS322", "index-for-value", "warning"),
    Fault("TS323", "argmax-over-batch", "warning"),
    Fault("TS324", "mask-after-softmax", "warning"),
    Fault("TS325", "unit-vectors-over-batch", "warning"),
    Fault("TS326", "variance-for-deviation", "warning"),
    Fault("TS327", "reads-ahead", "warning"),
    Fault("TS328", "logits-cut-at-half", "warning"),
    Fault("TS329", "last-step-is-padding", "warning"),
    Fault("TS330", "divergence-sign", "warning"),
    Fault("TS331", "value-for-index", "warning"),
    Fault("TS332", "masked-with-zero", "warning"),
    Fault("TS333", "weights-of-the-frequent", "warning"),
    Fault("TS334", "scores-through-last-layer", "warning"),
    Fault("TS335", "noise-not-normal", "warning"),
    Fault("TS336", "squashed-twice", "warning"),
    Fault("TS337", "predicts-its-input", "warning"),
    Fault("TS338", "compared-with-itself", "warning"),
    Fault("TS339", "overlap-minimised", "warning"),
    Fault("TS340", "adversary-agrees", "warning"),
    Fault("TS341", "ratio-of-one", "warning"),
    Fault("TS342", "labels-of-causal-model", "warning"),
    Fault("TS343", "labels-smoothed-away", "warning"),
    Fault("TS344", "padding-counted", "warning"),
    Fault("TS345", "bytes-wrap", "warning"),
    Fault("TS346", "penalty-of-parts", "warning"),
    Fault("TS347", "agreement-alone", "warning"),
    Fault("TS348", "loss-weight-unopposed", "warning"),
    Fault("TS349", "divergence-outweighs", "warning"),
    Fault("TS350", "farthest-chosen", "warning"),
    Fault("TS351", "probabilities-as-logits", "warning"),
    Fault("TS352", "weights-summed-away", "warning"),
    Fault("TS353", "difference-rounded", "warning"),
    Fault("TS354", "box-format", "warning"),
    Fault("TS355", "pairs-inverted", "warning"),
    Fault("TS356", "divergence-of-other-scale", "warning"),
    Fault("TS357", "angles-rounded", "warning"),
    Fault("TS358", "least-is-masked", "warning"),
    Fault("TS359", "nearest-is-itself", "warning"),
    Fault("TS360", "divergence-averaged", "hint"),
    Fault("TS361", "repeated-index", "warning"),
    Fault("TS362", "lengths-before-layers", "error"),
    Fault("TS363", "offsets-are-ends", "error"),
    Fault("TS364", "background-label", "warning"),
    Fault("TS366", "fraction-dropped", "warning"),
    Fault("TS401", "backward-without-graph", "error"),
    Fault("TS402", "rewrapped-loss", "error"),
    Fault("TS403", "inplace-on-saved", "error"),
    Fault("TS404", "inplace-on-leaf", "error"),
    Fault("TS405", "backward-twice", "error"),
    Fault("TS406", "backward-on-non-scalar", "error"),
    Fault("TS407", "non-differentiable-in-loss", "warning"),
    Fault("TS408", "state-carried-across-batches", "warning"),
    Fault("TS409", "numpy-on-grad", "error"),
    Fault("TS410", "requires-grad-typo", "warning"),
    Fault("TS411", "grad-of-input-missing", "error"),
    Fault("TS412", "deepcopy-of-graph", "error"),
    Fault("TS413", "non-leaf-optimized", "error"),
    Fault("TS414", "parameter-as-number", "warning"),
    Fault("TS415", "term-without-graph", "warning"),
    Fault("TS416", "target-with-gradient", "warning"),
    Fault("TS417", "straight-through-reversed", "warning"),
    Fault("TS418", "root-of-zero", "warning"),
    Fault("TS419", "gradient-not-passed-on", "warning"),
    Fault("TS421", "hooked-output-overwritten", "error"),
    Fault("TS501", "missing-zero-grad", "warning"),
    Fault("TS502", "missing-backward", "warning"),
    Fault("TS503", "missing-step", "warning"),
    Fault("TS504", "zero-grad-before-step", "warning"),
    Fault("TS505", "missing-eval-mode", "warning"),
    Fault("TS506", "eval-without-no-grad", "warning"),
    Fault("TS507", "train-mode-not-restored", "warning"),
    Fault("TS508", "scheduler-before-optimizer", "warning"),
    Fault("TS509", "clip-in-the-wrong-place", "warning"),
    Fault("TS510", "unclipped-recurrent-training", "hint"),
    Fault("TS511", "modules-in-plain-container", "warning"),
    Fault("TS512", "optimizer-misses-parameters", "warning"),
    Fault("TS513", "forward-called-directly", "hint"),
    Fault("TS514", "accumulation-without-scaling", "warning"),
    Fault("TS515", "grad-scaler-order", "warning"),
    Fault("TS516", "functional-dropout-always-on", "warning"),
    Fault("TS517", "best-state-by-reference", "warning"),
    Fault("TS518", "missing-super-init", "error"),
    Fault("TS519", "plain-tensor-parameter", "warning"),
    Fault("TS520", "no-seed", "hint", default=False),
    Fault("TS521", "plateau-without-metric", "error"),
    Fault("TS522", "head-never-called", "warning"),
    Fault("TS523", "backward-outside-loop", "warning"),
    Fault("TS524", "return-inside-loop", "warning"),
    Fault("TS525", "gradients-discarded", "warning"),
    Fault("TS526", "closure-missing", "error"),
    Fault("TS527", "schedule-too-short", "error"),
    Fault("TS528", "parameter-rebound", "warning"),
    Fault("TS529", "parameters-used-up", "warning"),
    Fault("TS530", "state-dict-mismatch", "error"),
    Fault("TS531", "checkpoint-key", "error"),
    Fault("TS532", "module-repeated", "warning"),
    Fault("TS533", "tensor-for-parameter", "error"),
    Fault("TS534", "part-without-gradients", "warning"),
    Fault("TS535", "optimizer-made-anew", "warning"),
    Fault("TS536", "schedule-in-epochs", "warning"),
    Fault("TS537", "load-overwritten", "warning"),
    Fault("TS538", "dropout-of-one-layer", "warning"),
    Fault("TS539", "everything-dropped", "warning"),
    Fault("TS540", "target-is-network", "warning"),
    Fault("TS541", "freeze-undone", "warning"),
    Fault("TS542", "state-dict-argument", "warning"),
    Fault("TS543", "unfrozen-too-late", "warning"),
    Fault("TS544", "optimizer-argument", "warning"),
    Fault("TS545", "target-hardly-kept", "warning"),
    Fault("TS546", "divided-by-another-count", "warning"),
    Fault("TS547", "evaluation-trains", "warning"),
    Fault("TS548", "mixture-of-two-orders", "warning"),
    Fault("TS549", "norms-not-named", "warning"),
    Fault("TS550", "groups-of-a-copy", "warning"),
    Fault("TS551", "frozen-norm-adapts", "hint"),
    Fault("TS552", "gradients-left-over", "hint"),
    Fault("TS553", "eval-undone", "warning"),
    Fault("TS554", "best-never-updated", "warning"),
    Fault("TS555", "seed-set-again", "warning"),
    Fault("TS556", "activation-without-effect", "warning"),
    Fault("TS557", "sum-not-reset", "warning"),
    Fault("TS558", "scheduler-never-steps", "warning"),
    Fault("TS559", "layers-not-chained", "warning"),
    Fault("TS560", "result-not-used", "warning"),
    Fault("TS561", "units-begin-alike", "warning"),
    Fault("TS562", "patience-not-reset", "warning"),
    Fault("TS563", "returns-out-of-order", "warning"),
    Fault("TS564", "default-shared", "warning"),
    Fault("TS565", "counted-twice", "warning"),
    Fault("TS566", "mixture-of-one", "warning"),
    Fault("TS567", "model-made-anew", "warning"),
    Fault("TS568", "average-grows", "warning"),
    Fault("TS569", "layers-without-activation", "warning"),
    Fault("TS570", "target-never-updated", "warning"),
    Fault("TS571", "accelerator-bypassed", "warning"),
    Fault("TS572", "step-without-loss", "warning"),
    Fault("TS573", "norm-never-adapts", "warning"),
    Fault("TS574", "average-without-norms", "hint"),
    Fault("TS575", "accumulation-inverted", "warning"),
    Fault("TS576", "direction-of-better", "warning"),
    Fault("TS577", "last-batch-judged", "warning"),
    Fault("TS578", "kept-weights-unused", "warning"),
    Fault("TS579", "padding-initialised", "warning"),
    Fault("TS580", "monitor-not-logged", "warning"),
    Fault("TS581", "critic-trains-generator", "warning"),
    Fault("TS582", "average-in-half", "warning"),
    Fault("TS583", "state-not-restored", "warning"),
    Fault("TS584", "closure-draws", "warning"),
    Fault("TS585", "adapted-weights-unused", "warning"),
    Fault("TS586", "ramp-never-moves", "warning"),
    Fault("TS589", "nothing-to-train", "error"),
    Fault("TS590", "targets-fed-in-evaluation", "warning"),
    Fault("TS591", "checkpoint-lacks-arguments", "error"),
    Fault("TS601", "ragged-batch", "error"),
    Fault("TS602", "sample-type", "error"),
    Fault("TS603", "missing-len", "error"),
    Fault("TS604", "train-not-shuffled", "hint"),
    Fault("TS605", "shuffle-with-sampler", "error"),
    Fault("TS606", "transform-order", "error"),
    Fault("TS607", "numpy-rng-in-workers", "warning"),
    Fault("TS608", "normalize-channels", "error"),
    Fault("TS609", "batch-of-one", "warning"),
    Fault("TS610", "distributed-sampler-epoch", "warning"),
    Fault("TS611", "dataset-length-mismatch", "error"),
    Fault("TS612", "split-lengths", "error"),
    Fault("TS613", "loader-options", "error"),
    Fault("TS614", "loader-not-indexable", "error"),
    Fault("TS615", "missing-getitem", "error"),
    Fault("TS616", "no-batches", "warning"),
    Fault("TS617", "array-in-tensor-dataset", "error"),
    Fault("TS618", "list-for-tensor", "error"),
    Fault("TS619", "sampler-weights", "warning"),
    Fault("TS620", "index-not-used", "warning"),
    Fault("TS621", "stream-repeated-by-workers", "warning"),
    Fault("TS622", "transform-of-subset", "warning"),
    Fault("TS623", "loader-of-whole", "warning"),
    Fault("TS624", "sample-changed-in-place", "warning"),
    Fault("TS625", "distributed-without-sampler", "warning"),
    Fault("TS626", "rows-in-other-order", "warning"),
    Fault("TS627", "augmented-apart", "warning"),
    Fault("TS628", "shuffled-apart", "warning"),
    Fault("TS629", "split-apart", "warning"),
    Fault("TS630", "fitted-on-test", "warning"),
    Fault("TS631", "target-in-window", "warning"),
    Fault("TS632", "target-among-inputs", "warning"),
    Fault("TS633", "same-array-kept", "warning"),
    Fault("TS634", "copies-on-both-sides", "warning"),
    Fault("TS635", "labels-interpolated", "warning"),
    Fault("TS636", "measured-on-training", "warning"),
    Fault("TS637", "categories-numbered-apart", "warning"),
    Fault("TS638", "labels-dropped", "error"),
    Fault("TS639", "tokens-added-later", "warning"),
    Fault("TS640", "edges-not-offset", "warning"),
    Fault("TS641", "ids-counted", "hint"),
    Fault("TS642", "boxes-may-be-empty", "hint"),
    Fault("TS701", "graph-kept-alive", "warning"),
    Fault("TS702", "sync-in-hot-loop", "hint", default=False),
    Fault("TS703", "loader-workers", "hint", default=False),
    Fault("TS704", "empty-cache-in-loop", "hint"),
    Fault("TS705", "unstable-expression", "hint", syntactic=True),
    Fault("TS706", "zero-grad-keeps-memory", "hint", default=False, syntactic=True),
    Fault("TS707", "hooks-pile-up", "warning"),
    Fault("TS708", "file-read-for-sample", "warning"),
    Fault("TS801", "removed-function", "error", syntactic=True),
    Fault("TS802", "deprecated-function", "hint", syntactic=True, deprecated=True),
    Fault("TS803", "load-without-weights-only", "warning"),
    Fault("TS804", "checkpoint-use-reentrant", "hint", syntactic=True, deprecated=True),
    Fault("TS805", "deprecated-autocast", "hint", syntactic=True, deprecated=True),
    Fault("TS806", "torchvision-pretrained", "hint", syntactic=True, deprecated=True),
    Fault("TS807", "transforms-to-tensor", "warning", syntactic=True),
    Fault("TS808", "non-public-function", "hint", syntactic=True, deprecated=True),
    Fault("TS809", "torchvision-import-style", "hint", default=False, syntactic=True),
    Fault("TS810", "legacy-tensor-constructor", "hint", deprecated=True),
    Fault("TS811", "method-not-called", "error"),
    Fault("TS812", "load-result-as-module", "error"),
    Fault("TS813", "pair-as-tensor", "error"),
    Fault("TS814", "param-groups-index", "error"),
    Fault("TS815", "argument-of-wrong-kind", "error"),
    Fault("TS816", "tensor-of-tensor", "hint"),
    Fault("TS820", "arguments-do-not-fit", "error"),
    Fault("TS821", "misspelt-name", "error"),
    Fault("TS822", "not-a-module", "error"),
    Fault("TS823", "not-a-tensor", "error"),
    Fault("TS824", "misspelt-method", "error"),
    Fault("TS825", "wrong-kind", "error"),
    Fault("TS826", "option-type", "warning"),
    Fault("TS827", "hook-arguments", "error"),
    Fault("TS914", "out-of-memory", "error"),
    Fault("TS915", "process-killed", "error"),
    Fault("TS916", "no-progress", "error"),
    Fault("TS917", "ranks-apart", "warning"),
    Fault("TS918", "script-error", "error"),
    Fault("TS920", "loss-not-finite", "error"),
    Fault("TS921", "loss-not-falling", "warning"),
    Fault("TS922", "output-ignores-input", "warning"),
    Fault("TS923", "exploding-gradients", "warning"),
    Fault("TS924", "vanishing-gradients", "warning"),
    Fault("TS925", "dead-units", "warning"),
    Fault("TS926", "saturated-units", "warning"),
    Fault("TS927", "learning-rate-too-large", "warning"),
    Fault("TS928", "learning-rate-too-small", "warning"),
    Fault("TS930", "inputs-not-scaled", "warning"),
    Fault("TS931", "inputs-repeated", "warning"),
    Fault("TS932", "labels-constant", "warning"),
    Fault("TS933", "labels-unrelated", "warning"),
    Fault("TS934", "validation-overlap", "warning"),
    Fault("TS935", "waiting-for-data", "warning"),
    Fault("TS936", "validation-loss-rises", "warning"),
    Fault("TS937", "scale-collapses", "warning"),
    Fault("TS938", "scheduler-not-stepped", "warning"),
    Fault("TS941", "one-class-predicted", "warning"),
    Fault("TS943", "units-alike", "warning"),
    Fault("TS944", "weights-decayed", "warning"),
    Fault("TS945", "loss-without-bound", "warning"),
    Fault("TS946", "samples-one-by-one", "warning"),
    Fault("TS947", "evaluation-too-often", "warning"),
    Fault("TS948", "steps-go-up", "warning"),
    Fault("TS949", "gradients-clipped-away", "warning"),
    Fault("TS950", "weights-begin-large", "warning"),
    Fault("TS951", "targets-not-scaled", "warning"),
    Fault("TS952", "evaluation-augmented", "warning"),
    Fault("TS953", "operators-one-by-one", "warning"),
    Fault("TS954", "frames-too-few", "warning"),
    Fault("TS955", "updates-rounded-away", "warning"),
    Fault("TS956", "evaluation-scaled-otherwise", "warning"),
    Fault("TS957", "scores-too-close", "warning"),
    Fault("TS958", "anomaly-detection-left-on", "warning"),
    Fault("TS959", "blank-among-labels", "warning"),
    Fault("TS961", "batches-left-out", "warning"),
    Fault("TS962", "copy-not-updated", "warning"),
    Fault("TS963", "evaluation-normalised-by-batch", "warning"),
    Fault("TS964", "classes-numbered-otherwise", "warning"),
)

FAULTS: dict[str, Fault] = {fault.code: fault for fault in _ALL}
"""Every fault by its code, in order."""
