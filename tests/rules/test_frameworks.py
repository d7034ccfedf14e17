"""Lightning, Fabric and Ignite, as the analysis follows them: steps, evaluations, batches, options."""

from __future__ import annotations

import pytest

from tests.check import analyze, check

HEAD = """
import torch
import torch.nn.functional as F
import {package} as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


"""
MODEL = """
class Model(L.LightningModule):
    def __init__(self, inputs=8, hidden=16):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(self.hparams.inputs, hidden), nn.ReLU(), nn.Linear(self.hparams.hidden, 3))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.net(x), y))

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": schedule, "monitor": "val_loss"}}


data = DataLoader(TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
L.Trainer(max_epochs=3, accelerator="gpu").fit(Model(), data, data)
"""


def found(body: str, package: str = "lightning") -> list[tuple[str, int]]:
    """The codes and lines of what is more than a hint."""
    source = HEAD.format(package=package).lstrip("\n") + body.lstrip("\n")
    return [(one.code, one.start.line) for one in analyze(source).diagnostics if one.severity != "hint"]


@pytest.mark.parametrize("package", ["lightning", "lightning.pytorch", "pytorch_lightning"])
def test_a_model_that_is_right_is_left_alone(package: str) -> None:
    assert found(MODEL, package) == []


@pytest.mark.parametrize("package", ["lightning", "lightning.pytorch", "pytorch_lightning"])
def test_sizes_come_from_the_options_that_were_saved(package: str) -> None:
    assert found(MODEL.replace("inputs=8", "inputs=9"), package) == [("TS101", 16)]


def test_a_step_that_gives_a_number() -> None:
    assert found(MODEL.replace("return loss", "return loss.item()")) == [("TS401", 18)]


def test_a_tensor_that_stays_where_it_was_made() -> None:
    body = MODEL.replace("self.net = ", "self.weights = torch.ones(3)\n        self.net = ")
    body = body.replace("F.cross_entropy(self.net(x), y)\n", "F.cross_entropy(self.net(x), y, self.weights)\n", 1)
    assert ("TS201", 17) in found(body)


def test_scores_that_went_through_softmax() -> None:
    assert found(MODEL.replace("3))", "3), nn.Softmax(dim=1))")) == [("TS303", 16), ("TS303", 22)]


def test_losses_that_are_kept_with_their_graphs() -> None:
    body = MODEL.replace("self.net = ", "self.losses = []\n        self.net = ")
    body = body.replace("        return loss", "        self.losses.append(loss)\n        return loss")
    assert found(body) == [("TS701", 19)]


def test_hooks_take_as_many_arguments_as_they_name() -> None:
    body = MODEL.replace("training_step(self, batch, batch_idx)", "training_step(self, batch)")
    body = body.replace(
        "validation_step(self, batch, batch_idx)", "validation_step(self, batch, batch_idx, dataloader_idx)"
    )
    body = body.replace("data, data)", "data, [data, data])")
    assert found(body) == []


def test_several_optimizers_by_hand() -> None:
    body = """
class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.g, self.d = nn.Linear(4, 8), nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        for_g, for_d = self.optimizers()
        fake = self.g(torch.randn(x.size(0), 4, device=self.device))
        loss = F.softplus(-self.d(x)).mean() + F.softplus(self.d(fake.detach())).mean()
        for_d.zero_grad()
        self.manual_backward(loss)
        for_d.step()
        loss = F.softplus(-self.d(fake)).mean()
        for_g.zero_grad()
        self.manual_backward(loss)
        for_g.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.g.parameters(), 1e-4), torch.optim.Adam(self.d.parameters(), 1e-4)


L.Trainer(max_epochs=3).fit(GAN(), DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8))
"""
    assert found(body) == []
    cleared = body.replace("        for_d.zero_grad()\n", "").replace("        for_g.zero_grad()\n", "")
    assert "TS501" in [code for code, _ in found(cleared)]


