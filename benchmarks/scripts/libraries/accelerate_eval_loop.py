import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
eval_set = TensorDataset(torch.randn(40, 5), torch.randint(0, 3, (40,)))
eval_loader = DataLoader(eval_set, batch_size=8)
classifier = torch.nn.Linear(5, 3)

classifier = accelerator.prepare(classifier, eval_loader)

classifier.eval()
correct = 0
with torch.no_grad():
    for x, y in eval_loader:
        correct += (classifier(x).argmax(dim=1) == y).sum().item()
print("accuracy", correct / len(eval_set))
