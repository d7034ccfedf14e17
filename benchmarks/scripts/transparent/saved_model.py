"""A whole model is saved, and loaded from the file."""
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)


torch.manual_seed(0)
torch.save(Net(), "net.pt")
torch.save(Net().state_dict(), "state.pt")
print(torch.load("net.pt", weights_only=False).fc.weight, sorted(torch.load("state.pt")))
