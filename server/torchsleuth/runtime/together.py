"""One view of the ranks of a distributed training, and of processes that hang or were killed: what they wrote, compared.

The findings are made like crashes: {type, message, frames, …}, see `crash.py`; `type` is ``Signal``, ``Hang`` or ``Ranks``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from torchsleuth.messages import message
from torchsleuth.runtime.crashes import located
from torchsleuth.runtime.page import Page
from torchsleuth.runtime.rewrite import sites_of
from torchsleuth.schema import Diagnostic, Json
from torchsleuth.syntax.files import Unreadable, read_source

MAX_FRAMES = 12
APART = 1e-3
"""Relative difference of the norms of a parameter in two ranks, from which on they are not the same any more."""
SKEW = 1.5
"""How many times as long one rank works by itself as another one."""
SKEW_SHARE = 0.1
"""The least part of a step that this has to be."""
_COLLECTIVE = ("torch/distributed/", "torch/nn/parallel/distributed.py", "torch/autograd/graph.py")


def merged_ranks(processes: Sequence[Json], crashes: Sequence[Json], pages: Iterable[Page]) -> Json | None:
    """{world, ranks: [{rank, pid, steps, step_ms, local_ms, passes, complete, batches}], first_to_crash, slowest, apart,
    unequal, alike}; None where there are no ranks."""
    told = {process["pid"]: process for process in processes if process.get("ranks")}
    if not told:
        return None
    of_page = {page.pid: page for page in pages}
    ranks = []
    for pid, process in sorted(told.items(), key=lambda item: int(item[1]["ranks"][-1]["rank"])):
        last = process["ranks"][-1]
        page = of_page.get(pid)
        ranks.append(
            {
                "rank": last["rank"],
                "pid": pid,
                "steps": page.steps if page is not None else last["steps"],
                "step_ms": last["step_ms"],
                "local_ms": last["local_ms"],
                "passes": last["passes"],
                "complete": last["complete"],
                "batches": page.batches if page is not None else None,
            }
        )
    first = min((crash for crash in crashes if _rank_of(crash) is not None), key=_time, default=None)
    return {
        "world": max(process["ranks"][-1]["world"] for process in told.values()),
        "ranks": ranks,
        "first_to_crash": None if first is None else _rank_of(first),
        "slowest": _slowest(ranks),
        "apart": _apart([process["ranks"] for process in told.values()]),
        "unequal": _unequal(ranks),
        "alike": _alike([process["ranks"][-1] for process in told.values()]),
    }


def _rank_of(crash: Json) -> int | None:
    process = crash.get("process") or {}
    rank = process["ranks"][-1]["rank"] if process.get("ranks") else process.get("rank")
    return rank if isinstance(rank, int) else None


def _time(crash: Json) -> float:
    return float(crash.get("time") or 0.0)


def _slowest(ranks: list[Json]) -> Json | None:
    """The rank that the others wait for, by what it does alone in a step: reading data, and the forward pass."""
    known = [rank for rank in ranks if rank["local_ms"] is not None and rank["step_ms"]]
    if len(known) < 2:
        return None
    slow, quick = max(known, key=lambda rank: rank["local_ms"]), min(known, key=lambda rank: rank["local_ms"])
    more = slow["local_ms"] - quick["local_ms"]
    if slow["local_ms"] < SKEW * quick["local_ms"] or more < SKEW_SHARE * slow["step_ms"]:
        return None
    return {"rank": slow["rank"], "local_ms": slow["local_ms"], "other": quick["rank"], "other_ms": quick["local_ms"]}


def _apart(ranks: list[list[Json]]) -> Json | None:
    """The first parameter that is not the same in two ranks after the same step."""
    by_step: dict[int, list[Json]] = {}
    for told in ranks:
        for event in {event["summed"]: event for event in told if event["sums"]}.values():
            by_step.setdefault(event["summed"], []).append(event)
    for step, events in sorted(by_step.items()):
        first, *others = sorted(events, key=lambda event: int(event["rank"]))
        for other in others:
            if [item[0] for item in first["sums"]] != [item[0] for item in other["sums"]]:
                return None  # each rank has other parameters: they are meant to differ
            for number, (one, two) in enumerate(zip(first["sums"], other["sums"])):
                size = max(abs(one[2]), abs(two[2]))
                if abs(one[2] - two[2]) > APART * size or abs(one[1] - two[1]) > APART * size * _root(one[0]):
                    return {
                        "step": step,
                        "ranks": [first["rank"], other["rank"]],
                        "parameter": number,
                        "shape": one[0],
                        "norms": [one[2], two[2]],
                        "place": first["place"],
                    }
    return None


def _root(shape: list[int]) -> float:
    """Of the number of elements: how a sum may differ where the norms do not."""
    count = 1
    for size in shape:
        count *= size
    return float(max(count, 1)) ** 0.5


def _unequal(ranks: list[Json]) -> Json | None:
    """A pass over a loader in which ranks had different numbers of batches. The last pass of a rank may have been cut by the
    script, and how far it went is not known where the rank did not come to its end."""
    complete = all(rank["complete"] for rank in ranks)
    places: dict[tuple[str, int], dict[int, list[int]]] = {}
    for rank in ranks:
        for item in rank["passes"]:
            places.setdefault((item["path"], item["line"]), {})[rank["rank"]] = list(item["batches"])
    for (path, line), counts in places.items():
        if len(counts) < len(ranks):
            continue
        for index in range(min(len(passes) for passes in counts.values())):
            numbers = {rank: passes[index] for rank, passes in counts.items()}
            over = all(index < len(passes) - 1 for passes in counts.values())
            apart = max(numbers.values()) - min(numbers.values())
            if apart > 1 and complete or apart and over:
                return {"path": path, "line": line, "pass": index + 1, "batches": numbers}
    return None


def _alike(ranks: list[Json]) -> Json | None:
    """The loader that gives all ranks the same batches: in each step that was looked at, their models gave the same."""
    first, *others = ({step: number for step, number in told.get("outputs") or ()} for told in ranks)
    steps = [step for step in first if all(step in other for other in others)]
    differ = any(abs(other[step] - first[step]) > 1e-6 * abs(first[step]) for step in steps for other in others)
    place = next(iter(ranks[0]["passes"]), None)
    if not others or len(steps) < 3 or differ or place is None or len({first[step] for step in steps}) == 1:
        return None
    return {"path": place["path"], "line": place["line"], "steps": len(steps), "world": len(ranks)}


def merged_verdicts(judged: Mapping[int | None, Sequence[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """The findings about the trainings of the ranks: once what is true of all of them, with their numbers what is of some."""
    places: dict[object, tuple[Diagnostic, list[int | None]]] = {}
    for rank, found in judged.items():
        for diagnostic in found:
            key = (diagnostic.code, diagnostic.path, diagnostic.start)
            places.setdefault(key, (diagnostic, []))[1].append(rank)
    return tuple(
        located(
            diagnostic,
            "" if len(ranks) == len(judged) else ", ".join(message("error.where.rank", rank=rank) for rank in ranks),
        )
        for diagnostic, ranks in places.values()
    )


def with_findings(
    merged: Json | None,
    judged: Mapping[int | None, Sequence[Diagnostic]],
    crashes: Sequence[tuple[Json, Diagnostic | None]],
) -> Json | None:
    """The comparison of the ranks with what was found in each: ``findings``, [{code, path, line}]."""
    if merged is None:
        return None
    found = [(rank, diagnostic) for rank, of_rank in judged.items() for diagnostic in of_rank]
    found += [(_rank_of(crash), diagnostic) for crash, diagnostic in crashes if diagnostic is not None]
    of = {rank["rank"]: [one for number, one in found if number == rank["rank"]] for rank in merged["ranks"]}
    rows = [
        {**rank, "findings": [{"code": one.code, "path": one.path, "line": one.start.line} for one in of[rank["rank"]]]}
        for rank in merged["ranks"]
    ]
    return {**merged, "ranks": rows}


def summary(merged: Json) -> str:
    """One line about all ranks: which one crashed first, else their steps, and which one the others wait for."""
    first = next((rank for rank in merged["ranks"] if rank["rank"] == merged["first_to_crash"]), None)
    if first is not None:
        values = {"world": merged["world"], "rank": first["rank"], "steps": first["steps"]}
        return message("cli.run.ranks.crashed", **values)
    steps = [rank["steps"] for rank in merged["ranks"]]
    values = {"world": merged["world"], "steps": min(steps)}
    if min(steps) != max(steps):
        told = ", ".join(f"{rank['steps']} in rank {rank['rank']}" for rank in merged["ranks"])
        return message("cli.run.ranks.steps", world=merged["world"], told=told)
    slowest = merged["slowest"]
    if slowest is None:
        return message("cli.run.ranks", **values)
    return message("cli.run.ranks.slowest", **values, **slowest)


def rank_findings(merged: Json | None) -> Iterator[Json]:
    """The findings of a comparison of the ranks."""
    if merged is None:
        return
    apart, unequal = merged["apart"], merged["unequal"]
    if apart is not None and apart["place"] is not None:
        one, two = (f"{norm:.6g}" for norm in apart["norms"])
        said = message(
            "run.ranks.apart",
            first=apart["ranks"][0],
            second=apart["ranks"][1],
            number=apart["parameter"] + 1,
            shape=tuple(apart["shape"]),
            step=apart["step"],
            one=one,
            two=two,
        )
        yield _finding("Ranks", said, [apart["place"]])
    if unequal is not None:
        counts = ", ".join(f"{count} in rank {rank}" for rank, count in sorted(unequal["batches"].items()))
        said = message("run.ranks.unequal", number=unequal["pass"], counts=counts)
        yield _finding("Ranks", said, [{"path": unequal["path"], "line": unequal["line"], "function": ""}])
    alike = merged.get("alike")
    if alike is not None:
        said = message("run.ranks.alike", steps=alike["steps"], world=alike["world"])
        yield _finding("Batches", said, [{"path": alike["path"], "line": alike["line"], "function": ""}])


def hang(
    stacks: Sequence[Json], ranks: dict[int, int], owns: Callable[[str], bool], seconds: float | None
) -> Json | None:
    """Where the processes of a run were when it was stopped; None if no line of the user's was running."""
    main = [
        (stack, _own(stack["threads"][0], owns)) for stack in stacks if stack["reason"] is None and stack["threads"]
    ]
    busy = [(stack, own) for stack, own in main if own and (not ranks or stack["pid"] in ranks)] or main
    busy = sorted(((stack, own) for stack, own in busy if own), key=lambda item: ranks.get(item[0]["pid"], 0))
    if not busy:
        return None
    waiting = [(stack, own) for stack, own in busy if _collective(stack["threads"][0], own) is not None]
    others = [(stack, own) for stack, own in busy if (stack, own) not in waiting]
    if len(ranks) > 1 and waiting:
        stack, own = waiting[0]
        elsewhere = [
            message("run.rank_at", rank=ranks[other["pid"]], place=_short(places[0]))
            for other, places in [*others, *waiting[1:]]
            if other["pid"] in ranks and _short(places[0]) != _short(own[0])
        ]
        running = {other["pid"] for other, _ in busy}
        elsewhere += [message("run.rank_gone", rank=rank) for pid, rank in sorted(ranks.items()) if pid not in running]
        if elsewhere:
            said = message(
                "run.hang.ranks",
                rank=ranks[stack["pid"]],
                function=_collective(stack["threads"][0], own),
                others="; ".join(elsewhere),
            )
            found = _finding("Hang", said, own)
            return {**found, "other_places": [places[0] for _, places in [*others, *waiting[1:]]]}
    stack, own = busy[0]
    innermost = stack["threads"][0]["places"][0]
    inside = "" if innermost in own else message("run.hang.inside", function=innermost["function"])
    threads = [places for thread in stack["threads"][1:] if (places := _own(thread, owns))]
    said = message(
        "run.hang", inside=inside, after="" if seconds is None else message("run.hang.after", seconds=seconds)
    )
    return {**_finding("Hang", said, own), "other_places": [places[0] for places in threads]}


