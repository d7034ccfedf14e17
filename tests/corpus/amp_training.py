"""Mixed precision with autocast and GradScaler, enabled only where there is a GPU; channels-last images."""
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

use_amp = torch.cuda.is_available()
device = "cuda" if use_amp else "cpu"
torch.backends.cudnn.benchmark = True
torch.manual_seed(0)


def make_model(in_channels, out_size, num_layers, width=16):
    layers = []
    for _ in range(num_layers - 1):
        layers.append(nn.Conv2d(in_channels, width, 3, padding=1))
        layers.append(nn.BatchNorm2d(width))
        layers.append(nn.ReLU())
        in_channels = width
    layers.append(nn.AdaptiveAvgPool2d(1))
    layers.append(nn.Flatten())
    layers.append(nn.Linear(in_channels, out_size))
    return nn.Sequential(*tuple(layers)).to(device)


start_time = None


def start_timer():
    global start_time
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.reset_max_memory_allocated()
    start_time = time.perf_counter()


def end_timer_and_print(msg):
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    print(f"{msg} {time.perf_counter() - start_time < 60}")


net = make_model(3, 10, 3).to(memory_format=torch.channels_last)
opt = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
scaler = torch.amp.GradScaler(device, enabled=use_amp)
loss_fn = nn.CrossEntropyLoss().to(device)
loader = DataLoader(
    TensorDataset(torch.randn(64, 3, 16, 16), torch.randint(0, 10, (64,))), batch_size=16, pin_memory=use_amp
)

start_timer()
for epoch in range(2):
    for input, target in loader:
        input = input.to(device, memory_format=torch.channels_last, non_blocking=True)
        target = target.to(device, non_blocking=True)
        with torch.autocast(device_type=device, dtype=torch.float16 if use_amp else torch.bfloat16, enabled=use_amp):
            output = net(input)
            loss = loss_fn(output, target)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        grad_norm = torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad(set_to_none=True)
    print(epoch, loss.item(), float(grad_norm) >= 0)
end_timer_and_print("mixed precision:")

checkpoint = {"model": net.state_dict(), "optimizer": opt.state_dict(), "scaler": scaler.state_dict()}
net.load_state_dict(checkpoint["model"])
opt.load_state_dict(checkpoint["optimizer"])

# On the CPU, autocast to bfloat16.
with torch.autocast("cpu", dtype=torch.bfloat16):
    small = nn.Linear(8, 8)
    out = small(torch.randn(2, 8))
print(out.dtype, out.float().sum().item() is not None)
