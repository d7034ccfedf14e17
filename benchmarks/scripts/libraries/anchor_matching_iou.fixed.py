import torch
from torchvision.ops import box_convert, box_iou


def grid_anchors(size, stride, side):
    centers = torch.arange(stride / 2, size, stride)
    cy, cx = torch.meshgrid(centers, centers, indexing="ij")
    wh = torch.full((cx.numel(), 2), float(side))
    return torch.cat([torch.stack([cx.flatten(), cy.flatten()], dim=1), wh], dim=1)


anchors = grid_anchors(size=128, stride=16, side=40)
ground_truth = torch.tensor([[56.0, 72.0, 44.0, 36.0], [104.0, 24.0, 30.0, 42.0]])
iou = box_iou(box_convert(anchors, "cxcywh", "xyxy"), box_convert(ground_truth, "cxcywh", "xyxy"))
best_iou, matched = iou.max(dim=1)
positive = best_iou > 0.5
print(f"{int(positive.sum())} positive anchors, matched to {matched[positive].tolist()}")
