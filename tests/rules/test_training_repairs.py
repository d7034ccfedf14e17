"""Repairs of lost and reused graphs, and of training loops: what the first fix makes of a script."""

from __future__ import annotations

from textwrap import dedent

from tests.check import check, engine
from tests.rules.test_repairs import repaired


def test_a_generator_that_the_loop_does_not_train_is_cut_off() -> None:
    text = """
        import torch
        from torch import nn

        gen, critic = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), nn.Linear(2, 1)
        opt_g = torch.optim.Adam(gen.parameters())
        opt_c = torch.optim.Adam(critic.parameters())
        for _ in range(5):
            fake = gen(torch.randn(16, 4))
            for _ in range(3):
                loss = critic(fake).mean() - critic(torch.randn(16, 2)).mean()
                opt_c.zero_grad()
                loss.backward()
                opt_c.step()
            opt_g.zero_grad()
            (-critic(fake).mean()).backward()
            opt_g.step()
    """
    assert "loss = critic(fake.detach()).mean()" in repaired(text)


def test_what_a_method_computes_once_is_computed_in_each_round() -> None:
    text = """
        import torch
        from torch import nn

        class Matcher(nn.Module):
            def __init__(self):
                super().__init__()
                self.image, self.attribute = nn.Linear(20, 8), nn.Linear(6, 8)
                self.refresh()

            def refresh(self):
                self.classes = torch.tanh(self.attribute(torch.ones(5, 6)))

            def forward(self, x):
                return self.image(x) @ self.classes.t()

        model = Matcher()
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(10):
            loss = nn.functional.cross_entropy(model(torch.randn(8, 20)), torch.randint(0, 5, (8,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    assert "for _ in range(10):\n    model.refresh()\n" in repaired(text)


def test_a_distance_in_numpy_becomes_one_in_torch() -> None:
    text = """
        import numpy as np
        import torch
        from torch import nn

        def distance(a, b):
            a, b = a.detach().numpy(), b.detach().numpy()
            return torch.from_numpy(np.linalg.norm(a - b, axis=1))

        net = nn.Linear(6, 3)
        loss = distance(net(torch.randn(8, 6)), net(torch.randn(8, 6))).mean()
        loss.backward()
    """
    assert "    a, b = a, b\n    return torch.linalg.norm(a - b, axis=1)\n" in repaired(text)


def test_a_loss_is_computed_after_the_step_that_changes_its_weights() -> None:
    text = """
        import torch
        from torch import nn

        gen = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        disc = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
        g_opt, d_opt = torch.optim.Adam(gen.parameters()), torch.optim.Adam(disc.parameters())
        for _ in range(5):
            fake = gen(torch.randn(16, 4))
            d_loss = disc(fake.detach()).mean() - disc(torch.randn(16, 2)).mean()
            g_loss = -disc(fake).mean()
            d_opt.zero_grad()
            d_loss.backward()
            d_opt.step()
            g_opt.zero_grad()
            g_loss.backward()
            g_opt.step()
    """
    assert "    d_opt.step()\n    g_loss = -disc(fake).mean()\n" in repaired(text)


def test_the_student_leaves_the_block_of_the_teacher() -> None:
    text = """
        import torch
        from torch import nn

        teacher, student = nn.Linear(4, 2), nn.Linear(4, 2)
        x = torch.randn(8, 4)
        with torch.no_grad():
            wanted = teacher(x)
            given = student(x)
        nn.functional.mse_loss(given, wanted).backward()
    """
    assert "    wanted = teacher(x)\ngiven = student(x)\n" in repaired(text)
    first = text.replace(
        "wanted = teacher(x)\n            given = student(x)", "given = student(x)\n            wanted = teacher(x)"
    )
    assert "given = student(x)\nwith torch.no_grad():\n    wanted = teacher(x)\n" in repaired(first)


def test_a_loss_that_a_method_is_given_goes_backward_there() -> None:
    text = """
        import torch
        from torch import nn

        class Trainer:
            def __init__(self):
                self.model = nn.Linear(4, 1)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

            def optimize(self, loss):
                self.optimizer.zero_grad()
                self.optimizer.step()

            def run(self):
                for _ in range(5):
                    loss = nn.functional.mse_loss(self.model(torch.randn(8, 4)), torch.randn(8, 1))
                    self.optimize(loss)

        Trainer().run()
    """
    assert "        loss.backward()\n        self.optimizer.step()\n" in repaired(text)


def test_the_sampler_is_told_the_epoch_in_the_loop_that_counts_them() -> None:
    text = """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from torch.utils.data.distributed import DistributedSampler

        class Trainer:
            def __init__(self):
                data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
                self.loader = DataLoader(data, 8, sampler=DistributedSampler(data, num_replicas=2, rank=0))
                self.model = nn.Linear(4, 1)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

            def one_epoch(self):
                for x, y in self.loader:
                    self.optimizer.zero_grad()
                    nn.functional.mse_loss(self.model(x), y).backward()
                    self.optimizer.step()

            def fit(self):
                for epoch in range(3):
                    self.one_epoch()

        Trainer().fit()
    """
    assert "            self.loader.sampler.set_epoch(epoch)\n            self.one_epoch()\n" in repaired(text)


def test_a_meter_is_given_a_loss_without_its_graph() -> None:
    text = """
        import torch
        from torch import nn

        class Smooth:
            def __init__(self):
                self.value = None

            def update(self, x):
                self.value = x if self.value is None else 0.9 * self.value + 0.1 * x

        model, smooth = nn.Linear(4, 1), Smooth()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(10):
            loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            smooth.update(loss)
    """
    assert "    smooth.update(loss.detach())\n" in repaired(text)


def test_a_shared_encoder_is_cut_off_where_it_is_not_trained() -> None:
    text = """
        import torch
        from torch import nn

        encoder, one, other = nn.Sequential(nn.Linear(8, 5), nn.Tanh()), nn.Linear(5, 1), nn.Linear(5, 1)
        opt_one = torch.optim.Adam([*encoder.parameters(), *one.parameters()])
        opt_other = torch.optim.Adam(other.parameters())
        for _ in range(5):
            z = encoder(torch.randn(16, 8))
            first = one(z).pow(2).mean()
            opt_one.zero_grad()
            first.backward()
            opt_one.step()
            second = other(z).pow(2).mean()
            opt_other.zero_grad()
            second.backward()
            opt_other.step()
    """
    assert "second = other(z.detach())" in repaired(text)


def test_shares_of_predicted_classes_become_those_of_probabilities() -> None:
    text = """
        import torch
        import torch.nn.functional as F
        from torch import nn

        model = nn.Linear(8, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            logits = model(torch.randn(16, 8))
            share = F.one_hot(logits.argmax(dim=1), 3).float().mean(dim=0)
            loss = F.cross_entropy(logits, torch.zeros(16).long()) + (share - 1 / 3).pow(2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    assert "share = logits.softmax(dim=1).mean(dim=0)" in repaired(text)


def test_a_root_is_taken_of_the_tensor() -> None:
    text = """
        import math

        import torch
        from torch import nn

        net = nn.Linear(6, 1)
        loss = math.sqrt(nn.functional.mse_loss(net(torch.randn(8, 6)), torch.randn(8, 1)))
        loss.backward()
    """
    assert "loss = torch.sqrt(" in repaired(text)


def test_a_scaled_loss_goes_backward_where_it_is_scaled() -> None:
    text = """
        import torch
        from torch import nn

        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        for _ in range(5):
            loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
            optimizer.zero_grad()
            scaler.scale(loss)
            scaler.step(optimizer)
            scaler.update()
    """
    assert "    scaler.scale(loss).backward()\n    scaler.step" in repaired(text)
    assert "    scaler.scale(loss).backward()\n" in repaired(text.replace("scale(loss)", "scale(loss).backward"))


def test_the_logarithm_of_a_softmax_in_a_variable() -> None:
    text = """
        import torch

        def entropy(logits):
            p = torch.softmax(logits, dim=-1)
            return -(p * torch.log(p)).sum(-1)

        entropy(torch.randn(8, 5))
    """
    assert "return -(p * torch.log_softmax(logits, dim=-1)).sum(-1)" in repaired(text)


def test_a_pickle_module_gives_way_to_weights_only() -> None:
    text = """
        import pickle

        import torch

        state = torch.load("last.pt", pickle_module=pickle)
    """
    assert 'torch.load("last.pt", weights_only=True)' in repaired(text)


def test_pretrained_that_is_asked_for_by_a_variable() -> None:
    text = """
        import torchvision

        def build(pretrained=False):
            return torchvision.models.resnet18(pretrained=pretrained)
    """
    assert "weights=torchvision.models.ResNet18_Weights.IMAGENET1K_V1 if pretrained else None" in repaired(text)


def test_a_generator_that_is_trained_against_another_network_may_keep_its_dropout() -> None:
    text = """
        import torch
        from torch import nn

        gen = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 2))
        disc = nn.Linear(2, 1)
        g_opt, d_opt = torch.optim.Adam(gen.parameters()), torch.optim.Adam(disc.parameters())
        for _ in range(5):
            x, y = torch.randn(16, 4), torch.randn(16, 2)
            fake = gen(x)
            d_opt.zero_grad()
            (disc(fake.detach()).mean() - disc(y).mean()).backward()
            d_opt.step()
            g_opt.zero_grad()
            (nn.functional.l1_loss(fake, y) - disc(fake).mean()).backward()
            g_opt.step()
        with torch.no_grad():
            print(nn.functional.l1_loss(gen(torch.randn(16, 4)), torch.randn(16, 2)))
    """
    found = engine().analyze("script.py", dedent(text)).diagnostics
    assert [(item.code, item.severity) for item in found] == [("TS505", "hint")]


def test_the_mode_follows_the_phase_by_which_gradients_are_switched() -> None:
    text = """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
        loaders = {phase: DataLoader(data, 16, shuffle=phase == "train") for phase in ("train", "val")}
        model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for phase in ("train", "val"):
                model.train()
                for x, y in loaders[phase]:
                    optimizer.zero_grad()
                    with torch.set_grad_enabled(phase == "train"):
                        loss = nn.functional.cross_entropy(model(x), y)
                        if phase == "train":
                            loss.backward()
                            optimizer.step()
    """
    assert 'model.train(phase == "train")' in repaired(text)


def test_losses_of_one_trunk_go_backward_together() -> None:
    text = """
        import torch
        from torch import nn

        trunk = nn.Sequential(nn.Linear(7, 16), nn.ReLU())
        members = nn.ModuleList(nn.Linear(16, 1) for _ in range(3))
        optimizer = torch.optim.Adam([*trunk.parameters(), *members.parameters()])
        for _ in range(5):
            x, y = torch.randn(8, 7), torch.randn(8, 1)
            shared = trunk(x)
            outputs = [member(shared) for member in members]
            optimizer.zero_grad()
            for out in outputs:
                loss = nn.functional.mse_loss(out, y)
                loss.backward()
            optimizer.step()
    """
    changed = repaired(text)
    assert "    total_loss = 0.0\n    for out in outputs:\n" in changed
    assert "        total_loss = total_loss + loss\n    total_loss.backward()\n    optimizer.step()" in changed


def test_the_gradient_passes_straight_through_inside_of_a_network() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(10, 32), nn.Linear(32, 2)

            def forward(self, x):
                h = torch.sign(self.first(x))
                return self.second(h)

        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(torch.randn(8, 10)), torch.randint(0, 2, (8,))).backward()
            optimizer.step()
    """
    changed = repaired(text)
    assert "soft = self.first(x)\n" in changed
    assert "h = (soft + (torch.sign(soft) - soft).detach())" in changed


def test_the_gradient_passes_the_lookup_of_the_nearest_code() -> None:
    text = """
        import torch
        import torch.nn.functional as F
        from torch import nn

        class Codebook(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(32, 8)

            def forward(self, z):
                codes = torch.cdist(z, self.table.weight).argmin(dim=1)
                q = self.table(codes)
                loss = F.mse_loss(q, z.detach())
                return q, loss

        encoder, codebook, decoder = nn.Linear(16, 8), Codebook(), nn.Linear(8, 16)
        optimizer = torch.optim.Adam([*encoder.parameters(), *codebook.parameters(), *decoder.parameters()])
        for step in range(30):
            x = torch.randn(64, 16)
            q, commitment = codebook(encoder(x))
            loss = F.mse_loss(decoder(q), x) + commitment
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    assert "z.detach())\n        q = z + (q - z).detach()\n        return q, loss" in repaired(text)


def test_freezing_goes_in_front_of_the_new_head() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.fc = nn.Linear(4, 8), nn.Linear(8, 10)

            def forward(self, x):
                return self.fc(torch.relu(self.body(x)))

        model = Net()
        model.fc = nn.Linear(8, 3)
        for p in model.parameters():
            p.requires_grad = False
        loss = nn.functional.cross_entropy(model(torch.randn(2, 4)), torch.tensor([0, 2]))
        loss.backward()
    """
    frozen = "model = Net()\nfor p in model.parameters():\n    p.requires_grad = False\nmodel.fc = nn.Linear(8, 3)\n"
    assert frozen in repaired(text)


def test_a_function_freezes_in_front_of_the_new_head() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.fc = nn.Linear(4, 8), nn.Linear(8, 10)

            def forward(self, x):
                return self.fc(torch.relu(self.body(x)))

        def freeze(model):
            for p in model.parameters():
                p.requires_grad = False

        class Tuner:
            def __init__(self, classes):
                self.net = Net()
                self.net.fc = nn.Linear(8, classes)
                freeze(self.net)

            def step(self, x, y):
                nn.functional.cross_entropy(self.net(x), y).backward()

        Tuner(3).step(torch.randn(2, 4), torch.tensor([0, 2]))
    """
    frozen = "self.net = Net()\n        freeze(self.net)\n        self.net.fc = nn.Linear(8, classes)\n\n"
    assert frozen in repaired(text)


def test_a_schedule_steps_behind_the_optimizer_of_another_method() -> None:
    text = """
        import torch
        from torch import nn

        class Learner:
            def __init__(self, model):
                self.model = model
                self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
                self.schedule = torch.optim.lr_scheduler.StepLR(self.opt, 10)

            def before(self):
                self.opt.zero_grad()
                self.schedule.step()

            def batch(self, x, y):
                self.before()
                nn.functional.mse_loss(self.model(x), y).backward()
                self.opt.step()

        learner = Learner(nn.Linear(4, 1))
        for _ in range(20):
            learner.batch(torch.randn(8, 4), torch.randn(8, 1))
    """
    assert "        self.opt.step()\n        self.schedule.step()\n" in repaired(text)


def test_shuffle_is_not_passed_on_with_other_options() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, RandomSampler, TensorDataset

        def balanced(dataset, **options):
            return DataLoader(dataset, sampler=RandomSampler(dataset), **options)

        loader = balanced(TensorDataset(torch.randn(20, 3)), batch_size=5, shuffle=True, drop_last=True)
    """
    assert "balanced(TensorDataset(torch.randn(20, 3)), batch_size=5, drop_last=True)" in repaired(text)


def test_predicted_classes_that_are_compared_become_probabilities() -> None:
    text = """
        import torch
        from torch import nn

        def dice(logits, target):
            chosen = logits.argmax(dim=1)
            total = 0.0
            for c in range(3):
                p, t = (chosen == c).float(), (target == c).float()
                total = total + 2 * (p * t).sum() / (p.sum() + t.sum() + 1)
            return 1 - total / 3

        model = nn.Conv2d(2, 3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            loss = dice(model(torch.randn(4, 2, 8, 8)), torch.randint(0, 3, (4, 8, 8)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    assert "p, t = chosen[:, c], (target == c).float()" in repaired(text)


def test_the_picture_that_is_optimised_is_made_to_require_grad() -> None:
    text = """
        import torch
        from torch import nn

        net = nn.Conv2d(3, 8, 3).requires_grad_(False)
        canvas = torch.rand(1, 3, 16, 16)
        optimizer = torch.optim.Adam([canvas], lr=0.05)
        net(canvas).pow(2).mean().backward()
    """
    assert "canvas.requires_grad_()\noptimizer = torch.optim.Adam([canvas], lr=0.05)\n" in repaired(text)


def test_batches_are_counted_where_there_is_a_name_for_it() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        loader = DataLoader(TensorDataset(torch.randn(60, 4), torch.rand(60)), batch_size=10)
        for i, {names} in loader:
            print(i, x.shape, y.shape)
    """
    for names in ("(x, y)", "x, y"):
        assert "for i, (x, y) in enumerate(loader):" in repaired(text.replace("{names}", names))


def test_layers_that_are_given_tensors_are_made_first() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

            def forward(self, x):
                x = nn.ReLU(self.a(x))
                x = nn.ReLU(self.b(x))
                return self.c(x)

        Net()(torch.randn(2, 4))
    """
    assert "x = nn.ReLU()(self.a(x))\n        x = nn.ReLU()(self.b(x))\n" in repaired(text)


def test_tensors_of_a_batch_are_stacked() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        def collate(batch):
            return torch.tensor([row for row, in batch])

        for rows in DataLoader(TensorDataset(torch.randn(60, 4)), batch_size=10, collate_fn=collate):
            print(rows.shape)
    """
    assert "return torch.stack([row for row, in batch])" in repaired(text)


def test_a_schedule_for_all_batches_steps_after_each() -> None:
    text = """
        import torch
        from torch import nn

        model, batches = nn.Linear(4, 1), [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(10)]
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, epochs=5, steps_per_epoch=len(batches))
        for epoch in range(5):
            for x, y in batches:
                optimizer.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
            cycle.step()
    """
    assert "        optimizer.step()\n        cycle.step()\n" in repaired(text)


def test_labels_that_are_names_are_called_so() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Pets(Dataset):
            def __len__(self):
                return 40

            def __getitem__(self, i):
                return torch.randn(2), "cat" if i % 2 else "dog"

        for scores, label in DataLoader(Pets(), batch_size=8):
            torch.nn.functional.cross_entropy(scores, label)
    """
    messages = [item.message for item in engine().analyze("/p/a.py", dedent(text)).diagnostics]
    assert any(said.startswith("`label` is a list of 8 strings") for said in messages), messages


def test_weights_that_are_stepped_by_hand_stay_leaves() -> None:
    text = """
        import torch

        x, y = torch.randn(20, 2), torch.randn(20)
        w = torch.zeros(2, requires_grad=True)
        for step in range(10):
            loss = ((x @ w - y) ** 2).mean()
            loss.backward()
            w = w - 0.1 * w.grad
    """
    assert "    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n" in repaired(text)


def test_what_is_left_goes_to_the_last_of_computed_lengths() -> None:
    text = """
        import torch
        from torch.utils.data import TensorDataset, random_split

        data = TensorDataset(torch.randn(333, 4))
        lengths = [int(len(data) * part) for part in (0.7, 0.2, 0.1)]
        parts = random_split(data, lengths)
    """
    assert "lengths[-1] += len(data) - sum(lengths)\nparts =" in repaired(text)


def test_a_part_stays_in_evaluation_where_the_loop_trains_other_models_too() -> None:
    text = """
        import torch
        from torch import nn

        class Pair(nn.Module):
            def __init__(self, teacher, student):
                super().__init__()
                self.teacher, self.student = teacher.eval(), student

            def forward(self, x):
                return (self.student(x) - self.teacher(x).detach()).square().mean()

        class Alone(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net = net

            def forward(self, x):
                return self.net(x).square().mean()

        def fit(model, parameters):
            optimizer = torch.optim.SGD(parameters, lr=0.1)
            for _ in range(3):
                model.train()
                loss = model(torch.rand(8, 4))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        teacher = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        fit(Alone(teacher), teacher.parameters())
        teacher.requires_grad_(False)
        pair = Pair(teacher, nn.Linear(4, 4))
        fit(pair, pair.student.parameters())
    """
    assert "def train(self, mode=True):" in repaired(text)


def test_new_layers_in_the_place_of_the_container_of_the_last_one() -> None:
    program = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(12, 16)
        self.classifier = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1000))

    def forward(self, x):
        return self.classifier(self.features(x).relu())


net = Net()
if True:
    {name} = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 10))
{caret}print(net(torch.randn(4, 12)).shape)
"""
    caret = "#   ^^^^^^ TS522: its last layer is still `classifier[2]`\n"
    check(program.format(name="net.fc", caret=caret), program.format(name="net.classifier", caret=""))
