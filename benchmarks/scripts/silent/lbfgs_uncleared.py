"""LBFGS whose closure adds up gradients."""
import torch

torch.manual_seed(0)
x = torch.linspace(-2, 2, 200).unsqueeze(1)
y = torch.sin(2 * x) + 0.05 * torch.randn_like(x)
model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=10)


def closure():
    # fixed: optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()  # fault: TS501
    return loss


for i in range(15):
    value = optimizer.step(closure)  # fault: TS501
    print(i, float(value))
