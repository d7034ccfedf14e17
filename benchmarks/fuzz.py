"""Analyses mutated documents, bombs among them, and counts what must not happen: a worker that dies or has to be killed, an error
of the analysis itself, a place outside of the document, a fix that breaks it.

    python -m benchmarks.fuzz [FOLDER…] [--count N] [--seed N] [--seconds N] [--verify SHARE] [--keep FOLDER]

The sources that are mutated are those in the folders, by default `tests/corpus` and `examples`. Each document goes through the
worker that editor and command line use. The time of a document is that of the worker's processor, so that other work on the
machine makes no difference (measured on Linux only). Documents with a failure are kept. The exit status is 1 where there was
one.
"""

from __future__ import annotations

import argparse
import ast
import io
import keyword
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import bombs
from torchsleuth.schema import FileAnalysis, Position
from torchsleuth.syntax.parse import parses
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable
from torchsleuth.worker.request import Analyze
from torchsleuth.worker.times import Times

ROOT = Path(__file__).parents[1]
HANG_SECONDS = 60.0
"""Time of the processor after which a worker is killed: three times what a document may take."""
MEMORY_MB = 6000
"""Memory at which it is killed, so that the machine does not suffer."""
LARGEST = 60_000
"""Characters of a source that is mutated."""

Draw = random.Random
Mutation = Callable[[str, Draw], str]
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
ODD = "\u2028\u2029\x0b\x0c\x85\xa0\u200b\ufeff\U0001f600\U0001d4d0é中\u0301\u202e\t\r\x00\x1a\x7f\ud7ff\uffff"
NUMBERS = "0 -1 1 2 3 7 64 10**12 2**31 2**63 2**64 -(2**63) 10**30 1e308 1e-300 float('nan') 0.5 True None '3' () [] ... 1j".split()
STRINGS = ("''", "'😀'", "None", "3", "b'x'", "f'{x}'")

# -- mutations -------------------------------------------------------------------------------------


def truncated(text: str, draw: Draw) -> str:
    return text[: draw.randrange(len(text) + 1)]


def lines_deleted(text: str, draw: Draw) -> str:
    lines = text.splitlines(True)
    for _ in range(draw.randint(1, 5)):
        if lines:
            at = draw.randrange(len(lines))
            del lines[at : at + draw.randint(1, 4)]
    return "".join(lines)


def lines_duplicated(text: str, draw: Draw) -> str:
    lines = text.splitlines(True)
    at = draw.randrange(len(lines))
    lines[at:at] = lines[at : at + draw.randint(1, 12)] * draw.choice((1, 1, 2, 50))
    return "".join(lines)


def lines_swapped(text: str, draw: Draw) -> str:
    lines = text.splitlines(True)
    for _ in range(draw.randint(1, 6)):
        one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def brackets(text: str, draw: Draw) -> str:
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice("([{)]}\"'`\\:,=@#\n") + text[at + draw.randint(0, 1) :]
    return text


def odd_characters(text: str, draw: Draw) -> str:
    for _ in range(draw.randint(1, 12)):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + "".join(draw.choice(ODD) for _ in range(draw.randint(1, 3))) + text[at:]
    return text


def astral_names(text: str, draw: Draw) -> str:
    """Positions are counted in three ways; names and strings in front of everything keep the text valid."""
    name = draw.choice(sorted(set(IDENTIFIER.findall(text))) or ["x"])
    if not keyword.iskeyword(name):
        new = draw.choice(("𝓍", "变量", "é" * 5, "x̂", "𐐀"))
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?=\s*=[^=])", f"{name} = {new}", text, count=3)
    return re.sub(r"\(", lambda _: draw.choice(("(", "('😀𝓍' and ")), text, count=draw.randint(0, 20))


def line_ends(text: str, draw: Draw) -> str:
    kind = draw.randrange(6)
    if kind < 2:
        return text.replace("\n", ("\r\n", "\r")[kind])
    if kind == 2:
        return "\ufeff" + text
    if kind == 3:
        return re.sub("^    ", "\t", text, flags=re.MULTILINE)
    if kind == 4:
        return re.sub("\n", lambda _: draw.choice(("\n", "\r\n", "\r", "\n\x0c", " \\\n")), text)
    width = draw.choice(("\t", "        ", "   "))
    return re.sub("^( +)", lambda match: match[1].replace("    ", width), text, flags=re.MULTILINE)


def bombed(text: str, draw: Draw) -> str:
    for _ in range(draw.choice((1, 1, 2, 4))):
        text = _into(text, draw.choice(bombs.lines()), draw)
    return text


