import torch
from torch import nn
from torchvision.models import inception_v3

torch.manual_seed(0)
model = inception_v3(weights=None, init_weights=False, aux_logits=True)
model.fc = nn.Linear(model.fc.in_features, 3)
model.AuxLogits.fc = nn.Linear(model.AuxLogits.fc.in_features, 3)

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
images = torch.rand(2, 3, 299, 299)
labels = torch.tensor([0, 2])

model.train()
optimizer.zero_grad()
outputs = model(images)
loss = criterion(outputs, labels)
loss.backward()
optimizer.step()
print(loss.item())
