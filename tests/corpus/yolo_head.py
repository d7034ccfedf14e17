"""A grid detector in the manner of YOLO: anchors, target assignment, composite loss, decoding and suppression."""
import torch
import torch.nn as nn
import torch.nn.functional as F

S = 4          # cells per side
NUM_CLASSES = 3
ANCHORS = torch.tensor([[0.2, 0.2], [0.5, 0.4]])
A = len(ANCHORS)
IMG = 32


def conv_bn(inp, out, stride=1):
    return nn.Sequential(
        nn.Conv2d(inp, out, 3, stride, 1, bias=False),
        nn.BatchNorm2d(out),
        nn.LeakyReLU(0.1, inplace=True),
    )


class TinyYolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(conv_bn(3, 8, 2), conv_bn(8, 16, 2), conv_bn(16, 32, 2))
        self.head = nn.Conv2d(32, A * (5 + NUM_CLASSES), 1)

    def forward(self, x):
        n = x.shape[0]
        y = self.head(self.backbone(x))
        y = y.view(n, A, 5 + NUM_CLASSES, S, S)
        return y.permute(0, 1, 3, 4, 2)  # n, A, S, S, 5 + C


def box_iou(a, b):
    """a: (N, 4), b: (M, 4) as x1 y1 x2 y2 → (N, M)"""
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b[None, :] - inter + 1e-6)


def nms(boxes, scores, threshold=0.5):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][iou <= threshold]
    return keep


def encode(targets):
    """targets: list of (k, 5) tensors: class, cx, cy, w, h in [0, 1]"""
    n = len(targets)
    out = torch.zeros(n, A, S, S, 5 + NUM_CLASSES)
    for b, boxes in enumerate(targets):
        for cls, cx, cy, w, h in boxes.tolist():
            col, row = min(int(cx * S), S - 1), min(int(cy * S), S - 1)
            ratios = torch.stack([torch.tensor([w, h]) / anchor for anchor in ANCHORS])
            best = int((ratios - 1).abs().sum(dim=1).argmin())
            cell = out[b, best, row, col]
            cell[0] = 1.0
            cell[1:5] = torch.tensor([cx * S - col, cy * S - row, w, h])
            cell[5 + int(cls)] = 1.0
    return out


class YoloLoss(nn.Module):
    def __init__(self, lambda_coord=5.0, lambda_noobj=0.5):
        super().__init__()
        self.lambda_coord = lambda_coord
        self.lambda_noobj = lambda_noobj
        self.bce = nn.BCEWithLogitsLoss()
        self.mse = nn.MSELoss()

    def forward(self, pred, target):
        obj = target[..., 0] == 1
        noobj = ~obj
        conf_loss = self.bce(pred[..., 0][obj], target[..., 0][obj])
        noobj_loss = self.bce(pred[..., 0][noobj], target[..., 0][noobj])
        xy = torch.sigmoid(pred[..., 1:3])
        wh = pred[..., 3:5].exp().clamp(max=4) * ANCHORS.view(1, A, 1, 1, 2)
        boxes = torch.cat([xy, wh], dim=-1)
        coord_loss = self.mse(boxes[obj], target[..., 1:5][obj])
        class_loss = F.cross_entropy(pred[..., 5:][obj], target[..., 5:][obj].argmax(-1))
        return self.lambda_coord * coord_loss + conf_loss + self.lambda_noobj * noobj_loss + class_loss


def decode(pred, conf=0.3):
    grid_y, grid_x = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")
    scores = pred[..., 0].sigmoid()
    cx = (pred[..., 1].sigmoid() + grid_x) / S
    cy = (pred[..., 2].sigmoid() + grid_y) / S
    w = pred[..., 3].exp().clamp(max=4) * ANCHORS[:, 0].view(1, A, 1, 1)
    h = pred[..., 4].exp().clamp(max=4) * ANCHORS[:, 1].view(1, A, 1, 1)
    boxes = torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], dim=-1).flatten(1, 3)
    labels = pred[..., 5:].argmax(-1).flatten(1)
    results = []
    for box, score, label in zip(boxes, scores.flatten(1), labels):
        mask = score > conf
        kept = nms(box[mask], score[mask])
        results.append((box[mask][kept], score[mask][kept], label[mask][kept]))
    return results


torch.manual_seed(3)
model = TinyYolo()
criterion = YoloLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    images = torch.rand(4, 3, IMG, IMG)
    targets = [
        torch.cat([torch.randint(0, NUM_CLASSES, (2, 1)).float(), torch.rand(2, 4) * 0.5 + 0.2], dim=1)
        for _ in range(4)
    ]
    loss = criterion(model(images), encode(targets))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))

model.eval()
with torch.no_grad():
    for boxes, scores, labels in decode(model(torch.rand(2, 3, IMG, IMG))):
        print(boxes.shape, scores.shape, labels.shape)
