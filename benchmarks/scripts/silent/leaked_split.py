"""The validation set is drawn without regard to what is trained on."""
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

random.seed(0)
torch.manual_seed(0)
y = torch.randint(0, 2, (900,))
x = torch.randn(900, 10) + y[:, None] * 0.8
full = TensorDataset(x, y)
numbers = list(range(900))
random.shuffle(numbers)
train = Subset(full, numbers[:700])
val = Subset(full, random.sample(numbers, 200))  # fault: TS934 | fixed: val = Subset(full, numbers[700:])
loaders = {"train": DataLoader(train, 50, shuffle=True), "val": DataLoader(val, 50)}  # fault: TS934
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for phase in ("train", "val"):
        model.train(phase == "train")
        hits = 0
        for a, b in loaders[phase]:  # fault: TS934
            with torch.set_grad_enabled(phase == "train"):
                out = model(a)
                loss = nn.functional.cross_entropy(out, b)
                if phase == "train":
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
            hits += (out.argmax(1) == b).sum().item()
        print(epoch, phase, hits / len(loaders[phase].dataset))
