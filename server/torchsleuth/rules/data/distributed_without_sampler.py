"""distributed-without-sampler: every process of a distributed training goes through all of the data.

What it finds
    A loader that shuffles, whose batches a DistributedDataParallel model is trained on, in a program without any sampler for
    several processes.
Why it hurts
    Each process draws from the whole data set by itself. An epoch takes as long as with one process, a sample is seen several
    times in it, and the averaged gradients stand for fewer samples than they seem to.
Example
    loader = DataLoader(dataset, batch_size=32, shuffle=True)
Use instead
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
Fix safety
    Unsafe: the sampler needs `set_epoch()` in each epoch, too, or the order is the same every time.
References
    torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, keyword_of

CODE = "TS625"
_LOADER = "torch.utils.data.DataLoader"
_SHARDS = (
    "DistributedSampler",
    "DistributedSamplerWrapper",
    "SLURM_PROCID",
    "split_dataset_by_node",
    "prepare",
)
"""Names in a text that says by itself which process takes which samples."""


def find(analysis: Analysis) -> Iterator[Finding]:
    wrapped = [path for path in analysis.calls if path.endswith(".DistributedDataParallel")]
    sources = (analysis.source, *analysis.workspace.read)
    texts = [source.text for source in sources]
    if not wrapped or any(name in text for text in texts for name in _SHARDS):
        return
    if any("get_rank" in source.text and _uses_rank(analysis, source.path) for source in sources):
        return
    reported: set[Span] = set()
    trained = {point.span for event in analysis.events("backward") for point in event.loops if point.over_loader}
    for call in analysis.calls.get(_LOADER, ()):
        if call.site.span in reported or call.given(2, "shuffle", False) is not True or not trained:
            continue
        if any(call.given(position, name) is not None for position, name in ((3, "sampler"), (4, "batch_sampler"))):
            continue
        made = getattr(call.given(0, "dataset"), "site", None)
        if made is not None and "rank" in ast.unparse(made.node):
            continue
        reported.add(call.site.span)
        yield Finding(call.site.span, message("sampler.missing"), (), _sampled(analysis, call))


def _uses_rank(analysis: Analysis, path: str) -> bool:
    """Whether the rank is used for anything but to ask which process this is: ``if get_rank() == 0``."""
    index = analysis.index(path)
    calls = [part for part in index.of_type(ast.Call) if called(part) == "get_rank"]
    return any(not isinstance(index.parents.get(part), ast.Compare) for part in calls)


def _sampled(analysis: Analysis, call: LibraryCall) -> Iterator[Candidate]:
    """A sampler in the place of the order that is drawn."""
    node, source = call.site.call, call.site.source
    if node is None or not node.args:
        return
    shuffle = keyword_of(node, "shuffle")
    if shuffle is None:
        return
    statement = "from torch.utils.data.distributed import DistributedSampler"
    imports = edits.add_import(source, analysis.tree(source.path), statement)
    text = f"sampler=DistributedSampler({source.segment(node.args[0])})"
    title = message("fix.replace", old=source.segment(shuffle), new=text)
    yield Candidate(title, (*imports, edits.replace(source, shuffle, text)), safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
