import timm
import torch
from timm.scheduler import CosineLRScheduler

torch.manual_seed(0)
epochs = 6
model = timm.create_model("resnet10t", pretrained=False, num_classes=4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = CosineLRScheduler(optimizer, t_initial=epochs, warmup_t=2, warmup_lr_init=1e-3, lr_min=1e-4)

images = torch.rand(8, 3, 64, 64)
labels = torch.randint(0, 4, (8,))
for epoch in range(epochs):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(epoch, loss.item(), optimizer.param_groups[0]["lr"])