def death(stack: Json, owns: Callable[[str], bool]) -> Json:
    """A process that died of a fault in C: a crash at the line of the user's that it had reached."""
    places = stack["threads"][0]["places"] if stack["threads"] else []
    own = [place for place in places if owns(place["path"])]
    library = places[0] if places and not owns(places[0]["path"]) else None
    inside = "" if library is None else message("run.hang.inside", function=library["function"])
    found = _finding("Signal", message("run.died", reason=stack["reason"], inside=inside), own)
    others = [other[0] for thread in stack["threads"][1:] if (other := _own(thread, owns))]
    return {**found, "ends": True, "other_places": others}


def killed(exit_code: int, page: Page | None, loaded: dict[str, int]) -> Json | None:
    """The script was killed from outside: the last place that recorded something. `loaded`: by path, the number of places
    before those of each file."""
    if exit_code != -signal.SIGKILL or page is None or page.site == 0:
        return None
    place = _place_of_site(page.site - 1, loaded)
    if place is None:
        return None
    return _finding("Signal", message("run.killed", signal=signal.Signals(-exit_code).name, steps=page.steps), [place])


def _place_of_site(number: int, loaded: dict[str, int]) -> Json | None:
    before = [(first, path) for path, first in loaded.items() if first <= number]
    if not before:
        return None
    first, path = max(before)
    try:
        sites = sites_of(read_source(path), path)
    except (Unreadable, SyntaxError, ValueError):
        return None
    if number - first >= len(sites):
        return None
    span = sites[number - first].span
    return {"path": path, "line": span[0], "span": list(span), "function": ""}


def _own(thread: Json, owns: Callable[[str], bool]) -> list[Json]:
    return [place for place in thread["places"] if owns(place["path"])][:MAX_FRAMES]


def _collective(thread: Json, own: list[Json]) -> str | None:
    """The function by which the user's innermost line waits for the other ranks; None where it does not."""
    inner = thread["places"][: thread["places"].index(own[0])]
    waits = any(part in place["path"].replace("\\", "/") for place in inner for part in _COLLECTIVE)
    names = [str(place["function"]) for place in reversed(inner) if place["function"] != "wrapper"]
    return names[0] if waits and names else None


def _short(place: Json) -> str:
    return f"{os.path.basename(place['path'])}:{place['line']}"


def _finding(kind: str, said: str, places: Sequence[Json]) -> Json:
    frames: list[Any] = [{"span": None, **place, "operands": []} for place in places]
    return {
        "type": kind,
        "message": said,
        "frames": frames,
        "library": None,
        "calls": [],
        "module": None,
        "worker": False,
        "process": None,
        "sources": {},
    }
