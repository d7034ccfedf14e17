import torch
from torch import nn
from torchvision.models import inception_v3

model = inception_v3(weights=None, num_classes=5, init_weights=False)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

inputs = torch.rand(2, 3, 299, 299)
labels = torch.tensor([0, 3])

model.train()
outputs, aux_outputs = model(inputs)
loss = criterion(outputs, labels) + 0.4 * criterion(aux_outputs, labels)
optimizer.zero_grad()
loss.backward()
optimizer.step()
print("loss", loss.item())
