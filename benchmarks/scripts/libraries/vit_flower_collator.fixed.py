import torch
from torchvision.transforms import v2
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification

augment = v2.Compose([v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.5] * 3)])
flowers = [
    {"image": torch.randint(0, 256, (3, 32, 32), dtype=torch.uint8), "label": i % 4} for i in range(32)
]


def collate(examples):
    return {
        "pixel_values": torch.stack([augment(e["image"]) for e in examples]),
        "labels": torch.tensor([e["label"] for e in examples]),
    }


config = ViTConfig(
    image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=64, num_labels=4,
)
args = TrainingArguments(
    output_dir="flowers", max_steps=3, per_device_train_batch_size=8, save_strategy="no", report_to="none", use_cpu=True,
    remove_unused_columns=False,
)
trainer = Trainer(
    model=ViTForImageClassification(config), args=args, train_dataset=flowers, data_collator=collate
)
trainer.train()
