import timm
import torch
from timm.scheduler import CosineLRScheduler

torch.manual_seed(0)
epochs, steps_per_epoch = 3, 10
model = timm.create_model("mobilenetv3_small_050", pretrained=False, num_classes=3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = CosineLRScheduler(
    optimizer,
    t_initial=epochs * steps_per_epoch,
    lr_min=1e-6,
)

num_updates = 0
history = []
for epoch in range(epochs):
    for _ in range(steps_per_epoch):
        images, labels = torch.rand(4, 3, 32, 32), torch.randint(0, 3, (4,))
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        num_updates += 1
        scheduler.step_update(num_updates=num_updates)
        history.append(optimizer.param_groups[0]["lr"])
print(f"loss {loss.item():.3f}")
