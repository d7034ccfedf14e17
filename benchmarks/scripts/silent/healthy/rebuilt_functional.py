"""Parameters that are new tensors in each step."""
import torch, torch.nn.functional as F
torch.manual_seed(0)
params = [torch.randn(6, 16) * 0.3, torch.zeros(16), torch.randn(16, 1) * 0.3, torch.zeros(1)]
def f(ps, x): return torch.tanh(x @ ps[0] + ps[1]) @ ps[2] + ps[3]
for step in range(100):
    ps = [p.requires_grad_() for p in params]
    x = torch.randn(32, 6)
    loss = F.mse_loss(f(ps, x), x.sum(1, keepdim=True).sin())
    gs = torch.autograd.grad(loss, ps)
    params = [(p - 0.05 * g).detach() for p, g in zip(ps, gs)]
print(loss.item())
