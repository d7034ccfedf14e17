import torch
from torch import nn
from torchvision.models import mobilenet_v3_small

torch.manual_seed(0)
model = mobilenet_v3_small(weights=None)
model.classifier[-1] = nn.Linear(model.classifier[-1].in_features, 5)

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images = torch.rand(16, 3, 64, 64)
labels = torch.randint(0, 5, (16,))
model.train()
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    probabilities = model(images).softmax(dim=1)
print(f"loss {loss.item():.3f}, first prediction {probabilities[0].argmax().item()}")
