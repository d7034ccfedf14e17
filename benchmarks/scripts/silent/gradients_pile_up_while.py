"""Regression on dictionaries in a while-loop with a step counter."""
import torch
import torch.nn.functional as F

torch.manual_seed(3)
weights = torch.randn(6)


def sample_batch(size=32):
    features = torch.randn(size, 6)
    return {"features": features, "target": features @ weights + 0.05 * torch.randn(size)}


net = torch.nn.Sequential(torch.nn.Linear(6, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
step, max_steps = 0, 120
while step < max_steps:
    batch = sample_batch()
    prediction = net(batch["features"]).squeeze(-1)
    mse = F.mse_loss(prediction, batch["target"])
    mse.backward()  # fault: TS501
    opt.step()
    # fixed: opt.zero_grad(set_to_none=True)
    step += 1
    if step % 40 == 0:
        print(f"step {step}: {mse.item():.4f}")
