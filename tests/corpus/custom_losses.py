"""Loss functions as modules and functions: focal, dice, Tversky, contrastive, quantile, ArcFace margins, ranking."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, alpha=None, gamma=2.0, reduction="mean"):
        super().__init__()
        self.gamma = gamma
        self.reduction = reduction
        self.register_buffer("alpha", None if alpha is None else torch.tensor(alpha))

    def forward(self, logits, target):
        ce_loss = F.cross_entropy(logits, target, weight=self.alpha, reduction="none")
        pt = torch.exp(-ce_loss)
        loss = (1 - pt) ** self.gamma * ce_loss
        if self.reduction == "mean":
            return loss.mean()
        elif self.reduction == "sum":
            return loss.sum()
        return loss


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        num_classes = logits.shape[1]
        probs = F.softmax(logits, dim=1)
        onehot = F.one_hot(target, num_classes).permute(0, 3, 1, 2).float()
        dims = (0, 2, 3)
        intersection = torch.sum(probs * onehot, dims)
        cardinality = torch.sum(probs + onehot, dims)
        dice = (2.0 * intersection + self.smooth) / (cardinality + self.smooth)
        return 1 - dice.mean()


def tversky(logits, target, alpha=0.3, beta=0.7, eps=1e-7):
    p = torch.sigmoid(logits).flatten()
    t = target.flatten()
    tp = (p * t).sum()
    fp = (p * (1 - t)).sum()
    fn = ((1 - p) * t).sum()
    return 1 - tp / (tp + alpha * fp + beta * fn + eps)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean((1 - label) * distance.pow(2) + label * torch.clamp(self.margin - distance, min=0.0).pow(2))


class QuantileLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.quantiles = quantiles

    def forward(self, preds, target):
        assert not target.requires_grad
        assert preds.size(0) == target.size(0)
        losses = []
        for i, q in enumerate(self.quantiles):
            errors = target - preds[:, i]
            losses.append(torch.max((q - 1) * errors, q * errors).unsqueeze(1))
        return torch.mean(torch.sum(torch.cat(losses, dim=1), dim=1))


class ArcMargin(nn.Module):
    def __init__(self, in_features, out_features, s=16.0, m=0.3):
        super().__init__()
        self.s = s
        self.weight = nn.Parameter(torch.FloatTensor(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.cos_m, self.sin_m = math.cos(m), math.sin(m)
        self.th, self.mm = math.cos(math.pi - m), math.sin(math.pi - m) * m

    def forward(self, input, label):
        cosine = F.linear(F.normalize(input), F.normalize(self.weight))
        sine = torch.sqrt((1.0 - torch.pow(cosine, 2)).clamp(1e-6, 1))
        phi = cosine * self.cos_m - sine * self.sin_m
        phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        one_hot = torch.zeros(cosine.size(), device=input.device)
        one_hot.scatter_(1, label.view(-1, 1).long(), 1)
        output = (one_hot * phi) + ((1.0 - one_hot) * cosine)
        output *= self.s
        return output


def listnet(scores, relevance):
    return -(relevance.softmax(dim=-1) * scores.log_softmax(dim=-1)).sum(dim=-1).mean()


class CombinedLoss(nn.Module):
    def __init__(self, losses, weights):
        super().__init__()
        self.losses = nn.ModuleList(losses)
        self.weights = weights

    def forward(self, *args):
        return sum(w * loss(*args) for w, loss in zip(self.weights, self.losses))


torch.manual_seed(0)
segmenter = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU())
margin_head = ArcMargin(16, 5)
forecaster = nn.Linear(16, 3)
binary = nn.Linear(16, 1)
modules = nn.ModuleList([segmenter, encoder, margin_head, forecaster, binary])
combined = CombinedLoss([FocalLoss(alpha=[0.2, 0.3, 0.5]), DiceLoss()], [1.0, 0.5])
contrastive, quantile = ContrastiveLoss(2.0), QuantileLoss([0.1, 0.5, 0.9])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)
for step in range(3):
    images = torch.rand(6, 1, 8, 8)
    masks = (images[:, 0] * 3).long().clamp(0, 2)
    labels = torch.randint(0, 5, (6,))
    z1, z2 = encoder(images), encoder(images.flip(-1))
    same = torch.randint(0, 2, (6, 1)).float()
    parts = {
        "segmentation": combined(segmenter(images), masks),
        "margin": F.cross_entropy(margin_head(z1, labels), labels),
        "contrastive": contrastive(z1, z2, same),
        "quantile": quantile(forecaster(z1), images.mean(dim=(1, 2, 3))),
        "tversky": tversky(binary(z1), same),
        "listnet": listnet(binary(z1).view(2, 3), torch.rand(2, 3)),
    }
    loss = torch.stack(list(parts.values())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, {name: round(value.item(), 3) for name, value in parts.items()})
