"""Models that other packages define are built by these, and changed as the script changes them."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.check import PATH, PATIENT, check
from torchsleuth.oracle import names, published
from torchsleuth.worker.engine import Engine

PACKAGES = Path(__file__).parent.parent / "packages"


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in names.MODEL_PACKAGES]:
        del sys.modules[name]
    names._importing.clear()
    for remembered in (names.published, published._builder, published._torchvision_models):
        remembered.cache_clear()


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The packages of this test, in the place of those that may be installed."""
    _forget()
    monkeypatch.syspath_prepend(str(PACKAGES))
    monkeypatch.setattr("torchsleuth.wall.is_installed", lambda path: True)
    yield
    _forget()


HEAD = """
import torch
from torch import nn
from torchvision import models
"""


def shapes(text: str) -> dict[str, tuple[object, ...] | None]:
    """What is known of the variables that a script assigns."""
    found = Engine(times=PATIENT).analyze(PATH, HEAD + text)
    assert not found.diagnostics and not found.stats["internal_errors"], found
    return {fact.expression: fact.shape for fact in found.facts}


def test_a_model_is_built_and_called() -> None:
    known = shapes("model = models.small_net()\ny = model(torch.randn(4, 3, 32, 32))\nwidth = model.fc.in_features\n")
    assert known["y"] == (4, 1000)


def test_builders_are_chosen_by_name() -> None:
    known = shapes(
        "a = models.__dict__['small_net'](num_classes=4)(torch.randn(2, 3, 16, 16))\n"
        "b = getattr(models, 'small_net')(num_classes=5)(torch.randn(2, 3, 16, 16))\n"
    )
    assert (known["a"], known["b"]) == ((2, 4), (2, 5))


def test_a_builder_takes_the_class_of_a_layer() -> None:
    text = "a = models.small_net(norm_layer=nn.InstanceNorm2d)(torch.randn(2, 3, 16, 16))\n"
    assert shapes(text)["a"] == (2, 1000)
    own = "class Own(nn.Module):\n    pass\nb = models.small_net(norm_layer=Own)(torch.randn(2, 3, 16, 16))\n"
    assert shapes(own).get("b") is None, "what the script defines is not called"


def test_wrapped_models() -> None:
    known = shapes(
        "model = nn.DataParallel(models.small_net(num_classes=4))\n"
        "frozen = [p for n, p in model.module.named_parameters() if not n.startswith('fc')]\n"
        "y = model(torch.randn(2, 3, 16, 16))\n"
    )
    assert known["y"] == (2, 4)


def test_the_size_of_a_batch_may_be_unknown() -> None:
    known = shapes(
        "class Scores(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.model = models.small_net(num_classes=7)\n"
        "    def forward(self, images):\n"
        "        n, c, h, w = images.shape\n"
        "        logits = self.model(images)\n"
        "        return logits\n"
    )
    assert known["logits"] == ("n", 7)


def test_weights_are_named_and_never_loaded() -> None:
    known = shapes(
        "from torchvision.models import SmallNet_Weights, small_net\n"
        "a = small_net(weights=SmallNet_Weights.DEFAULT)(torch.randn(2, 3, 16, 16))\n"
    )
    assert known["a"] == (2, 1000)


def test_transforms_that_belong_to_weights() -> None:
    known = shapes(
        "from torchvision.datasets import ImageFolder\n"
        "prepare = models.SmallNet_Weights.DEFAULT.transforms()\n"
        "one = prepare(torch.randint(0, 255, (3, 40, 50), dtype=torch.uint8))\n"
        "data = ImageFolder('pictures', transform=prepare)\n"
        "for images, labels in torch.utils.data.DataLoader(data, batch_size=4, drop_last=True):\n"
        "    y = models.small_net(num_classes=3)(images)\n"
    )
    assert known["one"] == (3, 16, 16) and known["y"] == (4, 3)


def test_the_package_refuses_arguments() -> None:
    check("""
        import torch
        from torchvision import models
        model = models.small_net(weights=models.SmallNet_Weights.DEFAULT, num_classes=10)
        #       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS199: expected value 1000
        """)


def test_a_new_head_that_fits() -> None:
    known = shapes(
        "model = models.small_net()\n"
        "for p in model.parameters():\n"
        "    p.requires_grad = False\n"
        "model.fc = nn.Sequential(nn.Dropout(0.1), nn.Linear(model.fc.in_features, 5))\n"
        "y = model(torch.randn(4, 3, 32, 32))\n"
        "loss = nn.functional.cross_entropy(y, torch.zeros(4, dtype=torch.long))\n"
        "loss.backward()\n"
    )
    assert known["y"] == (4, 5)


