"""Gradients with respect to inputs: saliency maps, an R1 penalty, and adversarial examples by FGSM and PGD."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import grad

torch.manual_seed(9)

model = nn.Sequential(
    nn.Conv2d(1, 6, 3), nn.Softplus(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 3), nn.Softplus(), nn.Flatten(),
    nn.Linear(12 * 4 * 4, 10),
)
images = torch.rand(16, 1, 14, 14)
labels = torch.randint(0, 10, (16,))


def r1_penalty(scores, inputs):
    (g,) = grad(outputs=scores.sum(), inputs=inputs, create_graph=True)
    return g.pow(2).reshape(g.shape[0], -1).sum(1).mean()


opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(3):
    inputs = images.clone().requires_grad_(True)
    logits = model(inputs)
    loss = F.cross_entropy(logits, labels) + 0.1 * r1_penalty(logits, inputs)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("with penalty", loss.item())


def fgsm_attack(image, epsilon, data_grad):
    perturbed = image + epsilon * data_grad.sign()
    return torch.clamp(perturbed, 0, 1)


def pgd(model, x, y, eps=0.1, alpha=0.03, iters=3):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(iters):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + alpha * delta.grad.detach().sign()).clamp(-eps, eps)
        delta.grad.zero_()
    return delta.detach()


model.eval()
data = images.clone()
data.requires_grad = True
output = model(data)
init_pred = output.max(1, keepdim=True)[1]
loss = F.cross_entropy(output, labels)
model.zero_grad()
loss.backward()
data_grad = data.grad.data
adversarial = fgsm_attack(data, 0.1, data_grad)
final_pred = model(adversarial).max(1, keepdim=True)[1]
print("changed by FGSM:", (init_pred != final_pred).sum().item())

delta = pgd(model, images, labels)
print("largest change:", delta.abs().max().item())

saliency, _ = torch.max(data_grad.abs(), dim=1)
print(saliency.shape, saliency.view(16, -1).argmax(dim=1)[:4])
