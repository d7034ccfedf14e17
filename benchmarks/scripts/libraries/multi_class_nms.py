import torch
from torchvision.ops import nms

boxes = torch.tensor([
    [10.0, 10.0, 60.0, 120.0],
    [12.0, 14.0, 62.0, 118.0],
    [11.0, 40.0, 66.0, 125.0],
    [150.0, 20.0, 220.0, 90.0],
])
scores = torch.tensor([0.92, 0.85, 0.81, 0.60])
labels = torch.tensor([1, 1, 2, 2])
names = {1: "person", 2: "bicycle"}


def postprocess(boxes, scores, labels, iou_threshold=0.4, score_threshold=0.5):
    keep = scores > score_threshold
    boxes, scores, labels = boxes[keep], scores[keep], labels[keep]
    keep = nms(boxes, scores, iou_threshold)
    return boxes[keep], scores[keep], labels[keep]


for box, score, label in zip(*postprocess(boxes, scores, labels)):
    print(names[label.item()], f"{score:.2f}", box.tolist())