def test_a_new_head_that_does_not_fit() -> None:
    check(
        """
        import torch
        from torch import nn
        from torchvision import models
        model = models.small_net()
        model.fc = nn.Linear(512, 10)
        y = model(torch.randn(4, 3, 32, 32))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS101: (4, 16): its last size 16 does not fit `fc` (Linear)
        """,
        """
        import torch
        from torch import nn
        from torchvision import models
        model = models.small_net()
        model.fc = nn.Linear(model.fc.in_features, 10)
        y = model(torch.randn(4, 3, 32, 32))
        """,
    )


def test_a_head_of_the_users_own() -> None:
    known = shapes(
        "class Head(nn.Module):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        "        self.out = nn.Linear(width, 3)\n"
        "    def forward(self, features):\n"
        "        return self.out(features).softmax(dim=1)\n"
        "model = models.small_net()\n"
        "model.fc = Head(16)\n"
        "y = model(torch.randn(4, 3, 32, 32))\n"
    )
    assert known["y"] == (4, 3) and known["features"] == (4, 16)


def test_a_stem_for_other_pictures() -> None:
    known = shapes(
        "model = models.small_net()\n"
        "model.stem = nn.Conv2d(1, 16, 5, padding=2)\n"
        "model.fc = nn.Identity()\n"
        "y = model(torch.randn(4, 1, 28, 28))\n"
    )
    assert known["y"] == (4, 16)


def test_an_input_that_a_part_refuses() -> None:
    check(
        """
        import torch
        from torchvision import models
        x = torch.randn(8, 1, 28, 28)
        y = models.small_net()(x)
        #   ^^^^^^^^^^^^^^^^^^^^^ TS102: `x` is (8, 1, 28, 28) with 1 channels, but `SmallNet.stem` (Conv2d)
        """,
        """
        import torch
        from torchvision import models
        x = torch.randn(8, 1, 28, 28)
        y = models.small_net()(x.expand(-1, 3, -1, -1))
        """,
    )


def test_an_input_that_the_model_refuses() -> None:
    check("""
        import torch
        from torchvision import models
        y = models.small_net()(torch.randn(8, 3, 4, 4))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS199: Expected at least 8 columns, got 4
        """)


def test_parts_are_modules_of_their_own() -> None:
    known = shapes(
        "model = models.small_net()\n"
        "a = model.layers(torch.randn(2, 16, 8, 8))\n"
        "b = model.layers[0].conv(torch.randn(2, 16, 8, 8))\n"
        "body = nn.Sequential(*list(model.children())[:-1])\n"
        "c = body(torch.randn(2, 3, 32, 32))\n"
        "d = model.forward_features(torch.randn(2, 3, 32, 32))\n"
        "w = model.scale\n"
    )
    assert (known["a"], known["b"]) == ((2, 16, 8, 8),) * 2
    assert known["c"] == (2, 16, 1, 1) and known["d"] == (2, 16, 16, 16) and known["w"] == (16, 1, 1)


def test_hooks_see_what_parts_return() -> None:
    known = shapes(
        "seen = {}\n"
        "def keep(module, inputs, output):\n"
        "    seen['block'] = output.detach()\n"
        "model = models.small_net()\n"
        "model.layers[1].register_forward_hook(keep)\n"
        "y = model(torch.randn(2, 3, 32, 32))\n"
        "block = seen['block']\n"
    )
    assert known["y"] == (2, 1000) and known["block"] == (2, 16, 16, 16)


def test_the_result_depends_on_the_mode() -> None:
    known = shapes(
        "model = models.two_heads(5)\n"
        "first, second = model(torch.randn(2, 3, 32, 32))\n"
        "model.eval()\n"
        "only = model(torch.randn(2, 3, 32, 32))\n"
    )
    assert known["first"] == known["second"] == known["only"] == (2, 5)


def test_the_part_of_a_result_that_is_meant() -> None:
    check(
        """
        import torch
        from torch import nn
        from torchvision import models
        y = torch.zeros(2, dtype=torch.long)
        out = models.two_heads(5)(torch.randn(2, 3, 32, 32))
        loss = nn.functional.cross_entropy(out, y)
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS199: must be Tensor, not tuple
        """,
        """
        import torch
        from torch import nn
        from torchvision import models
        y = torch.zeros(2, dtype=torch.long)
        out = models.two_heads(5)(torch.randn(2, 3, 32, 32)).logits
        loss = nn.functional.cross_entropy(out, y)
        """,
    )
    check(
        """
        import torch
        from torch import nn
        from torchvision import models
        y = torch.zeros(2, 32, 32, dtype=torch.long)
        loss = nn.functional.cross_entropy(models.segmenter()(torch.randn(2, 3, 32, 32)), y)
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS199: must be Tensor, not dict
        """,
        """
        import torch
        from torch import nn
        from torchvision import models
        y = torch.zeros(2, 32, 32, dtype=torch.long)
        loss = nn.functional.cross_entropy(models.segmenter()(torch.randn(2, 3, 32, 32))["out"], y)
        """,
    )


