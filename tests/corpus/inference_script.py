"""Inference only: a checkpoint with metadata, preprocessing, batching by hand, top-k and confusion matrix."""
import os
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

LABELS = ["cat", "dog", "bird", "fish"]
MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def build_model(num_classes: int, width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 5, stride=4), nn.ReLU(), nn.Conv2d(width, 2 * width, 3), nn.ReLU(),
        nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(8 * width, num_classes),
    )


def save_checkpoint(path: Path) -> None:
    torch.manual_seed(0)
    model = build_model(len(LABELS), 8)
    torch.save({"width": 8, "labels": LABELS, "state_dict": model.state_dict()}, path)


def load_model(path: Path, device: torch.device) -> nn.Module:
    checkpoint = torch.load(path, map_location=device, weights_only=True)
    model = build_model(len(checkpoint["labels"]), checkpoint["width"])
    model.load_state_dict(checkpoint["state_dict"])
    return model.to(device).eval()


def preprocess(image: torch.Tensor, size: int = 48) -> torch.Tensor:
    """(3, H, W) bytes to a normalised (3, size, size) float tensor."""
    image = image.float().div(255).unsqueeze(0)
    image = nn.functional.interpolate(image, size=(size, size), mode="bilinear", align_corners=False)
    return (image.squeeze(0) - MEAN) / STD


@torch.inference_mode()
def predict(model, images, device, batch_size=3, k=2):
    results = []
    for start in range(0, len(images), batch_size):
        batch = torch.stack([preprocess(image) for image in images[start:start + batch_size]]).to(device)
        probabilities = model(batch).softmax(dim=1)
        top = probabilities.topk(k, dim=1)
        for values, indices in zip(top.values.tolist(), top.indices.tolist()):
            results.append([(LABELS[i], round(v, 3)) for v, i in zip(values, indices)])
    return results


def confusion(model, images, targets, device):
    matrix = torch.zeros(len(LABELS), len(LABELS), dtype=torch.int64)
    with torch.no_grad():
        for image, target in zip(images, targets):
            predicted = model(preprocess(image)[None].to(device)).argmax(dim=1).item()
            matrix[target, predicted] += 1
    return matrix


def main(argv):
    device = torch.device("cuda" if torch.cuda.is_available() and "--cpu" not in argv else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        save_checkpoint(path)
        print(os.path.getsize(path) > 1000)
        model = load_model(path, device)
    generator = torch.Generator().manual_seed(1)
    images = [torch.randint(0, 256, (3, 60 + 4 * i, 80), dtype=torch.uint8, generator=generator) for i in range(7)]
    for result in predict(model, images, device):
        print(result)
    matrix = confusion(model, images, [i % len(LABELS) for i in range(7)], device)
    print(matrix.diag().sum().item() / matrix.sum().item())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
