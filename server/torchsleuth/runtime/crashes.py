"""The crashes of one run, in several processes and threads: which one came first, and which only passed it on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from torchsleuth.errors.callbacks import launched_at
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Json

MAX_CRASHES = 5
_CONSEQUENCES = frozenset(
    "ProcessRaisedException ProcessExitedException ChildFailedError BrokenProcessPool CalledProcessError Empty"
    " DistNetworkError DistBackendError BrokenPipeError ConnectionResetError EOFError".split()
)
"""Types of errors that tell that another process has failed."""
_CONSEQUENT = ("DataLoader worker (pid", "Connection closed by peer", "Connection reset by peer")


def in_order(crashes: Iterable[Json], exit_code: int) -> list[Json]:
    """Copies, the one that explains the run first. What was handed to a parent that then went on is no crash."""
    known = [_placed(dict(crash)) for crash in crashes]
    main = [crash for crash in known if crash["process"] is None]
    others = [crash for crash in known if crash["process"] is not None]
    others = [crash for crash in others if exit_code != 0 or main or crash.get("ends")]
    for crash in main:
        _complete(crash, others)
    ordered = sorted([*main, *others], key=_rank)
    if ordered and not _is_consequence(ordered[0]):
        # What only says that another process has failed is left out, if it is known how that one did.
        ordered = [crash for crash in ordered if not (crash["process"] and _is_consequence(crash))]
    return ordered[:MAX_CRASHES]


def _placed(crash: Json) -> Json:
    """A crash of a function that could not even be called, at the line that started it."""
    if not crash["frames"] and (frame := launched_at(crash)) is not None:
        crash["frames"] = [frame]
    return crash


def _rank(crash: Json) -> tuple[bool, bool, bool, float]:
    process = crash["process"]
    return (_is_consequence(crash), crash.get("thread") is not None, process is not None, crash.get("time") or 0.0)


def _is_consequence(crash: Json) -> bool:
    text = str(crash.get("message"))
    if not crash["frames"] or crash.get("type") in _CONSEQUENCES or any(part in text for part in _CONSEQUENT):
        return True
    return crash["process"] is None and "exitcode" in _line(crash)


def _line(crash: Json) -> str:
    """The line of the user's that failed."""
    path, number = _place(crash)
    lines = str((crash.get("sources") or {}).get(path) or "").splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _complete(crash: Json, others: list[Json]) -> None:
    """A crash that came as text from another process, with the values that that process has reported itself."""
    if not crash["worker"] or not crash["frames"]:
        return
    for other in others:
        if other["frames"] and _place(other) == _place(crash) and other["type"] == crash["type"]:
            known = {(frame["path"], frame["line"]) for frame in other["frames"]}
            callers = [frame for frame in crash["frames"] if (frame["path"], frame["line"]) not in known]
            crash.update(
                {name: other[name] for name in ("calls", "module", "library", "sample", "message")},
                frames=[*other["frames"], *callers],
                sources={**crash["sources"], **other["sources"]},
            )
            crash["worker_name"] = other["process"]["name"]
            others.remove(other)
            return


def _place(crash: Json) -> tuple[str, int]:
    return (crash["frames"][0]["path"], crash["frames"][0]["line"])


def merged(found: Iterable[tuple[Json, Diagnostic | None]]) -> list[tuple[Diagnostic, str]]:
    """One diagnostic for each place, and where that was if it was not the main thread of the script."""
    places: dict[object, tuple[Diagnostic, list[Json]]] = {}
    for crash, diagnostic in found:
        if diagnostic is None:
            continue
        key = (diagnostic.path, diagnostic.start, diagnostic.end, diagnostic.code)
        places.setdefault(key, (diagnostic, []))[1].append(crash)
    return [(diagnostic, _together(crashes)) for diagnostic, crashes in places.values()]


def _together(crashes: list[Json]) -> str:
    """Where one error was in several processes; a sample is told once, as every worker meets it in another one."""
    sampled = [crash for crash in crashes if crash.get("sample") is not None][:1]
    return ", ".join(text for text in dict.fromkeys(map(_where, sampled or crashes)) if text)


def located(diagnostic: Diagnostic, where: str) -> Diagnostic:
    """A diagnostic whose message says in which process, thread or sample it was."""
    if not where:
        return diagnostic
    return replace(diagnostic, message=message("error.where", text=diagnostic.message, where=where))


def _where(crash: Json) -> str:
    process, sample = crash["process"], crash.get("sample")
    parts = []
    if sample is not None:
        parts.append(message("error.where.sample", sample=sample))
    if crash.get("worker_number") is not None:
        parts.append(message("error.where.worker", number=crash["worker_number"]))
    if process is not None and process["rank"] is not None:
        parts.append(message("error.where.rank", rank=process["rank"]))
    elif process is not None:
        parts.append(message("error.where.process", process=process["name"] or process["pid"]))
    if (caught := crash.get("caught")) is not None:
        name = "error.where.caught_often" if caught["count"] > 1 else "error.where.caught"
        parts.append(message(name, line=caught["line"], count=caught["count"]))
    if crash.get("thread"):
        parts.append(message("error.where.thread", thread=crash["thread"]))
    return ", ".join(parts)