def test_models_by_name() -> None:
    known = shapes(
        "import timm\n"
        "encoder = timm.create_model('wide', pretrained=True, num_classes=0)\n"
        "f = encoder(torch.randn(2, 3, 32, 32))\n"
        "y = nn.Linear(encoder.num_features, 4)(f)\n"
    )
    assert known["f"] == (2, 48) and known["y"] == (2, 4)


def test_a_model_that_the_script_registers() -> None:
    check("""
        import timm
        import torch
        from timm.models import register_model
        from torch import nn
        @register_model
        def wide(pretrained=False):
            return nn.Linear(3, 4)
        print(timm.create_model("wide")(torch.randn(2, 3)))
        """)


def test_what_a_method_changes_is_not_known() -> None:
    known = shapes(
        "import timm\n"
        "model = timm.create_model('narrow')\n"
        "model.set_input_size(48)\n"
        "y = model(torch.randn(2, 3, 32, 32))\n"
        "z = y + torch.randn(2, 1000)\n"
    )
    assert known.get("y") is None


def test_a_new_classifier_is_known() -> None:
    known = shapes(
        "import timm\n"
        "model = timm.create_model('narrow')\n"
        "model.reset_classifier(4)\n"
        "y = model(torch.randn(2, 3, 32, 32))\n"
        "z = model.get_classifier()(torch.randn(2, model.get_classifier().in_features))\n"
    )
    assert known["y"] == (2, 4) and known["z"] == (2, 4)


def test_models_of_a_configuration() -> None:
    known = shapes(
        "from transformers import TinyConfig, TinyModel\n"
        "model = TinyModel(TinyConfig(hidden_size=64))\n"
        "out = model(torch.randint(0, 100, (2, 7)))\n"
        "a, b, c = out.last_hidden_state, out['pooler_output'], out[0]\n"
        "head = nn.Linear(model.config.hidden_size, 3)\n"
        "y = head(b)\n"
        "h = model.base(a)\n"
    )
    assert known["a"] == known["c"] == known["h"] == (2, 7, 64) and known["b"] == (2, 64) and known["y"] == (2, 3)


def test_labels_of_the_wrong_dtype_beside_tokens_of_any_length() -> None:
    check(
        """
        import torch
        from torch.utils.data import DataLoader
        from transformers import TinyConfig, TinyTagger


        def collate(rows):
            longest = max(len(row["tokens"]) for row in rows)
            tokens = torch.zeros(len(rows), longest, dtype=torch.long)
            labels = torch.tensor([[int(tag in row["tags"]) for tag in "abcdef"] for row in rows])
            return {"input_ids": tokens, "labels": labels}


        rows = [{"tokens": open(f"{i}.txt").read().split(), "tags": "ab"} for i in range(32)]
        model = TinyTagger(TinyConfig(hidden_size=64))
        for batch in DataLoader(rows, 4, shuffle=True, collate_fn=collate):
            print(model(**batch)["loss"])
        #         ^^^^^^^^^^^^^^ TS301: `labels` is int64, which TinyTagger does not take
        """,
        """
        import torch
        from torch.utils.data import DataLoader
        from transformers import TinyConfig, TinyTagger


        def collate(rows):
            longest = max(len(row["tokens"]) for row in rows)
            tokens = torch.zeros(len(rows), longest, dtype=torch.long)
            labels = torch.tensor([[int(tag in row["tags"]) for tag in "abcdef"] for row in rows], dtype=torch.float32)
            return {"input_ids": tokens, "labels": labels}


        rows = [{"tokens": open(f"{i}.txt").read().split(), "tags": "ab"} for i in range(32)]
        model = TinyTagger(TinyConfig(hidden_size=64))
        for batch in DataLoader(rows, 4, shuffle=True, collate_fn=collate):
            print(model(**batch)["loss"])
        """,
    )


