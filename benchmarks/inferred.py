"""Inferred contracts: are they true? Every module is built and run with sizes that its contract allows, and with others.

python -m benchmarks.inferred [--only TEXT] [FILE…]

With three choices of numbers that fulfil the conditions, the module has to run and give what is stated, unless the contract says
that it does not take all of these; with three that break
one condition alone, and none of which is 1, which is broadcast, it must fail or give nothing. Without files, those in `scripts/contracts/models/` are looked at.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import math
import random
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from torchsleuth.messages import message
from torchsleuth.schema import Contract, ContractValue
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.phrases import sentences

MODELS = Path(__file__).parent / "scripts" / "contracts" / "models"
CHOICES = 3
DRAWS = 4000
REST = ("2", "3")
"""The dimensions that are put in for ``...``."""
_NAME = re.compile(r"[A-Za-z_][\w.']*(\[\d+\])?")
_NUMBERS = (2, 4, 1, 8, 3, 16, 6, 32, 12, 5, 24, 64, 28, 48, 30, 7, 96, 36, 128)
Numbers = dict[str, Any]
"""Numbers by name; among the arguments of a constructor, texts, too."""


def evaluated(text: str, numbers: Numbers) -> Any:
    """The value of a size or a condition."""
    text = text.replace("prod(...)", str(math.prod(map(int, REST))))
    plain = _NAME.sub(lambda match: match[0] if match[0] in ("min", "max") else str(numbers[match[0]]), text)
    return eval(plain, {"__builtins__": {}, "min": min, "max": max})


def names_of(contract: Contract) -> list[str]:
    texts = [size for one in contract.inputs for size in one.value.sizes or ()]
    texts += [
        *contract.conditions,
        *contract.training,
        *(setting.name for setting in contract.settings if not setting.text),
    ]
    found = (match[0] for text in texts for match in _NAME.finditer(text) if text != "...")
    return [name for name in dict.fromkeys(found) if name not in ("min", "max")]


def holds(condition: str, numbers: Numbers) -> bool:
    try:
        return bool(evaluated(condition, numbers))
    except ZeroDivisionError:
        return False


def broadcasts(condition: str, numbers: Numbers) -> bool:
    """Whether a side of an equality is 1, which is broadcast."""
    return any(evaluated(side, numbers) in (0, 1) for side in condition.split("==")) and "%" not in condition


def choices(contract: Contract, broken: str | None = None) -> Iterator[Numbers]:
    """Numbers that fulfil the conditions; with `broken`, all but that one."""
    names, chance = names_of(contract), random.Random(1)
    fixed = {setting.name: setting.value for setting in contract.settings if setting.value is not None}
    for attempt in range(DRAWS):
        numbers = {name: chance.choice(_NUMBERS[: 6 + attempt // 8]) for name in names}
        if attempt % 2:
            square = chance.choice(_NUMBERS)
            numbers |= {name: square for name in names if name in ("H", "W", "h", "w")}
        numbers |= {name: value for name, value in fixed.items() if value is not None}
        conditions = (*contract.conditions, *contract.training)
        if not all(holds(one, numbers) is (one != broken) for one in conditions):
            continue
        try:
            sizes = [
                evaluated(size, numbers) for one in contract.inputs for size in one.value.sizes or () if size != "..."
            ]
        except ZeroDivisionError:
            continue
        if all(0 < size <= 4096 for size in sizes):
            yield numbers


def arguments(function: Any, numbers: Numbers, skip: int) -> dict[str, Any]:
    """The arguments of a constructor: the integers as chosen, configurations with their fields, and what is left by its name."""
    found: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        name = parameter.name
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        fields = {key.partition(".")[2]: value for key, value in numbers.items() if key.startswith(f"{name}.")}
        elements = [key for key in numbers if key.startswith(f"{name}[")]
        if name in numbers:
            found[name] = numbers[name]
        elif elements:
            found[name] = tuple(numbers[f"{name}[{index}]"] for index in range(len(elements)))
        elif fields and isinstance(parameter.annotation, type) and parameter.annotation is not inspect.Parameter.empty:
            found[name] = parameter.annotation(**fields)
        elif fields:
            found[name] = SimpleNamespace(**{"bias": True, "dropout": 0.0, **fields})
        elif parameter.default is inspect.Parameter.empty:
            found[name] = 0.0
    return found


def called(contract: Contract, module: ModuleType, numbers: Numbers) -> Any:
    """What the module or function gives for inputs of the stated sizes. Raises whatever it raises."""
    parts: dict[str, torch.Tensor] = {}
    for one in contract.inputs:
        texts = [part for size in one.value.sizes or () for part in (REST if size == "..." else (size,))]
        shape = [evaluated(text, numbers) for text in texts]
        dtype = getattr(torch, one.value.dtype or "float32")
        made = torch.rand(shape, dtype=dtype) if dtype.is_floating_point else torch.zeros(shape, dtype=dtype)
        parts[one.name] = made
    inputs = list(compounded(parts, contract, module))
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if contract.owner is None:
            rest = {setting.name: numbers[setting.name] for setting in contract.settings}
            return getattr(module, contract.name)(*inputs, **rest)
        cls = getattr(module, contract.owner)
        called: dict[str, Any] = {}
        for setting in contract.settings:
            # Sizes of an image are passed as one tuple.
            name, several, _ = setting.name.partition("[")
            if setting.called:
                number = None if setting.text else numbers[setting.name]
                called[name] = (*called.get(name, ()), number) if several else number
        given = {
            one.name: eval(one.text, {**module.__dict__, **numbers})
            for one in contract.settings
            if one.text and not one.called
        }
        fields = {name: value for name, value in given.items() if "." in name}
        plain = {name: value for name, value in given.items() if "." not in name}
        taken = inspect.signature(cls.__init__).parameters.values()
        if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in taken):
            # What a parent asks for is passed on by name.
            plain |= {
                one.name: numbers[one.name]
                for one in contract.settings
                if one.name.isidentifier() and not one.called and one.name in numbers
            }
        return cls(**{**arguments(cls.__init__, {**numbers, **fields}, 1), **plain})(*inputs, **called)


def compounded(parts: dict[str, torch.Tensor], contract: Contract, module: ModuleType) -> Iterator[Any]:
    """The inputs: those of which a contract tells parts are dictionaries, or objects of the class that is annotated."""
    by_name: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in parts.items():
        found = re.fullmatch(r"(\w+)(?:\['(.*)'\]|\.(\w+)|\[\d+\])", name)
        by_name.setdefault(found[1] if found else name, {})[found[0].removeprefix(found[1]) if found else ""] = tensor
    owner = getattr(module, contract.owner or "", None)
    hints = {} if owner is None else owner.forward.__annotations__
    for name, held in by_name.items():
        plain = {key.strip("['].").strip(): tensor for key, tensor in held.items()}
        if "" in held:
            yield held[""]
        elif all(key[1:-1].isdigit() for key in held):
            yield list(held.values())
        elif next(iter(held)).startswith("["):
            yield plain
        else:
            yield hints.get(name, SimpleNamespace)(**plain)


def agrees(stated: ContractValue, value: Any, numbers: Numbers) -> bool:
    """Whether a value is what the contract states of it."""
    if stated.kind == "tensor":
        if not isinstance(value, torch.Tensor):
            return False
        if stated.sizes is None:
            return True
        texts = [part for size in stated.sizes for part in (REST if size == "..." else (size,))]
        if len(texts) != value.dim():
            return False
        right = all("?" in text or evaluated(text, numbers) == size for text, size in zip(texts, value.shape))
        return right and stated.dtype in (None, str(value.dtype).removeprefix("torch."))
    if stated.kind in ("tuple", "list"):
        return len(stated.parts) == len(value) and all(agrees(*pair, numbers) for pair in zip(stated.parts, value))
    if stated.kind == "record":
        return all(agrees(part, getattr(value, name), numbers) for name, part in zip(stated.names, stated.parts))
    if stated.kind == "dict":
        return all(agrees(part, value[name], numbers) for name, part in zip(stated.names, stated.parts))
    return True


def check(contract: Contract, module: ModuleType) -> tuple[Counter[str], list[str]]:
    """How many runs agree with a contract, and what those are that do not."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for numbers in itertools.islice(choices(contract), CHOICES):
        counts["allowed"] += 1
        try:
            value = called(contract, module, numbers)
        except Exception as error:
            if message("contract.open.small") in contract.open:
                counts["open"] += 1
            else:
                wrong.append(f"fails with {numbers}: {str(error)[:150]}")
            continue
        if not agrees(contract.result, value, numbers):
            wrong.append(f"gives something else with {numbers}")
    if not counts["allowed"]:
        wrong.append("no numbers fulfil its conditions")
    for condition in (*contract.conditions, *contract.training):
        allowed = (
            one
            for one in choices(contract, condition)
            if condition in contract.training or (min(one.values()) > 1 and not broadcasts(condition, one))
        )
        for numbers in itertools.islice(allowed, CHOICES):
            counts["broken"] += 1
            try:
                value = called(contract, module, numbers)
            except Exception:
                continue
            if isinstance(value, torch.Tensor) and not value.numel():
                continue
            wrong.append(f"runs without {condition}: {numbers}")
    return counts, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", default="", help="modules and functions whose names contain one of these, by commas")
    options = parser.parse_args()
    engine, total, seconds = Engine(), Counter[str](), 0.0
    for file in options.files or sorted(MODELS.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        module = ModuleType(file.stem)
        exec(compile(text, str(file), "exec", dont_inherit=True), module.__dict__)
        began = time.perf_counter()
        analysis = engine.contracts(str(file), text)
        seconds += time.perf_counter() - began
        if analysis.stats["internal_errors"] or analysis.stats["incomplete"]:
            print(analysis.stats)
        for contract in analysis.contracts:
            if not any(part in (contract.owner or contract.name) for part in options.only.split(",")):
                continue
            total["contracts"] += 1
            total["ranked"] += contract.ranked
            total["sized"] += contract.sized
            total["certain"] += not contract.open
            print(f"{contract.heading()}: {contract.signature()}")
            for sentence in sentences(contract):
                print(f"    {sentence}")
            if not contract.ranked:
                continue
            counts, wrong = check(contract, module)
            total.update(counts)
            total["wrong"] += len(wrong)
            for sentence in wrong:
                print(f"  ! {sentence}")
    runs = total["allowed"] + total["broken"]
    print(
        f"{total['contracts']} contracts in {seconds:.0f} s: {total['ranked']} with all ranks, {total['sized']} with every"
    )
    print(
        f"size, {total['certain']} with nothing open; {runs} runs ({total['broken']} against a condition), {total['wrong']} disagree"
    )


if __name__ == "__main__":
    main()