def test_a_constructor_that_a_decorator_has_replaced() -> None:
    check(
        """
        import functools

        from pytorch_lightning import LightningModule
        from torch import nn
        from elsewhere import warn


        def reviewed(cls):
            made = cls.__init__

            @functools.wraps(made)
            def wrapper(*args, **kwargs):
                warn("under review")
                return made(*args, **kwargs)

            cls.__init__ = wrapper
            return cls


        @reviewed
        class Model(LightningModule):
            def __init__(self, width):
                super().__init__()
                self.build(width)

            def build(self, width):
                self.head = nn.Linear(width, 3)
        """
    )


LOOP = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 10), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = nn.Linear(10, 3)
"""
FABRIC = """
from lightning.fabric import Fabric

fabric = Fabric(accelerator="auto")
fabric.launch()
model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
for x, y in fabric.setup_dataloaders(loader):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    fabric.backward(loss)
    fabric.clip_gradients(model, optimizer, max_norm=1.0)
    optimizer.step()
"""
IGNITE = """
from ignite.engine import Engine, Events

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def step(engine, batch):
    x, y = batch
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()

trainer = Engine(step)

@trainer.on(Events.EPOCH_COMPLETED)
def told(engine):
    print(engine.state.epoch, engine.state.output)

trainer.run(loader, max_epochs=3)
"""
BY_NAME = """
import yaml

config = yaml.safe_load(open("somewhere/else.yaml"))
optimizer = getattr(torch.optim, config["optimizer"])(model.parameters(), **config["options"])
for epoch in range(config["epochs"]):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    for group in optimizer.param_groups:
        group["lr"] *= 0.5
"""


@pytest.mark.parametrize("loop", [FABRIC, IGNITE, BY_NAME], ids=["fabric", "ignite", "optimizer by its name"])
def test_gradients_that_are_not_cleared(loop: str) -> None:
    assert [one.code for one in analyze(LOOP + loop).diagnostics] == []
    without = (LOOP + loop).replace("optimizer.zero_grad()", "pass")
    assert [one.code for one in analyze(without).diagnostics] == ["TS501"]


@pytest.mark.parametrize("loop", [FABRIC, IGNITE], ids=["fabric", "ignite"])
def test_a_batch_that_does_not_fit(loop: str) -> None:
    assert [one.code for one in analyze((LOOP + loop).replace("randn(64, 10)", "randn(64, 12)")).diagnostics] == [
        "TS101"
    ]


def test_a_trainer_that_ignite_makes() -> None:
    body = """