def test_pretrained_models_whose_configuration_is_there() -> None:
    known = shapes(
        "from transformers import TinyModel\n"
        "a = TinyModel.from_pretrained('cached')(torch.randint(0, 100, (2, 7))).last_hidden_state\n"
        "b = TinyModel.from_pretrained('elsewhere')(torch.randint(0, 100, (2, 7))).last_hidden_state\n"
        "m = TinyModel.from_pretrained('cached', trust_remote_code=True)\n"
        "c = m(torch.randint(0, 100, (2, 7))).last_hidden_state\n"
    )
    assert known["a"] == (2, 7, 48) and known.get("b") is None and known.get("c") is None


def test_a_package_that_takes_long_to_import_is_known_later(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, text = Engine(times=PATIENT), HEAD + "y = models.small_net()(torch.randn(2, 3, 16, 16))\n"
    begun, go_on = threading.Event(), threading.Event()

    def slowly(package: str) -> None:
        begun.set()
        go_on.wait()
        importlib.import_module(package)

    monkeypatch.setattr(names, "IMPORT_SECONDS", 0.0)
    monkeypatch.setattr(names, "_try_import", slowly)
    first = engine.analyze(PATH, text)
    assert begun.is_set() and "y" not in {fact.expression for fact in first.facts}
    go_on.set()
    names._importing["torchvision"].join()
    second = engine.analyze(PATH, text)
    assert {fact.shape for fact in second.facts if fact.expression == "y"} == {(2, 1000)}


def test_without_the_package_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    found = Engine(times=PATIENT).analyze(
        PATH, HEAD + "y = models.small_net()(torch.randn(2, 1, 4, 4))\nz = y + torch.randn(3)\n"
    )
    assert not found.diagnostics and "y" not in {fact.expression for fact in found.facts}


def test_a_head_under_another_name() -> None:
    check(
        """
        import torch
        from torch import nn
        from torchvision import models

        def build():
            model = models.small_net()
            model.head = nn.Linear(16, 10)
        #   ^^^^^^^^^^ TS522: `model.head` is a new layer that SmallNet never calls: its last layer is still `fc`, with 1000
            return model

        y = build()(torch.randn(4, 3, 32, 32))
        """,
        """
        import torch
        from torch import nn
        from torchvision import models

        def build():
            model = models.small_net()
            model.fc = nn.Linear(16, 10)
            return model

        y = build()(torch.randn(4, 3, 32, 32))
        """,
    )


def test_a_head_that_stays_behind() -> None:
    check(
        """
        import torch
        from torch import nn
        from torchvision import models

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = models.small_net().to(device)
        model.fc = nn.Linear(16, 10)
        y = model(torch.randn(4, 3, 32, 32, device=device))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS201: the weights of `fc` (Linear) are on cpu
        """,
        """
        import torch
        from torch import nn
        from torchvision import models

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = models.small_net().to(device)
        model.fc = nn.Linear(16, 10).to(device)
        y = model(torch.randn(4, 3, 32, 32, device=device))
        """,
    )


def test_a_head_after_the_optimizer() -> None:
    check(
        """
        import torch
        from torch import nn
        from torchvision import models

        model = models.small_net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        #           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS512: `fc` is put into the model in line 7
        model.fc = nn.Linear(16, 10)
        for step in range(10):
            loss = nn.functional.cross_entropy(model(torch.randn(4, 3, 32, 32)), torch.randint(0, 10, (4,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        """
        import torch
        from torch import nn
        from torchvision import models

        model = models.small_net()
        model.fc = nn.Linear(16, 10)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            loss = nn.functional.cross_entropy(model(torch.randn(4, 3, 32, 32)), torch.randint(0, 10, (4,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        title="Move optimizer = torch.optim.SGD(model.parameters(), lr=0.1) after line 7",
    )


def peak(model: str, given: str = "model.parameters()") -> int | str | None:
    text = (
        f"{HEAD}{model}\noptimizer = torch.optim.SGD({given}, lr=0.1)\nfor step in range(3):\n"
        "    loss = model(torch.randn(2, 3, 32, 32)).sum()\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    )
    memory = Engine(times=PATIENT).estimate("train.py", text, device="cpu").memory
    assert memory is not None
    return memory.size if memory.size is not None else memory.reason


def test_memory_is_that_of_the_same_layers_written_down() -> None:
    layers = "nn.Conv2d(3, 24, 4, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)"
    built = "import timm\nmodel = timm.create_model('narrow', num_classes=10)"
    frozen = "for p in model.parameters():\n    p.requires_grad = False\n"
    written = peak(f"model = nn.Sequential({layers})")
    assert isinstance(written, int) and peak(built) == written
    replaced = built.replace("10", "7") + "\nmodel[3] = nn.Linear(24, 10)"
    assert peak(replaced) == written
    head = peak(f"model = nn.Sequential({layers})\n{frozen}model[3] = nn.Linear(24, 10)", "model[3].parameters()")
    assert isinstance(head, int) and head < written
    assert peak(f"{built}\n{frozen}model[3] = nn.Linear(24, 10)", "model[3].parameters()") == head


def test_memory_of_a_model_that_was_changed_in_other_ways_is_unknown() -> None:
    assert isinstance(peak("model = models.small_net()\nmodel.fc = lambda x: x"), str)


TAGGER = """
from transformers import TinyConfig, TinyTagger

model = TinyTagger(TinyConfig())
ids = torch.randint(0, 100, (8, 16))
outputs = model(input_ids=ids)
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("last = outputs.hidden_states[-1]", "TS825 `outputs.hidden_states` is None: the model gives it only with"),
        ("loss = outputs.loss\nloss.backward()", "TS825 `outputs.loss` is None: the model gives it only with labels"),
        ("(logits,) = outputs", "TS115 (logits,) get the names ('logits') of what the model returns, not the tensors"),
        ("pooled = outputs.pooler_output", "TS821 `outputs` (TaggerOutput) has no attribute `pooler_output`"),
        ("scores = outputs.logit", "TS821 `outputs` (TaggerOutput) has no attribute `logit`: it holds logits"),
    ],
)
def test_what_a_model_returns_has_its_fields(text: str, found: str) -> None:
    (diagnostic,) = Engine(times=PATIENT).analyze(PATH, HEAD + TAGGER + text).diagnostics
    assert f"{diagnostic.code} {diagnostic.message}".startswith(found)


def test_fields_of_what_a_model_returns_are_read_in_many_ways() -> None:
    known = shapes(
        TAGGER
        + """
both = model(input_ids=ids, output_hidden_states=True)
if outputs.hidden_states is not None:
    last = outputs.hidden_states[-1]
if hasattr(outputs, "pooler_output"):
    pooled = outputs.pooler_output
first = getattr(outputs, "pooler_output", outputs.logits)
logits, hidden = both.to_tuple()
shallow, deep = both.hidden_states
by_position, by_name = both[0], both["logits"]
(only,) = outputs[:1]
names = [name for name in outputs]
tensors = {key: value for key, value in outputs.items()}["logits"]
outputs.loss = both.logits.sum()
outputs.loss.backward()
"""
    )
    assert {known[name] for name in ("first", "logits", "by_position", "by_name", "only", "tensors")} == {(8, 6)}
    assert known["shallow"] == (8, 16, 32)


def test_the_hidden_states_are_asked_for() -> None:
    head = HEAD + TAGGER
    fixed = head.replace("(input_ids=ids)", "(input_ids=ids, output_hidden_states=True)")
    line = "last = outputs.hidden_states[-1]\n"
    check(head + line + "#      ^^^^^^^^^^^^^^^^^^^^^^^^^ TS825: is None\n", fixed + line)


def test_a_configuration_has_what_the_package_gives_it() -> None:
    known = shapes(
        "from transformers import TinyConfig\n"
        "config = TinyConfig(hidden_size=64)\n"
        "a = torch.zeros(config.hidden_size, config.vocab_size)\n"
        "b = torch.zeros(config.to_dict()['hidden_size'], 2)\n"
        "config.hidden_size = 16\n"
        "c = torch.zeros(config.hidden_size, 2)\n"
    )
    assert known["a"] == (64, 100) and known["b"] == (64, 2) and known["c"] == (16, 2)


def test_labels_that_a_model_has_no_class_for() -> None:
    head = HEAD + "from transformers import TinyClassifier, TinyConfig\n\nmodel = TinyClassifier(TinyConfig())\n"
    labels = "ids, labels = torch.randint(0, 100, (8, 16)), torch.randint(0, {}, (8,))\n"
    call = "loss = model(input_ids=ids, labels=labels).loss\n"
    carets = "#      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS310: `labels` goes from 0 to 3, but the prediction has 3 classes\n"
    check(head + labels.format(4) + call + carets)
    check(head + labels.format(3) + call)


def test_an_encoder_predicts_what_it_sees() -> None:
    head = HEAD + "from transformers import OtherLMHeadModel, TinyConfig, TinyForMaskedLM, TinyLMHeadModel\n\n"
    model = "model = TinyLMHeadModel({})\n"
    carets = "#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS830: TinyLMHeadModel sees the token that it is to predict\n"
    check(head + model.format("TinyConfig()") + carets, head + model.format("TinyConfig(is_decoder=True)"))
    check(head + "a, b = OtherLMHeadModel(TinyConfig()), TinyForMaskedLM(TinyConfig())\n")
