"""Deterministic algorithms, default types and devices, precision, modes of gradients."""
import torch

torch.use_deterministic_algorithms(True)
torch.set_default_dtype(torch.float64)
torch.set_printoptions(precision=3, sci_mode=False)
with torch.device("meta"):
    m = torch.nn.Linear(3, 2)
torch.set_default_device("cpu")
x = torch.arange(6).reshape(2, 3) / 3
with torch.inference_mode():
    y = x @ torch.ones(3, 2)
with torch.no_grad():
    z = (y + 1).requires_grad
print(m.weight.device, x, y.is_inference(), z, torch.are_deterministic_algorithms_enabled(), torch.is_grad_enabled())
with torch.autograd.set_detect_anomaly(True), torch.autocast("cpu", dtype=torch.bfloat16):
    w = torch.ones(2, 2, requires_grad=True)
    loss = (w @ w).sum()
print(loss.dtype, torch.get_default_dtype())
