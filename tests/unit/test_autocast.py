"""Dtypes in autocast regions: what PyTorch's own lists make of operators, on the device where the operands are."""

from __future__ import annotations

import pytest
import torch

from tests.check import analyze, check

IMPORTS = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
CUDA = IMPORTS + "assert torch.cuda.is_available()\n"


def dtypes(text: str) -> dict[str, str | None]:
    return {fact.binding: fact.dtype for fact in analyze(IMPORTS + text).facts if fact.binding}


REGION = """
x, w = torch.randn(4, 8, {place}), torch.randn(8, 8, {place})
with torch.autocast({arguments}):
    product = x @ w
    linear = F.linear(x, w)
    soft = linear.softmax(-1)
    normed = F.layer_norm(linear, (8,))
    loss = F.mse_loss(linear, x)
    total = linear.sum()
    both = torch.cat([x, linear])
    as_it_is = x + 1
after = linear @ linear.T
"""


@pytest.mark.parametrize("arguments", ['"cpu"', '"cpu", dtype=torch.bfloat16', '"cpu", torch.float16'])
def test_the_cpu_casts_as_the_installed_torch_does(arguments: str) -> None:
    text = REGION.format(place="device='cpu'", arguments=arguments)
    names = {"torch": torch}
    exec(compile(IMPORTS + text, "<region>", "exec"), names)
    known = dtypes(text)
    assert all(known[name] == str(names[name].dtype)[6:] for name in known) and len(known) == 11


def test_another_device_casts_by_its_own_lists_without_being_there() -> None:
    known = dtypes(REGION.format(place="device='cuda'", arguments='"cuda"'))
    halves = ("product", "linear", "after")
    assert {name for name, dtype in known.items() if dtype == "float16"} == set(halves)
    assert known["soft"] == known["normed"] == known["loss"] == known["total"] == known["both"] == "float32"


def test_layers_keep_their_weights_in_float32() -> None:
    net = "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)).cuda()\n"
    known = dtypes(
        net + "x = torch.randn(2, 3, 8, 8).cuda()\nwith torch.amp.autocast('cuda'):\n    y = net(x)\nz = net(x)\n"
    )
    assert known["y"] == "float16" and known["z"] == "float32"


def test_a_region_is_left_switched_off_or_of_another_device() -> None:
    head = "x = torch.randn(4, 4)\n"
    assert dtypes(head + "with torch.autocast('cpu', enabled=False):\n    y = x @ x\n")["y"] == "float32"
    assert dtypes(head + "with torch.autocast('cuda'):\n    y = x @ x\n")["y"] == "float32"
    nested = "with torch.autocast('cpu'):\n    with torch.autocast('cpu', enabled=False):\n        y = x @ x\n    z = x @ x\n"
    known = dtypes(head + nested)
    assert (known["y"], known["z"]) == ("float32", "bfloat16")
    decorated = "@torch.autocast('cpu')\ndef f(x):\n    return x @ x\ny = f(x)\nz = x @ x\n"
    known = dtypes(head + decorated)
    assert (known["y"], known["z"]) == ("bfloat16", "float32")


def test_what_depends_on_the_machine_or_on_arguments_is_not_said() -> None:
    text = (
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "net, x = nn.Linear(4, 4).to(device), torch.randn(2, 4, device=device)\n"
        "with torch.autocast(device_type=device):\n    y = net(x)\n"
        "def f(on):\n    x = torch.randn(4, 4)\n    with torch.autocast('cpu', enabled=on):\n        z = x @ x\n        a = z.shape\n"
    )
    known = dtypes(text)
    assert known["y"] is None and known["z"] is None


def test_operands_are_where_the_region_is_or_both_are_elsewhere() -> None:
    device = "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    layer = "net, x = nn.Linear(4, 4).to(device), torch.randn(2, 4, device=device)\n"
    region = "with torch.autocast(device, dtype=torch.bfloat16):\n    y = net(x)\n    z = torch.randn(2, 2) @ torch.randn(2, 2)\n"
    known = dtypes(device + layer + region)
    assert (
        known["y"] == "bfloat16" and known["z"] is None
    )  # on the CPU of a machine with an accelerator nothing is cast
    best = "    y = net(x)\n    best = y.argmax(1)\n    right = best == 0\n    kept = y * 2\n"
    known = dtypes(device + layer + "with torch.autocast(device):\n" + best)
    assert (known["y"], known["best"], known["right"], known["kept"]) == (None, "int64", "bool", None)
    inner = "    with torch.autocast('cpu', enabled=False):\n        y = net(x)\n"
    assert dtypes(device + layer + "with torch.autocast(device, dtype=torch.bfloat16):\n" + inner)["y"] is None


def test_mixed_dtypes_are_no_error_inside_and_one_outside() -> None:
    check(IMPORTS + "a, b = torch.randn(4, 4), torch.randn(4, 4).half()\nwith torch.autocast('cpu'):\n    y = a @ b\n")
    text = "a, b = torch.randn(4, 4).cuda(), torch.randn(4, 4).half().cuda()\nwith torch.autocast('cuda'):\n    y = a.mv(b[0])\n"
    check(CUDA + text)


def test_sizes_that_do_not_fit_are_found_inside() -> None:
    found = analyze(CUDA + "with torch.autocast('cuda'):\n    nn.Linear(5, 8).cuda()(torch.randn(4, 8).cuda())\n")
    assert [item.code for item in found.diagnostics] == ["TS101"]


def test_masks_are_boolean_where_the_dtype_depends_on_the_machine() -> None:
    text = (
        "import torch\nfrom contextlib import nullcontext\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "context = nullcontext() if device == 'cpu' else torch.autocast(device, dtype=torch.float16)\n"
        "net, drop = torch.nn.Linear(8, 8).to(device), torch.nn.Dropout(0.1)\n"
        "x = torch.randn(2, 5, 8, device=device)\n"
        "with context:\n"
        "    q = net(x)\n    mask = q == 0\n    y = q.masked_fill(mask, 1.0).softmax(-1)\n    z = drop(y)\n"
    )
    assert dtypes(text) | {"q": None, "mask": "bool", "y": None, "z": None} == dtypes(text)


def test_a_region_that_changes_nothing_costs_no_dtype() -> None:
    """Of float32 there is nothing to cast, in either of the contexts that the script may have."""
    text = (
        "from contextlib import nullcontext\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "context = nullcontext() if device == 'cpu' else torch.autocast(device, dtype=torch.float32)\n"
        "net, x = nn.Linear(8, 8).to(device), torch.randn(2, 5, 8, device=device)\n"
        "h = torch.randn(8, 8, dtype=torch.bfloat16)\n"
        "with context:\n    y = net(x)\n    z = y.softmax(-1)\n"
        "with torch.autocast('cpu', dtype=torch.float32):\n    w = h @ h\n"
    )
    known = dtypes(text)
    assert (known["y"], known["z"], known["w"]) == ("float32", "float32", "bfloat16")


def test_indices_are_not_cast() -> None:
    text = (
        "ids, net = torch.zeros(2, 8, dtype=torch.long).cuda(), nn.Linear(8, 8).cuda()\n"
        "with torch.autocast('cuda'):\n    last = ids[:, -4:]\n    part = net(torch.randn(2, 8).cuda())[:, 0]\n"
    )
    known = dtypes(text)
    assert (known["last"], known["part"]) == ("int64", "float16")
