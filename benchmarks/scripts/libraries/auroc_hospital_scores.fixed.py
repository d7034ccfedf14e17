import torch
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.functional.classification import binary_auroc
from torchmetrics.classification import BinaryAUROC

torch.manual_seed(0)
n = 240
risk = torch.rand(n)
hospital = torch.arange(n) // 60
score = (risk + hospital * 0.5).clamp(0, 2) / 2
label = (torch.rand(n) < risk ** 2).long()
loader = DataLoader(TensorDataset(score, label), batch_size=60)

metric = BinaryAUROC()
for preds, target in loader:
    metric.update(preds, target)
print(f"AUROC {metric.compute():.4f} on {n} patients")
