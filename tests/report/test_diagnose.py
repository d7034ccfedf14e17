"""What logs of trainings show: each format is read, each fault is named, and sound logs are left alone."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from torchsleuth.cli.diagnose import diagnose
from torchsleuth.report.diagnose import signs
from torchsleuth.report.eventfiles import Scalar, written
from torchsleuth.report.eventfiles import read as read_events
from torchsleuth.report.logs import Logs, NoLog, Points, read

CHANCE = random.Random(0)


def curve(values: list[float]) -> Points:
    return [(float(10 * index), value) for index, value in enumerate(values)]


def noisy(values: list[float], part: float = 0.1) -> list[float]:
    return [value * (1 + part * CHANCE.uniform(-1, 1)) for value in values]


def falling(first: float = 2.3, last: float = 0.3, count: int = 60) -> list[float]:
    return noisy([last + (first - last) * math.exp(-5 * index / count) for index in range(count)])


SOUND: dict[str, Logs] = {
    "classifier": {
        "loss": curve(falling()),
        "eval_loss": curve(falling(2.2, 0.5, 12)),
        "learning_rate": curve([1e-3 * (1 - index / 60) for index in range(60)]),
        "grad_norm": curve(noisy([1.0] * 60, 0.8)),
    },
    "resumed": {"train/loss": curve(noisy([2.10 - 0.05 * index / 100 for index in range(100)], 0.002))},
    "overfits no more than others": {"train_loss": curve(falling()), "val_loss": curve([1, 0.8, 0.7, 0.69, 0.7, 0.71, 0.7])},
    "a game": {"d_loss": curve([0.69] * 50), "g_loss": curve([0.7 + 0.1 * index for index in range(50)])},
    "a spike in between": {"loss": curve([*falling(count=40), 9.0, *falling(0.5, 0.3, 30)])},
    "warm-up": {"loss": curve(falling()), "lr": curve([0.0, *[1e-3] * 59])},
    "negative": {"loss": curve([-1.0 - 0.1 * index for index in range(60)])},
    "short": {"loss": curve([0.69, 0.70, 0.69])},
    "scaler": {"loss": curve(falling()), "loss_scale": curve([65536.0, 32768.0, 16384.0, 16384.0])},
    "accuracy": {"accuracy": curve([0.1] * 50)},
    "one overflow": {"loss": curve(falling()), "grad_norm": curve([math.inf, *noisy([1.0] * 59)])},
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_log_is_left_alone(name: str) -> None:
    assert signs(SOUND[name]) == ()


@pytest.mark.parametrize(
    ("logs", "code", "said"),
    [
        ({"loss": curve([2.3, 2.1, *[math.nan] * 20])}, "TS920", "loss is not finite from step 20 on: 20 of 22 values"),
        (
            {
                "loss": curve([*falling(count=20), *[math.nan] * 20]),
                "grad_norm": curve([*noisy([1.0] * 18), 300.0, 4e4, *[math.nan] * 20]),
            },
            "TS920",
            "20 of 40 values; grad_norm had risen from",
        ),
        (
            {"loss": curve([2, 2, 3, 30, 400, *[math.inf] * 20]), "lr": curve([0.5] * 25)},
            "TS920",
            "rose to 400 and is not finite from step 50 on: 20 of 25 values; the learning rate was 0.5",
        ),
        ({"train/loss": curve([1 + 0.2 * index for index in range(60)])}, "TS927", "rises, from"),
        ({"loss": curve(noisy([0.6931] * 60, 0.005))}, "TS921", "chance level for 2 classes"),
        ({"train_loss": curve(noisy([2.3026] * 60, 0.004))}, "TS921", "chance level for 10 classes"),
        ({"loss": curve(noisy([5.2] * 60, 0.01))}, "TS921", "stays where it was"),
        (
            {"train_loss": curve(falling()), "val_loss": curve([*falling(2.2, 0.7, 20), *[0.9 + 0.03 * i for i in range(20)]])},
            "TS936",
            "stop there",
        ),
        ({"grad_norm": curve([2.0 * 1.3**index for index in range(40)])}, "TS923", "grows from"),
        ({"gradient_norm": curve([1e-9] * 40)}, "TS924", "never more than 1e-09"),
        ({"amp/scale": curve([]), "loss_scale": curve([65536 / 4**index for index in range(20)])}, "TS937", "overflow"),
        ({"lr-Adam": curve([0.0] * 40)}, "TS928", "0 all the time"),
        ({"learning_rate": curve([*[1e-3] * 20, *[0.0] * 20])}, "TS928", "0 from step 190 on, in 50 %"),
    ],
)  # fmt: skip
def test_a_fault_is_named(logs: Logs, code: str, said: str) -> None:
    found = signs(logs)
    assert [sign.code for sign in found] == [code] and said in found[0].message, found


def test_what_follows_from_a_loss_that_is_not_finite_is_not_said() -> None:
    bad = [2.3, 2.2, *[math.nan] * 30]
    found = signs(
        {"loss": curve(bad), "grad_norm": curve(bad), "eval_loss": curve([2.2, 2.1, 2.0, 2.5, 3.0, 3.5, 4.0])}
    )
    assert [sign.code for sign in found] == ["TS920"]


BAD = [2.3, 2.1, *[math.nan] * 12]


def trainer_state() -> str:
    history = [{"step": 10 * i, "epoch": i / 3, "loss": value, "learning_rate": 1e-4} for i, value in enumerate(BAD)]
    return json.dumps({"epoch": 3.0, "log_history": [*history, {"step": 140, "train_loss": 2.2, "total_flos": 1e12}]})


def lightning() -> str:
    rows = ["epoch,lr-Adam,step,train_loss,val_loss"]
    for index, value in enumerate(BAD):
        rows += [f"0,,{10 * index},{value},", f"0,0.001,{10 * index},,"]
    return "\n".join([*rows, "0,,139,,1.5", ""])


FORMATS = {
    "trainer_state.json": trainer_state(),
    "metrics.csv": lightning(),
    "log.jsonl": "\n".join(json.dumps({"step": 10 * i, "train": {"loss": v}}) for i, v in enumerate(BAD)) + '\n{"st',
    "log.json": json.dumps([{"iteration": 10 * i, "loss": v} for i, v in enumerate(BAD)]),
    "columns.json": json.dumps({"loss": BAD, "step": [10 * i for i in range(len(BAD))]}),
    "semicolons.csv": "step;loss\n" + "\n".join(f"{10 * i};{v}" for i, v in enumerate(BAD)),
    "plain.csv": "loss\n" + "\n".join(str(v) for v in BAD),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_read(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_text(FORMATS[name])
    assert diagnose(path, "json") == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert [sign["code"] for sign in found["signs"]] == ["TS920"]
    assert found["signs"][0]["step"] == (2.0 if name == "plain.csv" else 20.0)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("whole.jsonl", "\n".join(json.dumps({"loss": 10**400, "step": 10**400}) for _ in range(20)), "TS920"),
        ("negative.json", json.dumps({"log_history": [{"loss": -(10**400)}] * 20}), "TS920"),
        ("large.csv", "loss\n" + "\n".join(["1e308", "1.7e308"] * 50), ""),
        ("mark.json", "\ufeff" + json.dumps([{"loss": 1.0 / (step + 1)} for step in range(50)]), ""),
    ],
)
def test_numbers_may_be_as_large_as_they_like(
    tmp_path: Path, name: str, text: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert diagnose(tmp_path / name, "json") == (1 if code else 0)
    (found,) = json.loads(capsys.readouterr().out)
    assert "".join(sign["code"] for sign in found["signs"]) == code


def test_event_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    scalars = [Scalar("Loss/train", 10 * i, v, 1.5 * i) for i, v in enumerate([2.5, 0.125, -3.0])]
    data = written(scalars)
    assert list(read_events(data)) == scalars
    assert list(read_events(data[:-5])) == scalars[:2], "what is still being written ends where it ends"
    folder = tmp_path / "runs" / "a"
    folder.mkdir(parents=True)
    (folder / "events.out.tfevents.1.host").write_bytes(
        written([Scalar("Loss/train", 10 * i, v) for i, v in enumerate(BAD)])
    )
    assert list(read(tmp_path)) == [str(folder)]
    assert diagnose(tmp_path, "text") == 1


def test_a_tensor_of_one_element_is_a_number() -> None:
    # As tf.summary and the newer writers do it: dtype, shape, content.
    tensor = bytes([8, 1, 18, 0, 34, 4]) + b"\x00\x00\x80\x3f"
    value = b"\x0a\x04loss" + bytes([8 << 3 | 2, len(tensor)]) + tensor
    summary = bytes([1 << 3 | 2, len(value)]) + value
    from torchsleuth.report.eventfiles import _record

    assert list(read_events(_record(bytes([2 << 3, 7, 5 << 3 | 2, len(summary)]) + summary))) == [
        Scalar("loss", 7, 1.0)
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b""),
        ("a.csv", b"name,city\nx,y\n"),
        ("a.csv", b"\0\1\2"),
        ("a.json", b"[" * 100_000),
        ("a.json", b'"text"'),
        ("events.out.tfevents.1", b"no event file at all, but some text"),
        ("events.out.tfevents.1", b""),
        ("events.out.tfevents.1", bytes(range(256))),
    ],
)
def test_what_is_no_log(tmp_path: Path, name: str, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(NoLog):
        read(path)
    assert diagnose(path, "text") == 2 and capsys.readouterr().err


def test_event_files_that_were_damaged_do_no_harm() -> None:
    data = bytearray(written([Scalar("loss", step, 1.0) for step in range(20)]))
    for _ in range(300):
        broken = bytearray(data)
        broken[CHANCE.randrange(40, len(broken))] ^= 1 << CHANCE.randrange(8)
        list(read_events(bytes(broken)))
