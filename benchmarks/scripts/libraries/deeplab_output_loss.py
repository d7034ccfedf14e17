import torch
from torch import nn
from torchvision.models.segmentation import lraspp_mobilenet_v3_large

torch.manual_seed(0)
model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4)
criterion = nn.CrossEntropyLoss(ignore_index=255)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

images = torch.rand(2, 3, 96, 96)
masks = torch.randint(0, 4, (2, 96, 96))
masks[:, :4] = 255

model.train()
for step in range(2):
    optimizer.zero_grad()
    outputs = model(images)
    loss = criterion(outputs, masks)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
