import timm
import torch
from torch import nn

torch.manual_seed(0)
model = timm.create_model("resnet18", pretrained=False, num_classes=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

scans = torch.rand(16, 64, 64)
diagnosis = torch.randint(0, 2, (16,))
dataset = torch.utils.data.TensorDataset(scans.unsqueeze(1), diagnosis)

model.train()
for images, labels in torch.utils.data.DataLoader(dataset, batch_size=8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    print(loss.item())
