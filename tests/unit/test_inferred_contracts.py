"""Contracts that nobody has written: what modules and functions ask of their inputs and give back, under the author's names."""

from __future__ import annotations

import json
import textwrap
from functools import lru_cache
from pathlib import Path

import pytest

from tests.check import PATIENT, engine
from tests.unit.test_cli import torchsleuth
from torchsleuth.interp import documents
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.schema import Contract, FileAnalysis
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.phrases import sentences
from torchsleuth.worker.structure import structure

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F


"""


@lru_cache
def contracts(text: str) -> dict[str, Contract]:
    answer = engine().contracts("model.py", HEAD + textwrap.dedent(text).lstrip("\n"))
    assert not answer.stats["internal_errors"], answer.stats["internal_errors"]
    assert structure(answer.to_json(), FileAnalysis) == answer
    return {one.owner or one.name: one for one in answer.contracts}


UNET = """
class DoubleConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())

    def forward(self, x):
        return self.body(x)


class Down(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = DoubleConv(i, o)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        skip = self.conv(x)
        return self.pool(skip), skip


class Up(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.up = nn.ConvTranspose2d(i, o, 2, stride=2)
        self.conv = DoubleConv(2 * o, o)

    def forward(self, x, skip):
        return self.conv(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down1, self.down2 = Down(3, 8), Down(8, 16)
        self.middle = DoubleConv(16, 32)
        self.up2, self.up1 = Up(32, 16), Up(16, 8)
        self.head = nn.Conv2d(8, classes, 1)

    def forward(self, x):
        x, first = self.down1(x)
        x, second = self.down2(x)
        x = self.up2(self.middle(x), second)
        return self.head(self.up1(x, first))
"""


def test_blocks_have_the_names_of_their_constructor() -> None:
    found = contracts(UNET)
    assert found["Down"].heading() == "class Down(i, o)"
    assert found["Down"].signature() == "forward(x: [N, i, H, W]) -> ([N, o, H//2, W//2], [N, o, H, W])"
    assert found["Down"].conditions == ("H >= 2", "W >= 2")
    assert found["Up"].signature() == "forward(x: [N, i, H, W], skip: [N, o, 2*H, 2*W]) -> [N, o, 2*H, 2*W]"


def test_what_cat_requires_is_a_condition_and_simplifies_the_result() -> None:
    unet = contracts(UNET)["UNet"]
    assert unet.signature() == "forward(x: [N, 3, H, W]) -> [N, classes, H, W]"
    assert unet.conditions == ("H % 4 == 0", "W % 4 == 0")
    assert unet.sized and not unet.open


def test_attention_divides_by_its_heads() -> None:
    found = contracts(
        """
        class Attention(nn.Module):
            def __init__(self, n_embd, n_head):
                super().__init__()
                self.n_head = n_head
                self.qkv = nn.Linear(n_embd, 3 * n_embd)

            def forward(self, x):
                B, T, C = x.shape
                q, k, v = self.qkv(x).split(C, dim=2)
                q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                y = (q @ k.transpose(-2, -1)).softmax(-1) @ v
                return y.transpose(1, 2).reshape(B, T, C)
        """
    )["Attention"]
    assert found.signature() == "forward(x: [B, T, n_embd]) -> [B, T, n_embd]"
    assert found.conditions == ("n_embd % n_head == 0",)


def test_flattened_features_have_to_be_as_many_as_the_layer_takes() -> None:
    found = contracts(
        """
        class Encoder(nn.Module):
            def __init__(self, latent: int):
                super().__init__()
                self.a = nn.Conv2d(1, 8, 4, 2, 1)
                self.b = nn.Conv2d(8, 16, 4, 2, 1)
                self.mu = nn.Linear(16 * 7 * 7, latent)

            def forward(self, x):
                return self.mu(torch.flatten(F.relu(self.b(F.relu(self.a(x)))), 1))
        """
    )["Encoder"]
    assert found.signature() == "forward(x: [N, 1, H, W]) -> [N, latent]"
    assert found.conditions == ("(H//4)*(W//4) == 49",)


def test_layers_may_be_made_with_symbols_too() -> None:
    found = contracts(
        """
        class PatchEmbed(nn.Module):
            def __init__(self, patch_size=16, in_chans=3, embed_dim=768):
                super().__init__()
                self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)

            def forward(self, x):
                return self.proj(x).flatten(2).transpose(1, 2)
        """
    )["PatchEmbed"]
    assert found.heading() == "class PatchEmbed(patch_size=16, in_chans=3, embed_dim=768)"
    assert found.signature() == "forward(x: [N, in_chans, H, W]) -> [N, (H//patch_size)*(W//patch_size), embed_dim]"
    assert found.conditions == ("H >= patch_size", "W >= patch_size")


def test_any_number_of_dimensions_in_front() -> None:
    found = contracts(
        """
        class FeedForward(nn.Module):
            def __init__(self, dim, hidden):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

            def forward(self, x):
                return self.net(x)
        """
    )["FeedForward"]
    assert found.signature() == "forward(x: [..., dim]) -> [..., dim]"


BODIES = {
    "x * torch.sigmoid(x)": "forward(x: [...]) -> [...]",
    "F.normalize(x, dim=-1)": "forward(x: [...]) -> [...]",
    "x.softmax(dim=1)": "forward(x: [N, C, ...]) -> [N, C, ...]",
    "x.mean(dim=1)": "forward(x: [N, C, ...]) -> [N, ...]",
    "x.abs().sum(dim=(2, 3))": "forward(x: [N, C, H, W, ...]) -> [N, C, ...]",
    "(x ** 2).mean()": "forward(x: [...]) -> []",
    "x.exp().flatten(1)": "forward(x: [N, C, ...]) -> [N, prod(...)*C]",
    "x.exp() @ x.exp().transpose(-2, -1)": "forward(x: [..., H, W]) -> [..., H, H]",
    "self.layer(x).relu()": "forward(x: [..., a]) -> [..., b]",
    "x.exp() * self.scale": "forward(x: [..., a]) -> [..., a]",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_contract_does_not_ask_for_more_dimensions_than_the_body(body: str) -> None:
    found = contracts(
        f"""
        class One(nn.Module):
            def __init__(self, a, b):
                super().__init__()
                self.layer = nn.Linear(a, b)
                self.scale = nn.Parameter(torch.ones(a))

            def forward(self, x):
                return {body}
        """
    )["One"]
    assert found.signature() == BODIES[body]
    assert found.sized and not found.open


def test_two_inputs_with_any_number_of_dimensions_share_them() -> None:
    found = contracts(
        """
        class Loss(nn.Module):
            def forward(self, prediction, target):
                return (torch.sigmoid(prediction) - target).abs()

        class Joined(nn.Module):
            def forward(self, one, other):
                return torch.cat([one.relu(), other.relu()], dim=1)
        """
    )
    assert found["Loss"].signature() == "forward(prediction: [...], target: [...]) -> [...]"
    assert found["Joined"].signature() == "forward(one: [N, C, ...], other: [N, C', ...]) -> [N, C + C', ...]"


def test_a_layer_for_two_numbers_of_dimensions_is_told_with_one_and_the_other_beside_it() -> None:
    found = contracts(
        """
        class Norm(nn.Module):
            def __init__(self, c):
                super().__init__()
                self.norm = nn.BatchNorm1d(c)

            def forward(self, x):
                return self.norm(x).relu()
        """
    )["Norm"]
    assert found.signature() == "forward(x: [N, c]) -> [N, c]"
    assert found.open == ("other numbers of dimensions work, too: 3",)


def test_expressions_inside_have_as_many_dimensions_as_the_contract() -> None:
    text = """
    class Swish(nn.Module):
        def forward(self, x):
            gate = torch.sigmoid(x)
            ones = torch.ones(x.dim() + 1)
            return x * gate
    """
    facts = engine().contracts("model.py", HEAD + textwrap.dedent(text).lstrip("\n")).facts
    assert {fact.expression: fact.shape for fact in facts} == dict.fromkeys(
        ("gate", "torch.sigmoid(x)", "x", "x * gate"), ("...",)
    )


def test_padding_to_the_size_of_another_tensor() -> None:
    found = contracts(
        """
        class Up(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.up = nn.ConvTranspose2d(i, i // 2, 2, stride=2)
                self.conv = nn.Conv2d(i, o, 3, padding=1)

            def forward(self, x, skip):
                x = self.up(x)
                below, beside = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
                x = F.pad(x, [beside // 2, beside - beside // 2, below // 2, below - below // 2])
                return self.conv(torch.cat([skip, x], dim=1))
        """
    )["Up"]
    assert found.signature() == "forward(x: [N, i, H, W], skip: [N, i - i//2, H', W']) -> [N, o, H', W']"
    assert found.sized


def test_a_number_that_a_layer_takes_is_no_size() -> None:
    found = contracts(
        """
        class Slope(nn.Module):
            def __init__(self, dim, alpha):
                super().__init__()
                self.alpha = alpha
                self.act = nn.LeakyReLU(self.alpha)
                self.layer = nn.Linear(dim, dim)

            def forward(self, x):
                return F.dropout(self.act(self.layer(x)), self.alpha)
        """
    )["Slope"]
    assert found.heading() == "class Slope(dim)"
    assert found.signature() == "forward(x: [..., dim]) -> [..., dim]"


def test_what_is_used_as_a_size_is_an_integer_that_the_call_passes() -> None:
    found = contracts(
        """
        class Images(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.conv = nn.Conv2d(dim, dim, 3, 1, 1, groups=dim)

            def forward(self, x, H, W):
                B, N, C = x.shape
                return self.conv(x.transpose(1, 2).reshape(B, C, H, W)).flatten(2).transpose(1, 2)

        class Block(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.images = Images(dim)

            def forward(self, x, H, W):
                return x + self.images(x, H, W)
        """
    )
    for name in ("Images", "Block"):
        assert found[name].heading() == f"class {name}(dim)"
        assert found[name].signature() == "forward(x: [B, H*W, dim], H, W) -> [B, H*W, dim]"
        assert [(one.name, one.called) for one in found[name].settings] == [("dim", False), ("H", True), ("W", True)]


def test_what_is_no_size_is_as_a_call_in_the_file_passes_it() -> None:
    text = """
        class Plain(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.conv = nn.Conv2d(i, o, 3, padding=1)

            def forward(self, x):
                return self.conv(x)

        class Net(nn.Module):
            def __init__(self, block, layers, act, classes=10):
                super().__init__()
                self.stem, self.act = nn.Conv2d(3, 16, 3), act()
                self.body = nn.Sequential(*[block(16, 16) for count in layers for _ in range(count)])
                self.head = nn.Linear(16, classes)

            def forward(self, x):
                return self.head(self.body(self.act(self.stem(x))).mean((2, 3)))

        def small(classes, layers=[2, 1]):
            return Net(Plain, layers, act=nn.ReLU, classes=classes)
        """
    found = contracts(text)["Net"]
    assert found.heading() == "class Net(classes=10, block=Plain, layers=[2, 1], act=nn.ReLU)"
    assert found.signature() == "forward(x: [N, 3, H, W]) -> [N, classes]"
    assert sentences(found)[0] == "for block = Plain, layers = [2, 1], act = nn.ReLU"
    # What differs from call to call, or is computed, is not known.
    unknown = contracts(text.replace("Net(Plain,", "Net(print(1),"))["Net"]
    assert not any(one.text for one in unknown.settings)


def test_a_default_may_say_which_branch_is_taken() -> None:
    found = contracts(
        """
        class Attention(nn.Module):
            def __init__(self, dim, ratio=1):
                super().__init__()
                self.ratio = ratio
                self.layer = nn.Linear(dim, dim)
                if ratio > 1:
                    self.sr = nn.Conv2d(dim, dim, ratio, ratio)

            def forward(self, x, H, W):
                b, n, c = x.shape
                if self.ratio > 1:
                    x = self.sr(x.transpose(1, 2).reshape(b, c, H, W)).flatten(2).transpose(1, 2)
                return self.layer(x)
        """
    )["Attention"]
    assert found.signature() == "forward(x: [b, n, dim], H, W) -> [b, n, dim]"
    assert sentences(found) == ("for ratio = 1",)


def test_fields_of_a_configuration() -> None:
    found = contracts(
        """
        class Head(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.norm = nn.LayerNorm(config.n_embd)
                self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

            def forward(self, x):
                b, t, c = x.size()
                return self.head(self.norm(x)).view(b * t, -1)
        """
    )["Head"]
    assert found.signature() == "forward(x: [b, t, config.n_embd]) -> [b*t, config.vocab_size]"


def test_what_is_not_known_is_a_hole_with_its_reason() -> None:
    found = contracts(
        """
        from somewhere import mix


        class Net(nn.Module):
            def __init__(self, c):
                super().__init__()
                self.conv = nn.Conv2d(c, c, 3)

            def forward(self, x):
                return self.conv(x), mix(x)
        """
    )["Net"]
    assert found.result.parts[1].kind == "unknown"
    assert not found.ranked
    assert any(text.startswith("?: ") for text in sentences(found))


def test_a_function_with_annotated_tensors() -> None:
    found = contracts(
        """
        def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            B, H, T, D = q.shape
            scores = torch.einsum("bhtd,bhsd->bhts", q, k)
            return torch.einsum("bhts,bhsd->bhtd", scores.softmax(-1), v)
        """
    )["attend"]
    assert found.ranked
    assert found.inputs[0].value.describe() == "[B, H, T, D]"
    assert found.result.describe() == "[B, H, T, d]"  # the values may have other features than the keys


CONFIGURED = """
class Config:
    def __init__(self, hidden_size=64, heads=4, act="gelu", eps=1e-6, pad_token_id=0, **rest):
        self.hidden_size, self.heads, self.act, self.eps = hidden_size, heads, act, eps
        self.head_dim = hidden_size // heads
        self.pad_token_id = pad_token_id


ACTIVATIONS = {"gelu": nn.GELU, "relu": nn.ReLU}


class Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.qkv = nn.Linear(config.hidden_size, 3 * config.heads * config.head_dim)
        self.act = ACTIVATIONS[config.act]()
        self.out = nn.Linear(config.heads * config.head_dim, config.hidden_size)

    @typechecked
    def forward(self, hidden: torch.Tensor, mask: torch.Tensor | None = None, **kwargs) -> torch.Tensor:
        batch, length, _ = hidden.shape
        q, k, v = self.qkv(hidden).view(batch, length, 3, self.config.heads, -1).unbind(2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k).softmax(-1)
        return self.act(self.out(torch.einsum("bhqk,bkhd->bqhd", scores, v).reshape(batch, length, -1)))
"""


def test_the_fields_of_a_configuration_and_a_decorator_that_is_not_known() -> None:
    found = contracts("from typeguard import typechecked\n" + CONFIGURED)["Attention"]
    assert found.sized
    assert {setting.name for setting in found.settings} == {"config.hidden_size", "config.heads"}
    assert found.inputs[0].value.describe() == "[batch, length, config.hidden_size]"
    assert found.result.describe() == "[batch, length, config.hidden_size]"


SWITCHED = """
class Forecaster(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.task_name = configs.task_name
        self.scaled = configs.use_norm
        self.positions = nn.Embedding(configs.max_len, configs.seq_len)
        self.project = nn.Linear(configs.seq_len, configs.pred_len)

    def forward(self, x):
        if self.scaled:
            x = x - x.mean()
        if self.task_name == "forecast":
            length = x.shape[1]
            return self.project(x + self.positions(torch.arange(length, device=x.device)).unsqueeze(0))
        return x
"""


def test_options_that_are_compared_with_text_and_rows_that_are_counted_up() -> None:
    found = contracts(SWITCHED)["Forecaster"]
    fixed = {setting.name: setting.text for setting in found.settings if setting.text}
    assert fixed == {"configs.task_name": "'forecast'", "configs.use_norm": "False"}
    assert found.conditions == ("length <= configs.max_len",)
    assert found.result.describe() == "[N, length, configs.pred_len]"


RECORD = """
from collections import OrderedDict
from collections.abc import MutableMapping
from dataclasses import dataclass


class Output(OrderedDict):
    def __init__(self, *args):
        raise TypeError


@dataclass
class Scores(Output):
    loss: torch.Tensor | None = None
    logits: torch.Tensor | None = None


class Layers(MutableMapping):
    def __init__(self):
        self.own = {}

    def __getitem__(self, key):
        return self.own[key]


LAYERS = Layers()


class Classifier(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.head = LAYERS.get("head", nn.Linear)(features, classes)

    def forward(self, pixels: torch.Tensor | None = None, labels: torch.Tensor | None = None):
        if pixels is None:
            raise ValueError("no pixels")
        return Scores(logits=self.head(pixels.flatten(1)))
"""


def test_a_record_is_given_for_an_input_that_has_a_default() -> None:
    found = contracts(RECORD)["Classifier"]
    assert [one.name for one in found.inputs] == ["pixels"]
    assert found.result.describe().startswith("Scores(logits=[N, ")
    assert found.ranked


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_the_command(form: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(HEAD + textwrap.dedent(UNET.split("class Up")[0]), encoding="utf-8")
    done = torchsleuth("contract", ".", "--output-format", form, cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr
    if form == "json":
        names = [one["owner"] for one in json.loads(done.stdout)]
        assert names == ["DoubleConv", "Down"]
    else:
        assert "forward(x: [N, i, H, W]) -> ([N, o, H//2, W//2], [N, o, H, W])" in done.stdout
        assert "where H >= 2, W >= 2" in done.stdout


def test_integers_that_have_to_be_equal_are_a_condition() -> None:
    text = """
        class Residual(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.conv = nn.Conv2d(i, o, 3, padding=1)

            def forward(self, x):
                return x + self.conv(x)
        """
    found = contracts(text)["Residual"]
    assert found.conditions == ("i == o",) and not found.open


def test_calls_in_the_document_tell_the_ranks_that_the_body_leaves_open() -> None:
    text = """
        class Attend(nn.Module):
            def forward(self, q, k, mask):
                scores = (q @ k.transpose(-1, -2)).masked_fill(mask, -1e9)
                return scores.softmax(-1) @ k

        class Layer(nn.Module):
            def __init__(self, d, h):
                super().__init__()
                self.q, self.k, self.h, self.attend = nn.Linear(d, d), nn.Linear(d, d), h, Attend()

            def forward(self, x):
                b, n, d = x.shape
                q, k = (part(x).view(b, n, self.h, d // self.h).transpose(1, 2) for part in (self.q, self.k))
                return self.attend(q, k, torch.ones(b, 1, n, n, dtype=torch.bool))
        """
    found = contracts(text)["Attend"]
    ranks = {one.name: len(one.value.sizes or ()) for one in found.inputs}
    assert found.sized and ranks == {"q": 4, "k": 4, "mask": 4}
    assert [one.value.dtype for one in found.inputs] == [None, None, "bool"]


def test_a_script_binds_what_its_classes_read() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(width, 2)

            def forward(self, x):
                return self.fc(x)

        if __name__ == "__main__":
            width = 7
            net = Net()
        """
    assert contracts(text)["Net"].signature() == "forward(x: [..., 7]) -> [..., 2]"


def test_inputs_of_different_ranks_are_found() -> None:
    text = """
        class Norm(nn.Module):
            def __init__(self, features, classes):
                super().__init__()
                self.norm, self.features = nn.BatchNorm2d(features, affine=False), features
                self.table = nn.Embedding(classes, 2 * features)

            def forward(self, x, y):
                gamma, beta = self.table(y).chunk(2, 1)
                out = gamma.view(-1, self.features, 1, 1) * self.norm(x)
                return out + beta.view(-1, self.features, 1, 1)
        """
    found = contracts(text)["Norm"]
    assert found.signature() == "forward(x: [N, features, H, W], y: [N]) -> [N, features, H, W]"


def test_parameters_that_are_several_integers_are_told_one_by_one() -> None:
    text = """
        class Noise(nn.Module):
            def __init__(self, latent, shape):
                super().__init__()
                channels, self.h, self.w = shape
                self.fc, self.out = nn.Linear(latent, self.h * self.w), nn.Conv2d(1, channels, 1)

            def forward(self, z):
                return self.out(self.fc(z).view(z.size(0), 1, self.h, self.w))

        class Stack(nn.Module):
            def __init__(self, inputs, widths):
                super().__init__()
                layers = []
                for i in range(len(widths)):
                    before = inputs if i == 0 else widths[i - 1]
                    layers += [nn.Linear(before, widths[i]), nn.ReLU()]
                self.net = nn.Sequential(*layers)

            def forward(self, x):
                return self.net(x)
        """
    found = contracts(text)
    assert found["Noise"].heading() == "class Noise(latent, shape[0], shape[1], shape[2])"
    assert found["Noise"].signature() == "forward(z: [N, latent]) -> [N, shape[0], shape[1], shape[2]]"
    assert found["Stack"].heading() == "class Stack(inputs, widths[0], widths[1])"
    assert found["Stack"].signature() == "forward(x: [..., inputs]) -> [..., widths[1]]"


def test_inputs_that_are_several_tensors_are_told_one_by_one() -> None:
    text = """
        class Root(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.conv = nn.Conv2d(i, o, 1)

            def forward(self, xs):
                return self.conv(torch.cat(xs, 1))

        class Two(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.a, self.b = nn.Linear(i, o), nn.Linear(i, o)

            def forward(self, *parts):
                first, second = parts
                return self.a(first) + self.b(second)
        """
    found = contracts(text)
    assert [one.name for one in found["Root"].inputs] == ["xs[0]", "xs[1]"]
    assert found["Root"].result.describe() == "[N, o, H, W]"
    assert found["Two"].sized and [one.name for one in found["Two"].inputs] == ["parts[0]", "parts[1]"]


def signature(contract: Contract) -> str:
    return f"{contract.heading()}: {contract.signature()}"


def test_calls_in_other_documents_of_the_project_tell_the_ranks(tmp_path: Path) -> None:
    pooled = """
    class Shift(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.size = size

        def forward(self, x, gate):
            return x * torch.sigmoid(gate) + self.size
    """
    use = "from pooled import Shift\n\nshift = Shift(4)\nout = shift(torch.rand(2, 5, 7), torch.rand(2, 5, 7))\n"
    text = HEAD + textwrap.dedent(pooled)
    path = tmp_path / "pooled.py"
    path.write_text(text)
    (tmp_path / "unrelated.py").write_text("raise SystemExit\n")
    alone = engine().contracts(str(path), text, roots=(str(tmp_path),)).contracts
    assert "..." in signature(alone[0])
    (tmp_path / "use.py").write_text(HEAD + use)
    text += "\n"
    (told,) = engine().contracts(str(path), text, roots=(str(tmp_path),)).contracts
    assert signature(told) == "class Shift(size): forward(x: [N, L, C], gate: [N, L, C]) -> [N, L, C]"


def test_a_layer_may_have_a_weight_that_was_computed() -> None:
    found = contracts("""
    class Positions(nn.Module):
        def __init__(self, count, size):
            super().__init__()
            table = torch.zeros(count, size)
            table[:, 0::2] = torch.arange(count).unsqueeze(1) / size
            self.table = nn.Embedding(count, size)
            self.table.weight = nn.Parameter(table, requires_grad=False)

        def forward(self, x):
            return self.table(x[:, :, 0].long())
    """)
    assert (
        signature(found["Positions"]) == "class Positions(count, size): forward(x: [N, C, H, ...]) -> [N, C, ..., size]"
    )


def test_a_table_of_numbers_may_be_as_long_as_it_likes() -> None:
    found = contracts("""
    import numpy as np

    class Sinusoids(nn.Module):
        def __init__(self, size, length=200):
            super().__init__()
            table = np.array([[place / np.power(10000, 2 * (j // 2) / size) for j in range(size)] for place in range(length)])
            table[:, 0::2] = np.sin(table[:, 0::2])
            self.register_buffer("table", torch.FloatTensor(table).unsqueeze(0))

        def forward(self, x):
            b, n, c = x.shape
            return x + self.table[:, :n].clone()
    """)
    told = found["Sinusoids"]
    assert signature(told) == "class Sinusoids(size, length=200): forward(x: [b, n, size]) -> [b, n, size]"
    assert told.conditions == ("n <= length",)


def test_a_size_that_another_method_unpacks_is_several_integers() -> None:
    found = contracts("""
    class Merge(nn.Module):
        def __init__(self, resolution, dim):
            super().__init__()
            self.resolution = resolution
            self.reduce = nn.Linear(2 * dim, dim)

        def forward(self, x):
            H, W = self.resolution
            B, L, C = x.shape
            assert L == H * W and H % 2 == 0
            x = x.view(B, H, W, C)
            x = torch.cat([x[:, 0::2], x[:, 1::2]], -1)
            return self.reduce(x.view(B, -1, 2 * C))
    """)
    assert signature(found["Merge"]) == (
        "class Merge(resolution[0], resolution[1], dim): "
        "forward(x: [B, resolution[0]*resolution[1], dim]) -> [B, (resolution[0]//2)*resolution[1], dim]"
    )


def test_what_a_class_calls_is_no_integer() -> None:
    found = contracts("""
    class Residual(nn.Module):
        def __init__(self, inner, size):
            super().__init__()
            self.inner = inner
            self.norm = nn.LayerNorm(size)

        def forward(self, x):
            return self.norm(x) + self.inner(x)
    """)
    assert [one.name for one in found["Residual"].settings] == ["size"]


def test_helpers_of_packages_that_are_not_installed_are_known() -> None:
    found = contracts("""
    from timm.layers import DropPath, to_2tuple, trunc_normal_
    from torch.nn.modules.utils import _pair

    class Patches(nn.Module):
        def __init__(self, size, patch, dim):
            super().__init__()
            self.kernel = to_2tuple(patch)
            self.proj = nn.Conv2d(3, dim, self.kernel, stride=_pair(patch))
            self.scale = nn.Parameter(torch.zeros(dim, 1, 1))
            trunc_normal_(self.scale, std=0.02)
            self.drop = DropPath(0.1)

        def forward(self, x):
            return self.drop(self.proj(x) * self.scale)
    """)
    assert signature(found["Patches"]).endswith("forward(x: [N, 3, H, W]) -> [N, dim, H//patch, W//patch]")


def test_indices_are_found_among_inputs_of_which_not_all_have_a_rank_yet() -> None:
    found = contracts("""
    def subsequent(seq):
        b, n = seq.size()
        return torch.triu(torch.ones((1, n, n)), diagonal=1) == 0

    class Decoder(nn.Module):
        def __init__(self, words, size, heads):
            super().__init__()
            self.words = nn.Embedding(words, size)
            self.keys = nn.Linear(size, size)

        def forward(self, seq, memory):
            hidden = self.words(seq)
            scores = hidden @ self.keys(hidden).transpose(1, 2)
            scores = scores.masked_fill(subsequent(seq) == 0, -1e9)
            return scores.softmax(-1) @ hidden + memory
    """)
    told = found["Decoder"]
    assert told.inputs[0].value.sizes == ("b", "n") and told.inputs[0].value.dtype == "int64"
    assert told.ranked


WRAPPERS = """
class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) + x


class Normed(nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.inner = inner

    def forward(self, x):
        batch, length, _ = x.shape
        return self.inner(self.norm(x))


class Wide(nn.Module):
    def __init__(self, size, width, activation="relu"):
        super().__init__()
        self.first, self.second = nn.Linear(size, width), nn.Linear(width, 2 * size)
        self.activation = F.relu if activation == "relu" else F.gelu

    def forward(self, x):
        return self.second(self.activation(self.first(x)))


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Encoder(nn.Module):
    def __init__(self, dim, depth, width, activation):
        super().__init__()
        self.stack = Stack([Normed(dim, nn.Linear(dim, dim)) for _ in range(depth)])
        self.last = Normed(dim, Residual(nn.Linear(dim, dim)))
        self.wide = Wide(dim, width, activation)

    def forward(self, x):
        return self.wide(self.last(self.stack(x)))


def build(dim, hidden):
    return Normed(dim, Wide(dim, hidden))
"""


def test_modules_that_others_pass_are_those_of_the_code_that_makes_it() -> None:
    found = contracts(WRAPPERS)
    assert signature(found["Normed"]) == (
        "class Normed(size, inner=Wide(dim, hidden)): forward(x: [batch, length, size]) -> [batch, length, 2*size]"
    )
    assert [(one.name, one.maker) for one in found["Normed"].settings] == [
        ("size", ""),
        ("hidden", "build"),
        ("inner", "build"),
    ]
    assert signature(found["Residual"]).endswith("-> [batch, length, dim]")
    assert "for layers = [Normed(dim, nn.Linear(dim, dim)) for _ in range(depth)]" in sentences(found["Stack"])
    assert found["Stack"].sized and found["Encoder"].sized


def test_what_is_passed_on_to_a_layer_is_told_as_it_is_written() -> None:
    found = contracts("""
    class Conv(nn.Module):
        def __init__(self, inputs, outputs, act, **more):
            super().__init__()
            self.conv = nn.Conv2d(inputs, outputs, **more)
            self.act = act

        def forward(self, x):
            return self.act(self.conv(x))

    class Stem(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.conv = Conv(3, width, nn.ReLU(), kernel_size=3, padding=1)

        def forward(self, x):
            return self.conv(x)
    """)
    assert signature(found["Conv"]) == (
        "class Conv(outputs, inputs=3, act=nn.ReLU(), kernel_size=3, padding=1): "
        "forward(x: [N, 3, H, W]) -> [N, outputs, H, W]"
    )


def test_code_that_makes_a_module_in_some_executions_only_says_nothing() -> None:
    found = contracts("""
    class Residual(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x) + x

    def build(dim, residual):
        if residual.enabled():
            return Residual(nn.Linear(dim, 2 * dim))
        return nn.Linear(dim, dim)
    """)
    assert not found["Residual"].ranked


def test_images_come_in_batches() -> None:
    found = contracts("""
    class Padded(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.pad = nn.ReflectionPad2d(1)
            self.conv = nn.Conv2d(channels, channels, 3)

        def forward(self, x):
            return self.conv(self.pad(x))


    def pooling(dims, *args):
        if dims == 1:
            return nn.AvgPool1d(*args)
        if dims == 2:
            return nn.AvgPool2d(*args)
        raise ValueError(dims)


    class Halved(nn.Module):
        def __init__(self, channels, dims=2):
            super().__init__()
            self.channels = channels
            self.pool = pooling(dims, 2)

        def forward(self, x):
            assert x.shape[1] == self.channels
            return self.pool(x)
    """)
    assert signature(found["Padded"]).endswith("forward(x: [N, channels, H, W]) -> [N, channels, H, W]")
    assert signature(found["Halved"]).endswith("forward(x: [N, channels, H, W]) -> [N, channels, H//2, W//2]")


ENDLESS = """
from itertools import count

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(4, 2)
        self.kept = []

    def forward(self, x):
        return self.affine(x)

def main(env):
    for _ in count(1):
        for step in range(1, 10000):
            Policy().kept.append(env.step(step))
            if env.is_over(step):
                break
        if env.is_done():
            break

main(object())
"""


def test_a_script_that_goes_on_for_long_does_not_hold_up_its_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BODY_WORK", 10_000)
    assert contracts(ENDLESS)["Policy"].sized
    monkeypatch.setattr(documents, "BODY_WORK", 0)
    imports = "\n".join(f"rows{place} = [number + {place} for number in range(60)]" for place in range(20))
    assert contracts(imports + ENDLESS)["Policy"].sized


def test_images_of_a_few_sizes_only_are_found() -> None:
    found = contracts("""
    class LeNet(nn.Module):
        def __init__(self, classes):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
            self.pool = nn.MaxPool2d(2)
            self.fc = nn.Linear(16 * 4 * 4, classes)

        def forward(self, x):
            x = self.pool(self.conv1(x).relu())
            x = self.pool(self.conv2(x).relu())
            return self.fc(x.flatten(1))


    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 8, 8, stride=4)
            self.norm = nn.LayerNorm([8, 20, 20])

        def forward(self, x):
            return self.norm(self.conv(x))
    """)
    assert found["LeNet"].sized and found["LeNet"].conditions == ("(H//4 - 3)*(W//4 - 3) == 16",)
    assert signature(found["Normed"]).endswith("forward(x: [N, 4, H, W]) -> [N, 8, 20, 20]")
    assert found["Normed"].conditions == ("H >= 84", "H <= 87", "W >= 84", "W <= 87")


def test_fields_of_a_configuration_are_read_in_what_it_is_passed_on_to() -> None:
    found = contracts("""
    class Block(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.wide = nn.Linear(config.size, config.inner.width)
            self.dropout = nn.Dropout(config.inner.dropout)
            self.narrow = nn.Linear(config.inner.width, config.size) if config.twice else nn.Identity()
            self.extra = [nn.Linear(width, width) for width in config.widths]

        def forward(self, x):
            return self.narrow(self.dropout(self.wide(x)))


    class Head(nn.Module):
        def __init__(self, args):
            super().__init__()
            self.args = args
            self.weight = nn.Parameter(torch.ones([self.args.ways, 8]))

        def forward(self, x):
            batch, _ = x.shape
            return F.linear(x, self.weight)


    class Model(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.block = Block(config)
            self.head = nn.Linear(config.inner.width, config.classes)

        def forward(self, x):
            batch, length, _ = x.shape
            return self.head(self.block(x))
    """)
    assert signature(found["Model"]) == (
        "class Model(config.classes, config.size): "
        "forward(x: [batch, length, config.size]) -> [batch, length, config.classes]"
    )
    assert signature(found["Head"]) == "class Head(args.ways): forward(x: [batch, 8]) -> [batch, args.ways]"


def test_parameters_that_nobody_passes_are_what_other_code_takes_for_them() -> None:
    found = contracts(
        """
        class Block(nn.Module):
            def __init__(self, i, o, norm_layer, act):
                super().__init__()
                self.body = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), norm_layer(o), act())

            def forward(self, x):
                return self.body(x)


        class Other(nn.Module):
            def __init__(self, size, norm_layer=nn.LayerNorm):
                super().__init__()
                self.norm = norm_layer(size)

            def forward(self, x):
                return self.norm(x)


        class Net(nn.Module):
            def __init__(self, sizes, norm_layer=None, act=nn.ReLU):
                super().__init__()
                if norm_layer is None:
                    norm_layer = nn.BatchNorm2d
                self.body = nn.Sequential(*[Block(s, s, norm_layer, act) for s in sizes])

            def forward(self, x):
                return self.body(x)
        """
    )
    assert found["Block"].heading() == "class Block(i, o, norm_layer=nn.BatchNorm2d, act=nn.ReLU)"
    assert found["Block"].signature() == "forward(x: [N, i, H, W]) -> [N, o, H, W]"


DERIVED = """
    class GroupNorm32(nn.GroupNorm):
        def forward(self, x):
            return super().forward(x.float()).type(x.dtype)


    class LayerNorm2d(nn.LayerNorm):
        def forward(self, x):
            x = x.permute(0, 2, 3, 1)
            x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
            return x.permute(0, 3, 1, 2)


    class Residual(nn.Linear):
        def forward(self, x):
            return super().forward(x) + x


    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.body = nn.Sequential(GroupNorm32(32, channels), nn.SiLU())

        def forward(self, x):
            return self.body(x)
    """


@pytest.mark.parametrize(
    ("name", "heading", "signature", "conditions"),
    [
        (
            "GroupNorm32",
            "num_groups, num_channels",
            "[N, num_channels] -> [N, num_channels]",
            "num_channels % num_groups == 0",
        ),
        ("LayerNorm2d", "normalized_shape=16", "[N, 16, H, W] -> [N, 16, H, W]", ""),
        (
            "Residual",
            "in_features, out_features",
            "[..., out_features] -> [..., out_features]",
            "out_features == in_features",
        ),
        ("Block", "channels", "[N, channels, ...] -> [N, channels, ...]", "channels % 32 == 0"),
    ],
)
def test_a_layer_of_the_library_with_a_forward_of_its_own(
    name: str, heading: str, signature: str, conditions: str
) -> None:
    one = contracts(DERIVED)[name]
    given, _, result = signature.partition(" -> ")
    assert one.heading() == f"class {name}({heading})"
    assert one.signature() == f"forward(x: {given}) -> {result}"
    assert ", ".join(one.conditions) == conditions


def test_code_may_ask_for_a_tuple_of_integers() -> None:
    one = contracts(
        """
        class Stages(nn.Module):
            def __init__(self, dim, depth, heads):
                super().__init__()
                assert isinstance(depth, tuple), "one number a stage"
                stages = []
                for count, several in zip(depth, heads):
                    stages += [nn.MultiheadAttention(dim, several) for _ in range(0)]
                    stages += [nn.Linear(dim, dim) for _ in range(count)]
                self.stages = nn.Sequential(*stages)

            def forward(self, x):
                return self.stages(x)
        """
    )["Stages"]
    assert one.heading() == "class Stages(dim, depth[0], depth[1], heads[0], heads[1])"
    assert one.signature() == "forward(x: [..., dim]) -> [..., dim]"


def test_a_table_made_of_a_tensor_has_its_sizes() -> None:
    one = contracts(
        """
        class Table(nn.Module):
            def __init__(self, rows, dim):
                super().__init__()
                self.table = nn.Embedding.from_pretrained(torch.randn(rows, dim), freeze=True)

            def forward(self, tokens):
                return self.table(tokens)
        """
    )["Table"]
    assert one.signature() == "forward(tokens: [...]) -> [..., dim]"


WIDENED = """
    def widened(c, ratio):
        return int(c * ratio + 0.5)


    class Wide(nn.Module):
        def __init__(self, c, ratio=2.5):
            super().__init__()
            self.conv = nn.Conv2d(c, widened(c, ratio), 1)

        def forward(self, x):
            return self.conv(x)


    class Grouped(nn.Module):
        def __init__(self, c, groups, ratio=2.5):
            super().__init__()
            width = widened(c, ratio)
            self.conv = nn.Conv2d(c, width, 1, groups=groups)

        def forward(self, x):
            return self.conv(x)
    """


def test_a_size_that_numbers_contradict_is_not_told() -> None:
    """Of even ones it is ``5*(c//2)``, of others it is not."""
    assert contracts(WIDENED)["Wide"].signature() == "forward(x: [N, c, H, W]) -> [N, ?, H, W]"


def test_a_condition_on_what_the_caller_has_no_name_for_is_a_hole() -> None:
    one = contracts(WIDENED)["Grouped"]
    assert "c % groups == 0" in one.conditions
    assert not any("width" in condition for condition in one.conditions)
    assert any("width" in sentence for sentence in one.open)


def test_a_parameter_that_may_be_a_tensor_is_one() -> None:
    one = contracts(
        """
        from typing import Union


        class Linear(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.linear = nn.Linear(i, o)

            def forward(self, hidden: torch.FloatTensor, other: Union[torch.Tensor, dict]):
                return self.linear(hidden) + other.sigmoid()
        """
    )["Linear"]
    assert [given.name for given in one.inputs] == ["hidden", "other"]
    assert one.ranked


def test_a_reshape_says_nothing_about_the_rank_of_what_it_reshapes() -> None:
    one = contracts(
        """
        class Maps(nn.Module):
            def __init__(self, width, heads):
                super().__init__()
                self.heads = heads
                self.queries = nn.Linear(width, width)
                self.keys = nn.Conv2d(width, width, 1)

            def forward(self, q, k):
                q, k = self.queries(q), self.keys(k)
                q = q.view(q.shape[0], q.shape[1], self.heads, -1)
                k = k.view(k.shape[0], self.heads, -1, k.shape[-2], k.shape[-1])
                return torch.einsum("bqnc,bnchw->bqnhw", q, k)
        """
    )["Maps"]
    assert one.signature() == "forward(q: [N, L, width], k: [N, width, H, W]) -> [N, L, heads, H, W]"
    assert one.conditions == ("width % heads == 0",)


def test_an_object_is_told_with_the_tensors_in_its_attributes() -> None:
    found = contracts(
        """
        class Padded:
            def __init__(self, tensors, mask):
                self.tensors = tensors
                self.mask = mask


        class Pad(nn.Module):
            def __init__(self, width, classes):
                super().__init__()
                self.linear = nn.Linear(width, classes)

            def forward(self, x):
                y = self.linear(x.transpose(1, 2))
                return Padded(y, y.sum(-1) > 0)
        """
    )
    assert found["Pad"].signature() == "forward(x: [N, width, C]) -> Padded(tensors=[N, C, classes], mask=[N, C])"


def test_a_distribution_is_told_with_its_parameters() -> None:
    found = contracts(
        """
        class Fixed(torch.distributions.Categorical):
            def best(self):
                return self.probs.argmax(-1)


        class Discrete(nn.Module):
            def __init__(self, width, actions):
                super().__init__()
                self.linear = nn.Linear(width, actions)

            def forward(self, x):
                return Fixed(logits=self.linear(x))


        class Continuous(nn.Module):
            def __init__(self, width, actions):
                super().__init__()
                self.mean = nn.Linear(width, actions)
                self.logstd = nn.Parameter(torch.zeros(actions))

            def forward(self, x):
                return torch.distributions.Normal(self.mean(x), self.logstd.exp())
        """
    )
    assert found["Discrete"].signature() == "forward(x: [..., width]) -> Fixed(logits=[..., actions])"
    assert found["Continuous"].signature() == "forward(x: [..., width]) -> Normal(mean=[..., actions])"


def test_an_attribute_that_the_defaults_leave_out_is_not_looked_at() -> None:
    one = contracts(
        """
        class Marks(nn.Module):
            def __init__(self, width, freq="h"):
                super().__init__()
                if freq == "t":
                    self.minute = nn.Embedding(60, width)
                self.hour = nn.Embedding(24, width)

            def forward(self, x):
                x = x.long()
                minute = self.minute(x[:, :, 1]) if hasattr(self, "minute") else 0.0
                return self.hour(x[:, :, 0]) + minute
        """
    )["Marks"]
    assert one.signature() == "forward(x: [N, C, H, ...]) -> [N, C, ..., width]"


def test_a_caller_may_be_wrong_about_a_dtype() -> None:
    one = contracts(
        """
        class Encoder(nn.Module):
            def __init__(self, length, width):
                super().__init__()
                self.conv = nn.Conv1d(1, width, length, stride=length // 2, bias=False)

            def forward(self, mixture):
                return torch.relu(self.conv(torch.unsqueeze(mixture, 1)))


        if __name__ == "__main__":
            encoder = Encoder(4, 3)
            encoder.conv.weight.data = torch.randint(2, encoder.conv.weight.size())
            mixture_w = encoder(torch.randint(3, (2, 12)))
        """
    )["Encoder"]
    assert one.signature() == "forward(mixture: [N, C]) -> [N, width, (C - length)//(length//2) + 1]"


def test_sizes_are_also_those_that_are_passed_on() -> None:
    one = contracts(
        """
        class Block(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.norm = nn.LayerNorm(dim)

            def forward(self, x, x_size):
                H, W = x_size
                B, L, C = x.shape
                return self.norm(x).view(B, H, W, C)


        class Stage(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.block = Block(dim)

            def forward(self, x, x_size):
                return self.block(x, x_size)
        """
    )["Stage"]
    assert one.signature() == (
        "forward(x: [B, x_size[0]*x_size[1], dim], x_size[0], x_size[1]) -> [B, x_size[0], x_size[1], dim]"
    )


def test_how_many_stages_there_are_may_be_computed_from_a_number() -> None:
    one = contracts(
        """
        import math


        class Pyramid(nn.Module):
            def __init__(self, resolution, width, outputs):
                super().__init__()
                self.stages = nn.ModuleList()
                for _ in range(int(math.log2(resolution)) - 3):
                    self.stages.append(nn.Conv2d(width, width, 3, stride=2, padding=1))
                self.head = nn.Conv2d(width, outputs, 1)

            def forward(self, x):
                for stage in self.stages:
                    x = stage(x)
                return self.head(x)
        """
    )["Pyramid"]
    assert one.signature() == "forward(x: [N, width, H, W]) -> [N, outputs, (H + 3)//4, (W + 3)//4]"


def test_dictionaries_of_tensors_are_told_by_their_keys() -> None:
    one = contracts(
        """
        class Loss(nn.Module):
            def __init__(self, classes):
                super().__init__()
                self.classes = classes

            def boxes(self, outputs, targets):
                return F.l1_loss(outputs["pred_boxes"], targets["boxes"])

            def forward(self, outputs, targets):
                logits = outputs["pred_logits"].view(-1, self.classes)
                return {"classes": logits.log_softmax(-1), "boxes": self.boxes(outputs, targets)}
        """
    )["Loss"]
    assert [given.name for given in one.inputs] == [
        "outputs['pred_logits']",
        "outputs['pred_boxes']",
        "targets['boxes']",
    ]
    assert one.ranked and [part.sizes for part in one.result.parts] == [("(N*C)//classes", "classes"), ()]


def test_objects_with_tensors_are_told_by_what_is_read_of_them() -> None:
    one = contracts(
        """
        class Graph(nn.Module):
            def __init__(self, i, o):
                super().__init__()
                self.linear = nn.Linear(i, o)

            def forward(self, data):
                h = self.linear(data.x)
                return torch.zeros_like(h).index_add(0, data.edge_index[0], h[data.edge_index[1]])
        """
    )["Graph"]
    assert one.signature() == "forward(data.x: [N, i], data.edge_index: [N', C]) -> [N, o]"
    assert one.conditions == ("N' >= 2",)


def test_objects_of_a_class_are_made_by_it() -> None:
    one = contracts(
        """
        from typing import Optional


        class Padded(object):
            def __init__(self, tensors, mask: Optional[torch.Tensor]):
                self.tensors = tensors
                self.mask = mask

            def parts(self):
                return self.tensors, self.mask


        class Positions(nn.Module):
            def forward(self, given: Padded):
                x, mask = given.parts()
                return x.flatten(2) * (~mask).flatten(1).unsqueeze(1)
        """
    )["Positions"]
    assert one.inputs[0].name == "given.tensors" and one.inputs[1].name == "given.mask"
    assert one.ranked


def test_a_tensor_that_is_asked_for_what_tensors_have_is_none_with_parts() -> None:
    one = contracts(
        """
        class Scaled(nn.Module):
            def forward(self, x, y):
                z = x * x.new_ones(x.shape[-1])
                return z.flatten(1) if x.is_cuda else z.flatten(1) + y.grad_scale * y.T.sum()
        """
    )["Scaled"]
    assert [given.name for given in one.inputs] == ["x", "y"]


def test_sizes_that_layers_of_any_kernel_give_are_told_apart() -> None:
    found = contracts("""
    class Separable(nn.Module):
        def __init__(self, i, o, kernel_size, padding, stride):
            super().__init__()
            self.net = nn.Sequential(nn.Conv2d(i, o, kernel_size, stride, padding), nn.BatchNorm2d(o))

        def forward(self, x):
            return self.net(x)


    class Same(nn.Module):
        def __init__(self, i, o, kernel_size=1):
            super().__init__()
            self.conv = nn.Conv2d(i, o, kernel_size, padding=(kernel_size - 1) // 2)
            self.norm = nn.BatchNorm2d(o)

        def forward(self, x):
            return self.norm(self.conv(x))
    """)
    assert found["Separable"].result.describe() == (
        "[N, o, (2*padding + H - kernel_size)//stride + 1, (2*padding + W - kernel_size)//stride + 1]"
    )
    assert found["Same"].result.describe() == (
        "[N, o, 2*((kernel_size - 1)//2) + H + 1 - kernel_size, 2*((kernel_size - 1)//2) + W + 1 - kernel_size]"
    )


def test_integers_may_be_those_that_the_code_compares_them_with() -> None:
    (found,) = contracts("""
    class Pyramid(nn.Module):
        def __init__(self, output_stride):
            super().__init__()
            if output_stride == 16:
                rate = 6
            elif output_stride == 8:
                rate = 12
            else:
                raise NotImplementedError
            self.conv = nn.Conv2d(3, 8, 3, padding=rate, dilation=rate)

        def forward(self, x):
            return self.conv(x)
    """).values()
    assert signature(found) == "class Pyramid(output_stride=16): forward(x: [N, 3, H, W]) -> [N, 8, H, W]"


def test_what_makes_the_maker_of_a_module_tells_what_that_passes_on(tmp_path: Path) -> None:
    head = """
    class Head(nn.Module):
        def __init__(self, planes, stride, norm_class=None):
            super().__init__()
            if stride not in (8, 16):
                raise NotImplementedError
            self.conv, self.norm = nn.Conv2d(3, planes, 3), norm_class(planes)

        def forward(self, x):
            return self.norm(self.conv(x))


    def build_head(planes, stride, norm_class):
        return Head(planes, stride, norm_class)
    """
    net = """
    from head import build_head


    class Net(nn.Module):
        def __init__(self, planes, stride=16, synchronized=True):
            super().__init__()
            if synchronized:
                norm_class = nn.SyncBatchNorm
            else:
                norm_class = nn.BatchNorm2d
            self.head = build_head(planes, stride, norm_class)
    """
    text = HEAD + textwrap.dedent(head)
    path = tmp_path / "head.py"
    path.write_text(text)
    (alone,) = engine().contracts(str(path), text, roots=(str(tmp_path),)).contracts[:1]
    assert not alone.ranked
    for name in "abcd":
        # What only passes the name on says nothing.
        (tmp_path / f"{name}.py").write_text("from head import Head, build_head\n")
    (tmp_path / "net.py").write_text(HEAD + textwrap.dedent(net))
    text += "\n"
    (told,) = engine().contracts(str(path), text, roots=(str(tmp_path),)).contracts[:1]
    assert told.signature() == "forward(x: [N, 3, H, W]) -> [N, planes, H - 2, W - 2]"
    assert [one.maker for one in told.settings if one.name == "norm_class"] == ["Net"]


def test_fields_may_be_items_of_a_configuration() -> None:
    found = contracts("""
    class Attention(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.heads = config.transformer["num_heads"]
            self.size = int(config.hidden_size / self.heads)
            self.query = nn.Linear(config.hidden_size, self.heads * self.size)
            self.drop = nn.Dropout(config.transformer["dropout_rate"])

        def forward(self, x):
            query = self.query(x)
            return self.drop(query.view(*query.size()[:-1], self.heads, self.size).permute(0, 2, 1, 3))


    class Head(nn.Module):
        def __init__(self, options):
            super().__init__()
            self.linear = nn.Linear(options["width"], options["classes"])

        def forward(self, x):
            return self.linear(x)
    """)
    assert signature(found["Attention"]) == (
        "class Attention(config.hidden_size, config.transformer['num_heads']): forward(x: [N, L, config.hidden_size]) -> "
        "[N, config.transformer['num_heads'], L, config.hidden_size//config.transformer['num_heads']]"
    )
    assert signature(found["Head"]) == (
        "class Head(options['classes'], options['width']): forward(x: [..., options['width']]) -> [..., options['classes']]"
    )


def test_a_whole_number_of_a_quotient_is_a_size() -> None:
    found = contracts(
        """
    class Split(nn.Module):
        def __init__(self, dim, ratio=0.5):
            super().__init__()
            self.first, self.rest = int(dim * ratio), dim - int(dim * ratio)

        def forward(self, x):
            a, b = torch.split(x, (self.first, self.rest), dim=1)
            return a, b


    class Halved(nn.Module):
        def forward(self, x):
            B, C, H, W = x.shape
            return x[:, : math.floor(C / 4)], x.new_zeros(B, math.ceil(C / 2))
    """.replace("class Split", "import math\n\n    class Split")
    )
    assert found["Split"].result.describe() == "([N, dim//2, ...], [N, dim - dim//2, ...])"
    told = found["Halved"].result
    assert told.parts[0].describe() == "[B, C//4, H, W]"
    assert told.parts[1].describe() == "[B, (C + 1)//2]"


def test_a_float_that_is_one_of_two_is_no_ratio() -> None:
    (found,) = contracts("""
    class Shrinking(nn.Module):
        def forward(self, x):
            size = x.shape[1]
            part = size / 2 if x.sum() > 0 else size / 4
            return x.new_zeros(x.shape[0], int(part))
    """).values()
    assert found.result.describe() == "[N, ?]"


def test_windows_of_pooling_may_be_any_size() -> None:
    found = contracts("""
    class Pooled(nn.Module):
        def __init__(self, kernel_size, stride):
            super().__init__()
            self.pool = nn.MaxPool2d(kernel_size, stride)

        def forward(self, x):
            return self.pool(x)


    class Whole(nn.Module):
        def forward(self, x):
            return F.avg_pool2d(x, kernel_size=x.size()[2:]).flatten(1)


    class Resized(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.pool = nn.AdaptiveAvgPool2d((size, None))

        def forward(self, x):
            return self.pool(x)
    """)
    assert found["Pooled"].result.describe() == ("[N, C, (H - kernel_size)//stride + 1, (W - kernel_size)//stride + 1]")
    assert set(found["Pooled"].conditions) == {"H >= kernel_size", "W >= kernel_size"}
    assert found["Whole"].result.describe() == "[N, C]"
    assert found["Resized"].result.describe() == "[N, C, size, W]"


def test_a_class_that_only_a_method_calls_is_the_one_that_the_code_passes() -> None:
    found = contracts(
        """
        class Plain(nn.Module):
            growth = 2

            def __init__(self, i, o, norm=None):
                super().__init__()
                norm = norm or nn.BatchNorm2d
                self.conv = nn.Conv2d(i, o * self.growth, 3, padding=1)
                self.norm = norm(o * self.growth)

            def forward(self, x):
                return self.norm(self.conv(x))

        class Net(nn.Module):
            def __init__(self, block, layers, classes=10, norm=None):
                super().__init__()
                if norm is None:
                    norm = nn.BatchNorm2d
                self.width = 3
                self.norm = norm(3)
                self.stages = nn.Sequential(*[self.stage(block, 8 * 2**i, n, norm) for i, n in enumerate(layers)])
                self.head = nn.Linear(self.width, classes)

            def stage(self, block, width, count, norm):
                made = []
                for _ in range(count):
                    made.append(block(self.width, width, norm))
                    self.width = width * block.growth
                return nn.Sequential(*made)

            def forward(self, x):
                return self.head(self.stages(self.norm(x)).mean((2, 3)))

        def build(block, layers, **kwargs):
            return Net(block, layers, **kwargs)

        def small(**kwargs):
            return build(Plain, [1, 2], **kwargs)
        """
    )
    assert found["Net"].heading() == "class Net(layers[0], layers[1], classes=10, block=Plain)"
    assert found["Net"].signature() == "forward(x: [N, 3, H, W]) -> [N, classes]"


def test_modules_that_a_container_gets_by_its_items_are_called() -> None:
    found = contracts(
        """
        class Dense(nn.ModuleDict):
            def __init__(self, count: int, i: int, growth: int):
                super().__init__()
                for k in range(count):
                    self[f"layer{k}"] = nn.Conv2d(i + k * growth, growth, 3, padding=1)

            def forward(self, x):
                features = [x]
                for name in self:
                    features.append(self[name](torch.cat(features, 1)))
                return torch.cat(features, 1)
        """
    )
    assert found["Dense"].signature() == "forward(x: [N, i, H, W]) -> [N, i + 2*growth, H, W]"


SEVERAL_NUMBERS = """
from typing import List, Tuple


class Block(nn.Module):
    def __init__(self, dim_in: int, dim_out: int, kernel: int, stride: int):
        super().__init__()
        self.conv = nn.Conv3d(dim_in, dim_out, [kernel, 1, 1], stride=[1, stride, stride], padding=[kernel // 2, 0, 0])
        self.conv.is_last = True

    def forward(self, x):
        return self.conv(x)


class Windowed(nn.Module):
    def __init__(self, dim: int, window_size: Tuple[int, int], num_heads: int):
        super().__init__()
        self.heads = num_heads
        self.qkv = nn.Linear(dim, 3 * dim)
        area = window_size[0] * window_size[1]
        self.bias = nn.Parameter(torch.zeros(num_heads, area, area))

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) + self.bias
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, N, C)


class Image(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.proj = nn.Linear(dim, 2 * dim)

    def forward(self, x, feat_size: List[int]):
        B, N, C = x.shape
        H, W = feat_size
        return self.proj(x).reshape(B, H, W, 2 * C)
"""


def test_layers_and_inputs_take_several_numbers() -> None:
    found = contracts(SEVERAL_NUMBERS)
    frames = "2*(kernel//2) + D + 1 - kernel"
    assert found["Block"].signature() == (
        f"forward(x: [N, dim_in, D, H, W]) -> [N, dim_out, {frames}, (H - 1)//stride + 1, (W - 1)//stride + 1]"
    )
    area = "[B, window_size[0]*window_size[1], dim]"
    assert found["Windowed"].signature() == f"forward(x: {area}) -> {area}"
    assert found["Image"].signature() == (
        "forward(x: [B, feat_size[0]*feat_size[1], dim], feat_size[0], feat_size[1]) -> "
        "[B, feat_size[0], feat_size[1], 2*dim]"
    )


MADE_OF_OBJECTS = """
from collections.abc import Sequence


class Stage:
    def __init__(self, width: int, depth: int):
        self.width, self.depth = width, depth


class Net(nn.Module):
    def __init__(self, stages: Sequence[Stage], classes: int = 10):
        super().__init__()
        if not stages:
            raise ValueError("no stages")
        layers, before = [], 3
        for stage in stages:
            layers += [nn.Conv2d(before, stage.width, 3, padding=1) for _ in range(1)]
            before = stage.width
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


def _net(stages, **kwargs):
    return Net(stages, **kwargs)


def net_small(**kwargs):
    return _net([Stage(8, 1), Stage(16, 2)], **kwargs)


class Twice(nn.Conv2d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def forward(self, x):
        return 2 * super().forward(x)


def twice(planes):
    return Twice(planes, 2 * planes, 3, padding=1)
"""


def test_what_a_constructor_goes_through_is_what_the_code_passes() -> None:
    found = contracts(MADE_OF_OBJECTS)
    assert found["Net"].signature() == "forward(x: [N, 3, H, W]) -> [N, 10]"
    assert "args[1]=2 * planes" in found["Twice"].heading()


LISTS_OF_INPUTS = """
Tens = torch.Tensor


class Head(nn.Module):
    def __init__(self, c, n):
        super().__init__()
        self.box = nn.Conv2d(c, n * 4, 3, padding=1)

    def forward(self, x):
        out = []
        for features in x:
            N, _, H, W = features.shape
            out.append(self.box(features).view(N, -1, 4, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, 4))
        return torch.cat(out, dim=1)


class Policy(nn.Module):
    def __init__(self, states: int, actions: int):
        super().__init__()
        self.net = nn.Linear(states, actions)

    def forward(self, state: Tens) -> Tens:
        return self.net(state)
"""


def test_tensors_are_known_by_what_is_done_with_them_and_by_names_of_their_type() -> None:
    found = contracts(LISTS_OF_INPUTS)
    assert found["Head"].signature() == ("forward(x[0]: [N, c, H, W], x[1]: [N, c, H', W']) -> [N, n*H*W + n*H'*W', 4]")
    assert found["Policy"].signature() == "forward(state: [..., states]) -> [..., actions]"


WITHOUT_PACKAGES = """
try:
    from a_package_that_is_not_there.normalization import FusedLayerNorm

    fused = True
except ImportError:
    fused = False

try:
    from a_package_that_is_not_there import Norm
except ImportError:
    pass


class Fused(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = FusedLayerNorm(dim) if fused else nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(x)


class Without(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = Norm(dim)

    def forward(self, x):
        return self.norm(x)
"""


def test_what_the_code_has_instead_of_a_package_that_is_not_there_is_known() -> None:
    found = contracts(WITHOUT_PACKAGES)
    assert found["Fused"].signature() == "forward(x: [..., dim]) -> [..., dim]"
    assert not found["Without"].ranked


OPTIONS_OF_FUNCTIONS = """
def noisy(x, p: float, mode: str):
    if mode not in ("batch", "row"):
        raise ValueError(mode)
    size = [x.shape[0]] + [1] * (x.ndim - 1) if mode == "row" else [1] * x.ndim
    return x * torch.empty(size).bernoulli_(p)


class Noise(nn.Module):
    def __init__(self, p: float, mode: str):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, x):
        return noisy(x, self.p, self.mode)
"""


def test_an_option_is_one_of_those_that_a_function_compares_it_with() -> None:
    assert contracts(OPTIONS_OF_FUNCTIONS)["Noise"].signature() == "forward(x: [...]) -> [...]"


def test_numbers_are_chosen_for_what_decides_the_kernel() -> None:
    found = contracts("""
    class Encoder(nn.Module):
        def __init__(self, i: int, o: int, stride: int):
            super().__init__()
            kernel = 3 if stride == 1 else 2 * stride
            self.conv = nn.Conv1d(i, o, kernel, stride, padding=(kernel - 1) // 2)

        def forward(self, x):
            return self.conv(x)
    """)
    assert found["Encoder"].heading() == "class Encoder(i, o, stride=1)"
    assert found["Encoder"].signature() == "forward(x: [N, i, L]) -> [N, o, L]"


def test_what_a_forward_calls_is_no_tensor() -> None:
    found = contracts("""
    class Criterion(nn.Module):
        def forward(self, model, batch):
            return F.cross_entropy(model(batch), torch.zeros(4, dtype=torch.long))


    class Guided(nn.Module):
        def forward(self, graph, x):
            return x * graph.number_of_nodes()
    """)
    assert all("model:" not in one.signature() and "graph:" not in one.signature() for one in found.values())
    assert not found["Criterion"].ranked


def test_a_contract_takes_the_same_work_whatever_is_remembered() -> None:
    def found() -> tuple[int, tuple[Contract, ...]]:
        answer = Engine(oracle, times=PATIENT).contracts("model.py", HEAD + textwrap.dedent(UNET))
        return answer.stats["work"], answer.contracts

    oracle = Oracle()
    assert found() == found()


def test_a_contract_ends_by_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchsleuth.interp.contracts.WORK", 50_000)
    found = {one.owner: one for one in engine().contracts("model.py", HEAD + textwrap.dedent(UNET)).contracts}
    assert "open: it takes too long to try every size" in sentences(found["UNet"])


def test_what_only_keeps_books_is_not_followed(tmp_path: Path) -> None:
    package = tmp_path / "transformers"
    (package / "models").mkdir(parents=True)
    for folder in (package, package / "models"):
        (folder / "__init__.py").write_text("")
    base = """
    from .hub import kernels

    class PreTrainedModel(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            config.implementation = self._check_and_adjust_attn_implementation(config)

        def _check_and_adjust_attn_implementation(self, config):
            return kernels.best(config)

        def post_init(self):
            for name, module in kernels.walk(self):
                setattr(self, name, module)
    """
    (package / "modeling_utils.py").write_text(HEAD + textwrap.dedent(base))
    model = """
    from ..modeling_utils import PreTrainedModel

    class Model(PreTrainedModel):
        def __init__(self, config):
            super().__init__(config)
            self.layer = nn.Linear(config.hidden_size, config.vocab_size)
            self.post_init()

        def forward(self, x: torch.Tensor):
            kept = self.layer(x)
            return kept if self.config.implementation == "eager" else None
    """
    path = package / "models" / "modeling_tiny.py"
    (found,) = engine().contracts(str(path), HEAD + textwrap.dedent(model), roots=(str(tmp_path),)).contracts
    assert found.signature() == "forward(x: [..., config.hidden_size]) -> [..., config.vocab_size]"


def test_what_may_be_none_and_what_is_none_by_default() -> None:
    found = contracts("""
    class Cache:
        def update(self, keys):
            self.keys = torch.cat([self.keys, keys], dim=1)
            return self.keys

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.qkv = nn.Linear(dim, 3 * dim)

        def forward(self, x: torch.Tensor, mask: torch.Tensor | None, cache: Cache | None = None):
            B, T, C = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            if cache is not None:
                k = cache.update(k)
            scores = q @ k.transpose(1, 2)
            if mask is not None:
                scores = scores.masked_fill(mask, 0.0)
            return scores.softmax(-1) @ v
    """)
    assert found["Attention"].signature() == "forward(x: [B, T, dim], mask=None) -> [B, T, dim]"
    assert sentences(found["Attention"]) == ("for mask = None",)


def test_a_forward_that_the_constructor_chooses() -> None:
    found = contracts("""
    class Partial(nn.Module):
        def __init__(self, dim: int, kept: int, form="split"):
            super().__init__()
            self.dim, self.kept = dim, kept
            self.conv = nn.Conv2d(kept, kept, 3, padding=1)
            self.forward = self.forward_split if form == "split" else self.forward_plain

        def forward_plain(self, x):
            return x

        def forward_split(self, x):
            first, rest = torch.split(x, [self.kept, self.dim - self.kept], dim=1)
            return torch.cat((self.conv(first), rest), 1)

    class Block(nn.Module):
        def __init__(self, dim: int, kept: int):
            super().__init__()
            self.mix = Partial(dim, kept)

        def forward(self, x):
            return self.mix(x)
    """)
    assert signature(found["Block"]).endswith("forward(x: [N, dim, H, W]) -> [N, dim, H, W]")


def test_what_other_code_passes_is_taken_where_nothing_else_tells_it_and_sizes_stay_free() -> None:
    found = contracts("""
    class Block(nn.Module):
        def __init__(self, inplanes: int, planes: int, builder, downsample=None):
            super().__init__()
            self.conv = nn.Sequential(builder(inplanes, planes), nn.BatchNorm2d(planes))
            self.downsample = downsample

        def forward(self, x):
            out = self.conv(x)
            return out if self.downsample is None else out + self.downsample(x)

    class Conv(nn.Conv2d):
        def __init__(self, i: int, o: int):
            super().__init__(i, o, 3, padding=1)

    class Stack(nn.Module):
        def __init__(self, widths: dict):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, widths["stem"], 1), nn.Conv2d(widths["stem"], widths["last"][0], 1))

        def forward(self, x):
            return self.body(x)

    WIDTHS = {"small": dict(stem=8, last=[16, 32])}

    def network(name):
        return nn.Sequential(Block(64, 64, Conv), Stack(WIDTHS[name]))

    def small():
        return network("small")
    """)
    assert signature(found["Block"]) == (
        "class Block(inplanes, planes, builder=Conv): forward(x: [N, inplanes, H, W]) -> [N, planes, H, W]"
    )
    assert signature(found["Stack"]).endswith("forward(x: [N, 3, H, W]) -> [N, 16, H, W]")


def test_halves_of_a_size_that_is_computed() -> None:
    found = contracts("""
    class Turned(nn.Module):
        def __init__(self, dim: int, heads: int):
            super().__init__()
            self.to_head = nn.Linear(dim, dim // heads)

        def forward(self, x: torch.Tensor):
            batch, length, _ = x.shape
            y = self.to_head(x)
            first, second = y.chunk(2, dim=-1)
            return torch.cat((-second, first), dim=-1) + y

    class Gated(nn.Module):
        def __init__(self, dim: int, hidden: int):
            super().__init__()
            self.into = nn.Linear(dim, hidden)

        def forward(self, x):
            a, b = self.into(x).chunk(2, dim=-1)
            return a * b
    """)
    assert signature(found["Turned"]).endswith("forward(x: [batch, length, dim]) -> [batch, length, dim//heads]")
    assert signature(found["Gated"]).endswith("-> [..., hidden//2]")
    assert found["Gated"].conditions == ("hidden % 2 == 0",)


def test_inputs_that_are_none_by_default_and_needed_all_the_same() -> None:
    found = contracts("""
    def turn(x):
        first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
        return torch.cat((-second, first), dim=-1)

    class Attention(nn.Module):
        def __init__(self, dim: int, heads: int):
            super().__init__()
            self.size = dim // heads
            self.into = nn.Linear(dim, heads * self.size)

        def forward(self, x: torch.Tensor, positions: tuple[torch.Tensor, torch.Tensor] | None = None, mask: torch.Tensor | None = None):
            y = self.into(x).view(*x.shape[:-1], -1, self.size).transpose(1, 2)
            cos, sin = positions
            y = y * cos.unsqueeze(1) + turn(y) * sin.unsqueeze(1)
            return y if mask is None else y + mask

    class Layer(nn.Module):
        def __init__(self, dim: int, heads: int):
            super().__init__()
            self.attention = Attention(dim, heads)

        def forward(self, x: torch.Tensor, positions: tuple[torch.Tensor, torch.Tensor] | None = None):
            return self.attention(x, positions=positions)

    class Cross(nn.Module):
        def __init__(self, dim: int):
            super().__init__()
            self.into = nn.Linear(dim, dim)

        def forward(self, x: torch.Tensor, other: torch.Tensor | None = None, cache=None):
            if cache is not None:
                keys = cache.keys
            else:
                keys = self.into(other).view(*other.shape[:-1], -1)
            return self.into(x) @ keys.transpose(1, 2)
    """)
    for name in ("Attention", "Layer"):
        assert [one.name for one in found[name].inputs] == ["x", "positions[0]", "positions[1]"]
        assert found[name].sized
    assert signature(found["Cross"]).endswith("forward(x: [N, L, dim], other: [N, L', dim]) -> [N, L, L']")


def test_a_configuration_is_the_record_whose_fields_and_properties_are_read() -> None:
    found = contracts("""
    from dataclasses import dataclass

    @dataclass
    class Config:
        width: int = 64
        heads: int = 4

        @property
        def form(self):
            return "plain"

    class Head(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.into = nn.Linear(config.width, config.width // config.heads)
            self.form = config.form

        def forward(self, x: torch.Tensor):
            return self.into(x) if self.form == "plain" else x.sum()
    """)
    assert signature(found["Head"]).endswith("forward(x: [..., config.width]) -> [..., config.width//config.heads]")


def test_a_tensor_that_is_written_to_keeps_its_shape_whatever_is_written() -> None:
    found = contracts("""
    class Drop(nn.Module):
        def __init__(self, rates):
            super().__init__()
            self.rate = rates[0]

        def forward(self, x: torch.Tensor):
            b, c, h, w = x.shape
            return x * x.new_empty((b, 1, 1, 1)).bernoulli_(1 - self.rate)
    """)
    assert signature(found["Drop"]).endswith("forward(x: [b, c, h, w]) -> [b, c, h, w]")


def test_what_a_parent_asks_for_behind_keyword_arguments() -> None:
    found = contracts("""
    class Head(nn.Module):
        def __init__(self, in_channels, channels, *, classes, norm_layer=None, dropout=0.1):
            super().__init__()
            self.conv = nn.Conv2d(in_channels, channels, 1)
            self.norm = norm_layer(channels) if norm_layer else nn.Identity()
            self.out = nn.Conv2d(channels, classes, 1)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            return self.out(self.dropout(self.conv(x)))

    class Pooled(Head):
        def __init__(self, pool, **kwargs):
            super().__init__(**kwargs)
            self.pool = nn.AdaptiveAvgPool2d(pool)

        def forward(self, x):
            return self.pool(super().forward(x))

    class Fixed(Pooled):
        def __init__(self, **kwargs):
            super(Fixed, self).__init__(pool=1, **kwargs)

        def forward(self, x):
            return super().forward(x).flatten(1)
    """)
    assert signature(found["Pooled"]) == (
        "class Pooled(pool, in_channels, channels, classes): forward(x: [N, in_channels, H, W]) -> [N, classes, pool, pool]"
    )
    assert signature(found["Fixed"]) == (
        "class Fixed(in_channels, channels, classes): forward(x: [N, in_channels, H, W]) -> [N, classes]"
    )


def test_what_is_passed_on_has_the_default_of_what_gets_it() -> None:
    found = contracts("""
    class Block(nn.Module):
        def __init__(self, i, o, norm_layer=nn.BatchNorm2d, act_cfg=None, stride=1):
            super().__init__()
            self.conv = nn.Conv2d(i, o, 3, stride, padding=1)
            self.norm = norm_layer(o)
            self.act = nn.ReLU() if act_cfg is None else make(act_cfg)

        def forward(self, x):
            return self.act(self.norm(self.conv(x)))

    class Stage(nn.Module):
        def __init__(self, i, o, stride, norm_layer, act_cfg):
            super().__init__()
            self.act_cfg = act_cfg
            self.first = Block(i, o, norm_layer=norm_layer, act_cfg=act_cfg, stride=stride)
            self.second = self.make(o, norm_layer)

        def make(self, o, layer):
            return Block(o, o, layer, act_cfg=self.act_cfg)

        def forward(self, x):
            return self.second(self.first(x))
    """)
    assert signature(found["Stage"]) == (
        "class Stage(i, o, stride, norm_layer=nn.BatchNorm2d, act_cfg=None): "
        "forward(x: [N, i, H, W]) -> [N, o, (H - 1)//stride + 1, (W - 1)//stride + 1]"
    )


def test_what_a_layer_keeps_that_is_made_with_symbols() -> None:
    found = contracts("""
    class Standardised(nn.Conv2d):
        def __init__(self, inside, out, kernel, stride=1):
            super().__init__(inside, out, kernel, stride=stride, padding=1, bias=False)

        def forward(self, x):
            weight = F.batch_norm(self.weight.reshape(1, self.out_channels, -1), None, None, training=True)
            weight = weight.reshape_as(self.weight)
            return F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    class Block(nn.Module):
        def __init__(self, a, b):
            super().__init__()
            self.conv = Standardised(a, b, 3)

        def forward(self, x):
            return self.conv(x)
    """)
    assert signature(found["Block"]) == "class Block(a, b): forward(x: [N, a, H, W]) -> [N, b, H, W]"
    assert signature(found["Standardised"]) == (
        "class Standardised(inside, out, kernel, stride=1): forward(x: [N, inside, H, W]) -> "
        "[N, out, (H + 2 - kernel)//stride + 1, (W + 2 - kernel)//stride + 1]"
    )


def test_images_that_are_large_enough_for_what_looks_at_them_last() -> None:
    found = contracts("""
    class Late(nn.Module):
        def __init__(self, classes):
            super().__init__()
            steps = [nn.Conv3d(8 if step else 3, 8, 3, stride=(1, 2, 2), padding=1) for step in range(5)]
            self.body = nn.Sequential(*steps)
            self.pool = nn.AvgPool3d((2, 7, 7), stride=1)
            self.out = nn.Conv3d(8, classes, 1)

        def forward(self, x):
            return self.out(self.pool(self.body(x))).mean(dim=(2, 3, 4))
    """)
    assert signature(found["Late"]) == "class Late(classes): forward(x: [N, 3, D, H, W]) -> [N, classes]"
    assert found["Late"].conditions == ("D >= 2", "H >= 193", "W >= 193")


def test_an_input_that_fits_in_more_ranks_than_it_is_for() -> None:
    found = contracts("""
    class Block(nn.Module):
        def __init__(self, channels, emb_channels):
            super().__init__()
            self.into = nn.Conv2d(channels, channels, 3, padding=1)
            self.embedding = nn.Linear(emb_channels, channels)

        def forward(self, x, emb):
            shift = self.embedding(emb)
            while len(shift.shape) < len(x.shape):
                shift = shift[..., None]
            return x + self.into(self.into(x) + shift)
    """)
    assert signature(found["Block"]) == (
        "class Block(channels, emb_channels): "
        "forward(x: [N, channels, H, W], emb: [N, emb_channels]) -> [N, channels, H, W]"
    )


def test_the_length_that_pooling_leaves_of_a_sequence() -> None:
    found = contracts("""
    class Distilled(nn.Module):
        def __init__(self, c_in):
            super().__init__()
            self.conv = nn.Conv1d(c_in, c_in, kernel_size=3, padding=2, padding_mode="circular")
            self.pool = nn.MaxPool1d(kernel_size=3, stride=2, padding=1)

        def forward(self, x):
            return self.pool(self.conv(x.permute(0, 2, 1))).transpose(1, 2), F.max_pool1d(x, 2)
    """)
    assert signature(found["Distilled"]) == (
        "class Distilled(c_in): forward(x: [N, L, c_in]) -> ([N, (L + 3)//2, c_in], [N, L, c_in//2])"
    )


def test_a_part_of_a_package_that_something_else_imports(tmp_path: Path) -> None:
    inside = tmp_path / "kit" / "layers"
    inside.mkdir(parents=True)
    (tmp_path / "kit" / "__init__.py").write_text("")
    (inside / "__init__.py").write_text("")
    (inside / "dense.py").write_text("from torch import nn\n\n\nclass Dense(nn.Linear):\n    pass\n")
    text = HEAD + textwrap.dedent("""
    import kit

    class Model(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.dense = kit.layers.dense.Dense(i, o)

        def forward(self, x):
            return self.dense(x)
    """)
    path = tmp_path / "kit" / "model.py"
    path.write_text(text)
    (told,) = engine().contracts(str(path), text, roots=(str(tmp_path),)).contracts
    assert signature(told) == "class Model(i, o): forward(x: [..., i]) -> [..., o]"


def test_labels_that_only_an_operator_with_numbers_tells() -> None:
    found = contracts("""
    class Margin(nn.Module):
        def __init__(self, size, classes):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(size, classes))
            self.classes = classes
            self.loss = nn.CrossEntropyLoss()

        def forward(self, hidden, labels):
            labels = labels.flatten()
            cosine = torch.mm(F.normalize(hidden, dim=1), F.normalize(self.weight, dim=0))
            marked = F.one_hot(labels, self.classes)
            return self.loss(torch.where(marked.bool(), cosine - 0.4, cosine), labels)
    """)
    assert signature(found["Margin"]) == "class Margin(size, classes): forward(hidden: [N, size], labels: [N]) -> []"


def test_attention_whose_other_options_are_the_defaults() -> None:
    found = contracts("""
    class Attention(nn.Module):
        def __init__(self, nhead, d_model, dropout=0.0, bias=True, add_bias_kv=False, kdim=None, vdim=None):
            super().__init__()
            self.att = nn.MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, add_bias_kv=add_bias_kv, kdim=kdim, vdim=vdim
            )

        def forward(self, query, key, value):
            out, weights = self.att(query.permute(1, 0, 2), key.permute(1, 0, 2), value.permute(1, 0, 2))
            return out.permute(1, 0, 2), weights
    """)
    assert signature(found["Attention"]) == (
        "class Attention(nhead, d_model): forward(query: [N, L, d_model], key: [N, L', d_model], value: [N, L', d_model])"
        " -> ([N, L, d_model], [N, L, L'])"
    )


def test_declared_shapes_say_how_many_dimensions_there_are_and_what_they_are_called() -> None:
    found = contracts("""
    from jaxtyping import Float, Int
    from torch import Tensor

    class Embed(nn.Module):
        def __init__(self, vocab: int, d_model: int):
            super().__init__()
            self.W: Float[nn.Parameter, "vocab d_model"] = nn.Parameter(torch.randn(vocab, d_model))

        def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos d_model"]:
            return self.W[tokens]

    class Pooled(nn.Module):
        def __init__(self, dim, classes):
            super().__init__()
            self.fc = nn.Linear(dim, classes)

        def forward(self, x):  # x: (batch, seq, dim)
            return self.fc(x.mean(1))

    def project(x: Float[Tensor, "b t d"], w: Float[Tensor, "d e"]) -> Float[Tensor, "b t e"]:
        return x @ w

    def mix(a, b):
        '''
        Args:
            a: shape (B, 3, D)
            b: shape (B, D)
        '''
        return a + b[:, None]

    def wrong(x, w: Tensor):
        # x: (B, T, C, D)
        B, T, C = x.shape
        return x @ w.view(C, 5)
    """)
    assert {name: signature(one) for name, one in found.items() if name != "wrong"} == {
        "Embed": "class Embed(vocab, d_model): forward(tokens: [batch, pos]) -> [batch, pos, d_model]",
        "Pooled": "class Pooled(dim, classes): forward(x: [batch, seq, dim]) -> [batch, classes]",
        "project": "def project: project(x: [b, t, d], w: [d, e]) -> [b, t, e]",
        # A number in a comment may be an example.
        "mix": "def mix: mix(a: [B, L, D], b: [B, D]) -> [B, L, D]",
    }
    assert found["Embed"].inputs[0].value.dtype == "int64"
    assert found["wrong"].inputs[0].value.sizes == ("B", "T", "C")


def test_a_contract_says_for_which_switch_it_holds_where_the_text_has_another_one_too() -> None:
    text = """
    class Norm(nn.Module):
        def __init__(self, width, form="last", affine=True):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width), requires_grad=affine)
            self.form = form

        def forward(self, x):
            N, H, W, C = x.shape
            if self.form == "last":
                return x * self.weight
            return x * self.weight[:, None, None]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = Norm(3, {passed})

        def forward(self, x):
            return self.norm(x)
    """
    norm = contracts(text.replace("{passed}", "form='first'"))["Norm"]
    assert norm.varied and sentences(norm)[0] == "for form = 'last'"
    assert norm.heading() == "class Norm(width, form='last')"
    for alike in ("form='last'", "affine=False", ""):
        norm = contracts(text.replace("{passed}", alike))["Norm"]
        assert not norm.varied and norm.heading() == "class Norm(width)", alike


def test_a_product_that_a_layer_takes_is_found_for_several_batches() -> None:
    found = contracts("""
    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.first = nn.Linear(784, width)

        def forward(self, x):
            B, T, C = x.shape
            return self.first(x.flatten(1))
    """)["Net"]
    assert (found.signature(), found.conditions) == ("forward(x: [B, T, C]) -> [B, width]", ("T*C == 784",))
    assert found.examples
