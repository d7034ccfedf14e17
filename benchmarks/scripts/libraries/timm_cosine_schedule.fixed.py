import timm
import torch
from timm.scheduler import CosineLRScheduler
from torch import nn

torch.manual_seed(0)
EPOCHS, STEPS = 10, 5
model = timm.create_model("resnet10t", pretrained=False, num_classes=3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = CosineLRScheduler(optimizer, t_initial=EPOCHS, lr_min=1e-5)

num_updates = 0
for epoch in range(EPOCHS):
    for _ in range(STEPS):
        images, labels = torch.rand(2, 3, 32, 32), torch.randint(0, 3, (2,))
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        num_updates += 1
        scheduler.step_update(num_updates=num_updates)
    scheduler.step(epoch + 1)
    print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.5f}")