def bomb_alone(text: str, draw: Draw) -> str:
    return f"{bombs.PREAMBLE}{draw.choice(bombs.lines())}\n"


def repeated(text: str, draw: Draw) -> str:
    made = bombs.repeated(draw.choice((50, 95, 150, 400, 1500, 20_000)))
    return _into(text, made[draw.choice(sorted(made))], draw)


def nested(text: str, draw: Draw) -> str:
    made = bombs.nested(draw.choice((5, 18, 50, 95, 150, 400)))
    return _into(text, made[draw.choice(sorted(made))], draw)


def long_lines(text: str, draw: Draw) -> str:
    size = draw.choice((5_000, 100_000, 1_000_000))
    parts = (
        "# " + "x" * size,
        "x = '" + "é😀" * (size // 2) + "'; y = torch.zeros(2) @ torch.zeros(3)",
        "x = [" + "0, " * (size // 3) + "]",
        "x = torch.tensor([" + "1.5, " * (size // 5) + "])",
        "; ".join(["x = torch.zeros(3)"] * (size // 40)),
        "x = f'" + "{torch.zeros(3)}" * (size // 20) + "'",
    )
    return _into(text, draw.choice(parts), draw)


def _into(text: str, part: str, draw: Draw) -> str:
    """A statement before another one, with its indent."""
    lines = text.splitlines(True)
    at = draw.randrange(len(lines) + 1)
    while at < len(lines) and not lines[at].strip():
        at += 1
    indent = re.match(r"[ \t]*", lines[at])[0] if at < len(lines) else ""  # type: ignore[index]
    lines[at:at] = ["".join(f"{indent}{row}\n" for row in part.split("\n"))]
    return "".join(lines)


def tokens_changed(text: str, draw: Draw) -> str:
    """Numbers, names and operators in the places of others: mostly still Python."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return brackets(text, draw)
    lines = text.splitlines(True)
    names = [token.string for token in found if token.type == tokenize.NAME]
    kinds = (tokenize.NUMBER, tokenize.NAME, tokenize.OP, tokenize.STRING)
    wanted = [token for token in found if token.type in kinds and token.start[0] == token.end[0] <= len(lines)]
    for token in sorted(
        draw.sample(wanted, min(len(wanted), draw.randint(1, 8))), key=lambda one: one.start, reverse=True
    ):
        if token.type == tokenize.NUMBER:
            new = draw.choice(NUMBERS)
        elif token.type == tokenize.NAME:
            new = draw.choice(
                (draw.choice(names), draw.choice(names), token.string[:-1] or "x", "torch", "None", "self", "x")
            )
        elif token.type == tokenize.STRING:
            new = draw.choice((*STRINGS, token.string * 2))
        else:
            new = draw.choice("+ - * / // % ** @ << == , . ( ) [ ] : = | & and".split())
        row, line = token.start[0] - 1, lines[token.start[0] - 1]
        lines[row] = line[: token.start[1]] + new + line[token.end[1] :]
    return "".join(lines)


_KEPT = (
    ast.JoinedStr,
    ast.FormattedValue,
    ast.AnnAssign,
    ast.For,
    ast.comprehension,
    ast.Delete,
    ast.Assign,
    ast.AugAssign,
)


def trees_changed(text: str, draw: Draw) -> str:
    """Expressions in the places of others, statements left out or moved: always Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return tokens_changed(text, draw)
    nodes = list(ast.walk(tree))
    expressions = [
        node for node in nodes if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    ]
    blocks = [
        block for node in nodes for name in ("body", "orelse") if isinstance(block := getattr(node, name, None), list)
    ]
    for _ in range(draw.randint(1, 4)):
        kind = draw.randrange(5)
        if kind < 3 and expressions:
            _replaced(draw.choice(nodes), draw.choice(expressions), draw)
        elif kind == 3 and blocks and len(block := draw.choice(blocks)) > 1:
            del block[draw.randrange(len(block))]
        elif blocks and (taken := draw.choice(blocks)) and (block := draw.choice(blocks)):
            block.insert(draw.randrange(len(block) + 1), draw.choice(taken))
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, RecursionError, AttributeError, TypeError):
        return tokens_changed(text, draw)


def _replaced(owner: ast.AST, new: ast.expr, draw: Draw) -> None:
    fields: list[tuple[str, object]] = []
    for name, value in ast.iter_fields(owner):
        if isinstance(value, ast.expr) or (isinstance(value, list) and value and isinstance(value[0], ast.expr)):
            fields.append((name, value))
    if not fields or isinstance(owner, (*_KEPT, ast.With, ast.withitem)):
        return
    name, value = draw.choice(fields)
    if isinstance(value, list):
        value[draw.randrange(len(value))] = new
    else:
        setattr(owner, name, new)


def sizes_changed(text: str, draw: Draw) -> str:
    """Other numbers: findings, and with them candidates for fixes."""
    places = list(re.finditer(r"(?<![\w.])\d+(?![\w.])", text))
    for match in sorted(draw.sample(places, min(len(places), draw.randint(1, 6))), key=lambda one: -one.start()):
        new = draw.choice((str(int(match[0]) + 1), str(int(match[0]) * 2), "3", "0", "-1", "65"))
        text = text[: match.start()] + new + text[match.end() :]
    return text


def keywords_changed(text: str, draw: Draw) -> str:
    """A call without one of its arguments, or with one more."""
    places = [match.start() for match in re.finditer(r"\(", text)]
    for at in sorted(draw.sample(places, min(len(places), draw.randint(1, 4))), reverse=True):
        more = draw.choice(("None, ", "*x, ", "**x, ", "x=3, ", "dim=-7, ", "torch.zeros(2), ", "self, "))
        text = text[: at + 1] + more + text[at + 1 :]
    return text


MUTATIONS: dict[Mutation, int] = {
    truncated: 6, lines_deleted: 8, lines_duplicated: 4, lines_swapped: 8, brackets: 6, odd_characters: 6, astral_names: 6,
    line_ends: 6, repeated: 5, nested: 5, long_lines: 3, bombed: 12, bomb_alone: 12, tokens_changed: 14, trees_changed: 14,
    sizes_changed: 14, keywords_changed: 8,
}  # fmt: skip
"""The mutations, and how often each is drawn."""


def mutated(texts: list[str], draw: Draw) -> tuple[str, str]:
    """A document, and the name of its mutation."""
    mutation = draw.choices([*MUTATIONS], [*MUTATIONS.values()])[0]
    original = draw.choice(texts)
    try:
        text = mutation(original, draw)
        if draw.random() < 0.2:
            text = draw.choices([*MUTATIONS], [*MUTATIONS.values()])[0](text or "\n", draw)
    except (IndexError, ValueError, RecursionError):
        text = original
    return text.encode("utf-8", "replace").decode(), mutation.__name__


def sources(folders: list[Path]) -> list[str]:
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [text for text in texts if 40 < len(text) < LARGEST]


# -- what must not happen --------------------------------------------------------------------------


def faults(text: str, answer: FileAnalysis) -> list[tuple[str, str]]:
    """What is wrong with an answer: kind and details."""
    found: list[tuple[str, str]] = []
    if answer.stats.get("traceback"):
        found.append(("internal error", str(answer.stats["traceback"]).strip().splitlines()[-1]))
    found += [("internal error", internal_error) for internal_error in answer.stats.get("internal_errors") or ()]
    source = SourceText(answer.path, text)
    rows = [len(source.line(number)) for number in range(1, source.line_count + 1)]

    def place(what: str, start: Position, end: Position) -> None:
        inside = all(1 <= at.line <= len(rows) and 1 <= at.column <= rows[at.line - 1] + 1 for at in (start, end))
        if not inside or end < start:
            found.append(("wrong position", f"{what} {start}-{end}"))

    for fact in answer.facts:
        place(fact.expression[:40], fact.start, fact.end)
    for item in answer.diagnostics:
        place(item.code, item.start, item.end)
        for fix in item.fixes:
            own = [edit for edit in fix.edits if edit.path == answer.path]
            for edit in own:
                place(f"edit of {item.code}", edit.start, edit.end)
            try:
                after = source.apply(own)
            except ValueError as error:
                found.append(("broken fix", f"{item.code} {fix.title}: {error}"))
                continue
            if parses(text) and not parses(after):
                found.append(("broken fix", f"{item.code} {fix.title}: does not parse any more"))
    return found


@dataclass
class Tally:
    """What was counted, and the time and memory that each document took."""

    keep: Path
    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    megabytes: int = 0

    def note(self, kind: str, name: str, text: str, what: str) -> None:
        self.counts[kind] += 1
        file = self.keep / f"{kind.replace(' ', '-')}-{name}.py"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        print(f"{kind}: {name}: {what[:300]} -> {file}", flush=True)

    def quantile(self, share: float) -> float:
        times = sorted(self.seconds)
        return times[min(len(times) - 1, int(share * len(times)))] if times else 0.0


class Watch(threading.Thread):
    """Looks at the worker, and kills it where it takes far too long, or so much memory that the machine would suffer."""

    def __init__(self, client: WorkerClient) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.peak = 0
        self.killed = ""
        self._pid: int | None = None
        self._before = 0.0

    def begin(self) -> None:
        self.peak, self.killed = 0, ""
        self._pid = self.client.pid
        self._before = _processor_time(self._pid)

    def spent(self) -> float:
        """Processor seconds since `begin`."""
        pid = self.client.pid
        return _processor_time(pid) - (self._before if pid == self._pid else 0.0)

    def run(self) -> None:
        while True:
            pid = self.client.pid
            if pid is not None and not self.killed:
                memory = _memory(pid)
                self.peak = max(self.peak, memory)
                late = pid == self._pid and self.spent() > HANG_SECONDS
                if memory > MEMORY_MB or late:
                    self.killed = "memory" if memory > MEMORY_MB else "hang"
                    os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            time.sleep(0.05)


def _memory(pid: int) -> int:
    """Megabytes of a process, 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")), 0)


def _processor_time(pid: int | None) -> float:
    if sys.platform == "win32":
        return 0.0
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0


def one(client: WorkerClient, watch: Watch, tally: Tally, name: str, text: str, verify: bool) -> None:
    """Analyse one document, and note what must not happen."""
    watch.begin()
    try:
        answer = client.ask(Analyze(f"/fuzz/{name}.py", text, verify=verify), budget_s=20 * HANG_SECONDS)
    except WorkerUnavailable as error:
        tally.note("death", name, text, f"the worker does not come back: {error}")
        return
    tally.seconds.append(watch.spent())
    tally.slowest = sorted([*tally.slowest, (watch.spent(), name)], reverse=True)[:5]
    tally.megabytes = max(tally.megabytes, watch.peak)
    if "analysis_ms" not in answer.stats and "traceback" not in answer.stats:
        tally.note("kill" if watch.killed else "death", name, text, f"{watch.killed} {answer.stats.get('incomplete')}")
        return
    tally.counts["incomplete"] += bool(answer.stats.get("incomplete"))
    tally.counts["findings"] += len(answer.diagnostics)
    tally.counts["fixes"] += sum(len(item.fixes) for item in answer.diagnostics)
    for kind, what in faults(text, answer):
        tally.note(kind, name, text, what)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "tests" / "corpus", ROOT / "examples"])
    parser.add_argument("--count", type=int, default=1000, help="documents")
    parser.add_argument("--seconds", type=float, default=1e9, help="on the clock, after which no more are analysed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verify", type=float, default=0.25, help="share of documents whose fixes are verified, too")
    parser.add_argument("--keep", type=Path, default=None, help="where documents with failures go")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    texts = sources(options.folders)
    if not texts:
        parser.error("there are no sources in these folders")
    keep = options.keep or Path(tempfile.mkdtemp(prefix="torchsleuth-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    draw, tally = Draw(options.seed), Tally(keep)
    client = WorkerClient(sys.executable)
    client.start()
    watch = Watch(client)
    watch.start()
    began = time.monotonic()
    for number in range(1, options.count + 1):
        if time.monotonic() - began > options.seconds:
            break
        text, mutation = mutated(texts, draw)
        one(client, watch, tally, f"{options.seed}-{number:05}-{mutation}", text, draw.random() < options.verify)
        if number % 200 == 0:
            print(f"… {number} in {time.monotonic() - began:.0f} s", flush=True)
    client.close()
    for seconds, name in tally.slowest:
        print(f"slow: {seconds:.1f} s {name}")
    counts, kinds = tally.counts, ("death", "kill", "internal error", "wrong position", "broken fix")
    print(
        f"{len(tally.seconds)} documents in {time.monotonic() - began:.0f} s, seed {options.seed}; failures are in {keep}"
    )
    print(", ".join(f"{kind}: {counts[kind]}" for kind in (*kinds, "incomplete", "findings", "fixes")))
    quantiles = ", ".join(f"p{share * 100:.3g} {tally.quantile(share):.2f}" for share in (0.5, 0.95, 0.99, 1.0))
    print(
        f"processor seconds: {quantiles} (a document may take {Times.document:.0f}); memory: {tally.megabytes} MB at most"
    )
    return int(any(counts[kind] for kind in kinds))


if __name__ == "__main__":
    sys.exit(main())
