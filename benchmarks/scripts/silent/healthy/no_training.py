"""Tensors, but no training: a power iteration, and gradients by hand."""
import torch

torch.manual_seed(0)
matrix = torch.randn(20, 20)
matrix = matrix @ matrix.T
vector = torch.randn(20)
for _ in range(100):
    vector = matrix @ vector
    vector = vector / vector.norm()
print((vector @ matrix @ vector).item())
w = torch.zeros(3, requires_grad=True)
x, y = torch.randn(50, 3), torch.randn(50)
for _ in range(50):
    loss = ((x @ w - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w -= 0.1 * gradient
print(loss.item())
