"""The page of a report: what is on it, that it needs nothing but itself, and that nothing in a report becomes part of it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.report.records import SCRIPT, falling, finding, report, series, sound
from torchsleuth.report.checklist import checklist
from torchsleuth.report.page import page
from torchsleuth.report.view import View, verdict
from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import Json
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Bad, Batches, BatchSample, Kept, Module, Place

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u2028\x1b[31m&lt;"
TEXT = "import torch\n\nloss.backward()\noptimizer.step()\n"


def sources(path: str) -> SourceText:
    return SourceText(path, TEXT)


def view(of: RunReport) -> Json:
    return View(of, sources).to_json()


class Structure(HTMLParser):
    """The elements of a page with their attributes, and the text in each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.elements[-1][0] if self.elements else "", data))


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_needs_nothing_but_itself() -> None:
    text = page(report(sound(), finding()), sources)
    structure = Structure(text)
    assert [tag for tag, _ in structure.elements] == [
        "html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "main", "noscript", "script", "script",
    ]  # fmt: skip
    assert not any({"src", "href", "style", "onload"} & set(attributes) for _, attributes in structure.elements)
    style = next(text for tag, text in structure.texts if tag == "style")
    assert "url(" not in style and "@import" not in style
    policy = next(a["content"] for _, a in structure.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none';")
    script = next(text for tag, text in reversed(structure.texts) if tag == "script" and text.strip())
    for part in (script, style):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" in policy
    assert "unsafe" not in policy and "http" not in policy.replace("http-equiv", "")


def test_what_a_report_says_is_never_markup() -> None:
    path = f"/work/{HOSTILE}.py"
    training = sound()
    module = training.modules[0]
    hostile = sound(
        modules=(type(module)(HOSTILE, HOSTILE, Place(path, 3), True, 67, 67, calls=3), *training.modules[1:])
    )
    shown = page(report(hostile, finding(HOSTILE, path), script=path), lambda path: SourceText(path, HOSTILE + TEXT))
    plain = page(report(sound(), finding()), sources)
    names = [tag for tag, _ in Structure(shown).elements]
    assert names == [tag for tag, _ in Structure(plain).elements]
    raw = re.search(r'id="data">(.*?)</script>', shown, re.DOTALL)
    assert raw is not None and raw[1].isascii() and not set("<>&") & set(raw[1])
    assert data_of(shown)["findings"][0]["message"] == HOSTILE
    assert data_of(shown)["tables"][0]["rows"][0][0]["text"] == HOSTILE


def test_numbers_that_json_does_not_know_are_told_otherwise() -> None:
    training = sound([1.0, math.nan, math.inf, 2.0])
    samples = tuple(
        type(sample)(sample.step, sample.gradient, finite=sample.step < 8) for sample in training.parameters[0].samples
    )
    parameter = type(training.parameters[0])("w", (2, 2), True, 0, 1, samples=samples)
    found = view(report(sound([1.0, math.nan, math.inf, 2.0], parameters=(parameter,))))
    json.dumps(found, allow_nan=False)
    assert found["plots"][0]["series"][0]["bad"] == 2
    assert found["maps"][0]["rows"][0]["values"][3:] == ["bad", "bad", "bad"]


def test_what_is_on_the_page() -> None:
    found = view(report(sound(), finding("late"), finding("soon", line=4, severity="error")))
    assert [item["message"] for item in found["findings"]] == ["soon", "late"]
    assert found["findings"][1]["place"] == {"path": SCRIPT, "line": 3, "column": 1, "text": "train.py:3"}
    assert [line["number"] for line in found["findings"][1]["lines"] if line["here"]] == [3]
    assert [plot["name"] for plot in found["plots"]] == ["loss", "rate", "norm", "memory", "step"]
    assert [heat["name"] for heat in found["maps"]] == ["gradients", "updates", "dead", "zeros", "std"]
    assert [row["name"] for row in found["maps"][0]["rows"]] == ["0.weight", "2.weight"]
    assert [bar["name"] for bar in found["bars"]] == ["time", "labels"]
    tables = {table["name"]: table for table in found["tables"]}
    assert [row[1] for row in tables["modules"]["rows"]] == ["Sequential", "Linear", "ReLU", "Linear"]
    assert tables["modules"]["rows"][1][2] == "weight [8, 4], bias [8]"
    assert ["Libraries", "torch 2.13"] in found["environment"]


@pytest.mark.parametrize(
    ("made", "state", "said"),
    [
        (report(sound()), "good", "Nothing was found: in 40 steps the loss fell from"),
        (report(sound([0.7] * 40)), "warning", "the loss did not fall"),
        (report(sound([0.7, 0.6, *[math.nan] * 20])), "bad", "The loss is not finite from step 3 on, in 20 steps."),
        (report(sound(), finding("it leaks")), "warning", "train.py ran, but at train.py:3: it leaks."),
        (report(None), "unknown", "It trained nothing"),
        (report(sound(), exit_code=3), "bad", "exit status 3"),
        (report(sound(), cancelled=True, exit_code=-2), "unknown", "was stopped"),
        (
            report(sound(kept=(Kept(Place(SCRIPT, 3), 40, 40),))),
            "warning",
            "Look at what the check-list says of: Memory",
        ),
    ],
)
def test_the_verdict_is_one_sentence(made: RunReport, state: str, said: str) -> None:
    found, text = verdict(made)
    assert found == state and said in text


def test_a_sound_training_has_a_green_check_list() -> None:
    states = {point.name: point.state for point in checklist(report(sound()))}
    assert states.pop("evaluation") == "unseen"
    assert set(states.values()) == {"green"}, states


def test_what_was_not_seen_is_not_called_fine() -> None:
    states = {point.name: point.state for point in checklist(report(None, versions=None))}
    assert set(states.values()) == {"unseen"} and len(states) == 14


@pytest.mark.parametrize(
    ("changes", "point", "state"),
    [
        ({"losses": ()}, "loss", "unseen"),
        ({"bad": Bad(3, "operation", "LogBackward0", Place(SCRIPT, 3))}, "numbers", "red"),
        ({"seeded": False}, "seed", "amber"),
        ({"phases": {"data": 8.0, "forward": 1.0}}, "time", "amber"),
        ({"kept": (Kept(Place(SCRIPT, 3), 40, 40),)}, "memory", "amber"),
        (
            {"batches": (Batches("input", None, (BatchSample(1, (4, 3), "float32", 130.0, 70.0, 0.0, 255.0),)),)},
            "inputs",
            "amber",
        ),
        (
            {"batches": (Batches("target", None, (BatchSample(1, (64,), "int64", labels={"1": 64}),)),)},
            "targets",
            "amber",
        ),
    ],
)  # fmt: skip
def test_a_point_of_the_check_list_follows_what_was_measured(changes: dict[str, Any], point: str, state: str) -> None:
    found = {one.name: one for one in checklist(report(sound(**changes)))}
    assert found[point].state == state and (found[point].evidence or state == "unseen")


def test_a_finding_stands_at_its_point() -> None:
    found = {one.name: one for one in checklist(report(sound(), finding("not cleared")))}
    assert (found["optimizer"].state, found["optimizer"].codes) in [("amber", ("TS501",))] or (
        found["gradients"].state,
        found["gradients"].codes,
    ) == ("amber", ("TS501",))


def test_two_notes_of_one_loss_are_one_line() -> None:
    training = sound()
    loss = training.losses[0]
    first = type(loss)(loss.place, series([1.6]), None)
    rest = type(loss)(loss.place, series([1.6, *falling(20)]), "mse")
    found = view(report(sound(losses=(first, rest))))
    assert [line["name"] for line in found["plots"][0]["series"]] == ["mse"]


def test_the_page_keeps_the_environment_to_itself() -> None:
    secret = "hf_0123456789abcdef"
    made = report(sound(), finding(f"refused {secret}"), environment=(("TOKEN", secret),))
    assert secret not in page(made, sources) and "<value of $TOKEN>" in view(made)["verdict"]["text"]


def test_what_the_page_has_no_word_for_is_shown_as_it_is() -> None:
    batch = sound().batches[0]
    training = sound(
        batches=(Batches("auxiliary", batch.place, batch.samples),),
        phases={"forward": 1.0, "sampling": 1.0},
        bad=Bad(3, "elsewhere"),
    )
    found = view(report(training, ended="evicted"))
    assert found["tables"][1]["rows"][0][0]["text"] == "auxiliary"
    assert [part["name"] for part in found["bars"][0]["parts"]] == ["forward", "sampling"]
    assert ["Ended", "evicted"] in found["environment"]


def test_the_parts_of_a_list_that_is_never_called_are_listed_with_their_operations() -> None:
    def module(name: str, parent: int | None, **more: Any) -> Module:
        return Module(name, name.title(), None, parent is None, **{"calls": 4, "parent": parent, **more})

    modules = (
        module("net", None),
        module("blocks", 0, calls=0),
        module("blocks.0", 1, elements=8, flops=1500),
        module("unused", 0, calls=0),
    )
    rows = next(one for one in view(report(replace(sound(), modules=modules)))["tables"] if one["name"] == "modules")[
        "rows"
    ]
    assert [row[0]["text"].strip("\u00a0") for row in rows] == ["net", "blocks", "blocks.0"]
    assert [row[5] for row in rows] == ["1.5 k", "1.5 k", "1.5 k"]


def test_inputs_of_one_call_that_repeat_among_others_are_no_repeated_data() -> None:
    def inputs(line: int, same: bool) -> Batches:
        samples = tuple(BatchSample(step, (4, 2), "float32", 0.0, 1.0, same=same and step > 1) for step in (1, 2, 4))
        return Batches("input", Place(SCRIPT, line), samples)

    def data(*batches: Batches) -> str:
        points = checklist(report(replace(sound(), batches=batches)))
        return next(point.state for point in points if point.name == "data")

    assert data(inputs(3, True)) == "amber"
    assert data(inputs(3, True), inputs(4, False)) == "green"


def test_a_loop_without_an_optimizer_has_its_gradients_on_the_page() -> None:
    whole = sound(falling(40))
    bare = tuple(replace(one, module=None, optimizer=None) for one in whole.parameters)
    for optimizers, shown in ((whole.optimizers, False), ((), True)):
        recorded = replace(whole, optimizers=optimizers, parameters=bare)
        names = [found["name"] for found in view(report(recorded))["maps"]]
        states = {point.name: point.state for point in checklist(report(recorded))}
        assert ("gradients" in names) is shown and (states["gradients"] == "green") is shown