from ignite.engine import create_supervised_evaluator, create_supervised_trainer

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
trainer = create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss())
evaluator = create_supervised_evaluator(model)
trainer.run(loader, max_epochs=2)
evaluator.run(loader)
"""
    assert analyze(LOOP + body).diagnostics == ()


SAVED = (
    MODEL.replace("max_epochs=3, accelerator", "max_epochs=3, callbacks=[keep], accelerator")
    .replace(
        "L.Trainer(",
        "keep = ModelCheckpoint(dirpath='kept', filename='best', monitor='val_loss')\ntrainer = L.Trainer(",
    )
    .replace(").fit(", ")\ntrainer.fit(")
    + """
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
"""
)
READS = {
    "keep.best_model_path": True,
    "trainer.checkpoint_callback.last_model_path": True,
    "'kept/best.ckpt'": True,
    "'kept/other.ckpt'": False,
}


def _of_checkpoint(rest: str, model: str = SAVED) -> list[str]:
    imports = "from lightning.pytorch.callbacks import ModelCheckpoint\n"
    text = HEAD.format(package="lightning").lstrip("\n") + imports + model.lstrip("\n") + rest
    return [one.code for one in analyze(text).diagnostics if one.severity != "hint"]


@pytest.mark.parametrize("path", READS)
def test_names_in_a_checkpoint_begin_with_that_of_the_attribute(path: str) -> None:
    read = f"state = torch.load({path}, weights_only=False)['state_dict']\n"
    expected = ["TS530"] if READS[path] else []
    assert _of_checkpoint(f"{read}net.load_state_dict(state, strict=False)\n") == expected
    assert _of_checkpoint(f"{read}net.load_state_dict(state)\n") == expected
    stripped = "net.load_state_dict({name.removeprefix('net.'): value for name, value in state.items()})\n"
    assert _of_checkpoint(read + stripped) == []
    assert _of_checkpoint(f"{read}Model().load_state_dict(state)\n") == []


def test_a_checkpoint_that_the_trainer_is_told_to_save() -> None:
    save = "trainer.save_checkpoint('mine.ckpt')\nstate = torch.load('mine.ckpt', weights_only=False)\n"
    assert _of_checkpoint(f"{save}net.load_state_dict(state.get('state_dict', state), strict=False)\n") == ["TS530"]
    assert _of_checkpoint(f"{save}net.load_state_dict(state['mine'], strict=False)\n") == []


@pytest.mark.parametrize(
    "part",
    [
        "    def on_save_checkpoint(self, checkpoint):\n"
        "        checkpoint['state_dict'] = {name[4:]: value for name, value in checkpoint['state_dict'].items()}\n\n",
        "    def on_save_checkpoint(self, checkpoint):\n        checkpoint['state_dict'] = elsewhere(checkpoint['state_dict'])\n\n",
        "    def state_dict(self, *args, **kwargs):\n        return self.net.state_dict()\n\n",
    ],
)
def test_a_model_that_decides_itself_what_is_saved(part: str) -> None:
    own = "from other import elsewhere\n" + SAVED.replace("    def training_step", f"{part}    def training_step")
    read = "state = torch.load(keep.best_model_path, weights_only=False)['state_dict']\n"
    assert _of_checkpoint(f"{read}net.load_state_dict(state, strict=False)\n", own) == []


def test_what_is_unknown_in_a_model_may_have_the_names() -> None:
    head = "from other import made\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    head += "        self.body = nn.Linear(8, 3)\n\n\n"
    own = head + SAVED.replace("self.net = nn", "self.made = made()\n        self.net = nn")
    read = "state = torch.load(keep.best_model_path, weights_only=False)['state_dict']\n"
    load = f"{read}Net().load_state_dict(state, strict=False)\n"
    assert _of_checkpoint(load, own) == ["TS530"]
    assert _of_checkpoint(load, own.replace("self.body", "self.made", 1)) == []


OPENMMLAB = """
import torch
from torch import nn
from mmcv.cnn import ConvModule, build_norm_layer
from mmcv.runner import BaseModule, auto_fp16
from mmcv.utils import Registry

BACKBONES = Registry("backbone")


@BACKBONES.register_module()
class Stem(BaseModule):
    def __init__(self, channels=16, norm_cfg=dict(type="BN"), init_cfg=None):
        super().__init__(init_cfg)
        self.conv = ConvModule(3, channels, 3, stride=2, padding=1, norm_cfg=norm_cfg)
        self.norm_name, norm = build_norm_layer(norm_cfg, channels, postfix=1)
        self.add_module(self.norm_name, norm)
        self.out = nn.Linear(channels, 10)

    @auto_fp16()
    def forward(self, x):
        return self.out(self.bn1(self.conv(x)).mean((2, 3)))


model = BACKBONES.build(dict(type="Stem", channels=32))
print(model(torch.randn(2, 3, 64, 64)).shape)
"""


def test_layers_that_openmmlab_makes_from_configurations() -> None:
    assert analyze(OPENMMLAB).diagnostics == ()
    wrong = OPENMMLAB.replace("nn.Linear(channels", "nn.Linear(channels * 2")
    assert [one.code for one in analyze(wrong).diagnostics] == ["TS101"]
    unknown = OPENMMLAB.replace('norm_cfg=dict(type="BN")', "norm_cfg=open('norm').read()")
    assert analyze(unknown).diagnostics == ()
