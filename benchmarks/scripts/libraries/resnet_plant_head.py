import torch
from torch import nn
from torchvision.models import resnet18

torch.manual_seed(0)
num_species = 12
model = resnet18(weights=None)
model.classifier = nn.Linear(model.fc.in_features, num_species)
optimizer = torch.optim.Adam(model.classifier.parameters(), lr=1e-3)

images = torch.rand(24, 3, 64, 64)
species = torch.randint(0, num_species, (24,))
model.train()
for epoch in range(6):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), species)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
