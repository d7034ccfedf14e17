"""Curve fitting with LBFGS and a closure; parameters are plain leaf tensors."""
import torch

torch.manual_seed(0)
dtype = torch.float64

x = torch.linspace(-2, 2, 80, dtype=dtype)
y = 1.3 * torch.exp(-0.5 * (x - 0.4) ** 2) + 0.02 * torch.randn(80, dtype=dtype)

amplitude = torch.tensor(1.0, dtype=dtype, requires_grad=True)
centre = torch.zeros((), dtype=dtype, requires_grad=True)
log_width = torch.zeros((), dtype=dtype, requires_grad=True)
params = [amplitude, centre, log_width]


def model(x):
    width = log_width.exp()
    return amplitude * torch.exp(-((x - centre) / width) ** 2 / 2)


optimizer = torch.optim.LBFGS(params, lr=0.5, max_iter=10, line_search_fn="strong_wolfe")
history = []


def closure():
    optimizer.zero_grad()
    residual = model(x) - y
    loss = residual.pow(2).mean()
    loss.backward()
    history.append(loss.item())
    return loss


for i in range(5):
    final = optimizer.step(closure)
    print(i, float(final))

jacobian = torch.stack([
    torch.autograd.grad(model(x)[k], params, retain_graph=False)[0] for k in range(0, 80, 20)
])
print("jacobian of the amplitude", jacobian)
with torch.no_grad():
    prediction = model(x)
    r2 = 1 - ((y - prediction) ** 2).sum() / ((y - y.mean()) ** 2).sum()
print(f"amplitude {amplitude.item():.3f} centre {centre.item():.3f} width {log_width.exp().item():.3f} r2 {r2:.3f}")
assert len(history) >= 5
