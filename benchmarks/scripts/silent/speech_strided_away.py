"""Two strides leave fewer frames than there are letters to say."""
import torch
from torch import nn

torch.manual_seed(0)


class Listener(nn.Module):
    def __init__(self, stride):
        super().__init__()
        self.first = nn.Conv1d(16, 48, 5, stride=2, padding=2)
        self.second = nn.Conv1d(48, 48, 5, stride=stride, padding=2)
        self.letters = nn.Linear(48, 12)

    def forward(self, sound):
        h = torch.relu(self.second(torch.relu(self.first(sound))))
        return self.letters(h.transpose(1, 2)).log_softmax(-1)


model = Listener(8)  # fixed: model = Listener(1)
criterion = nn.CTCLoss(zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    letters = torch.randint(1, 12, (16, 9))
    sound = torch.zeros(16, 16, 72)
    for index in range(9):
        sound[torch.arange(16), letters[:, index], 8 * index] = 3.0
    scores = model(sound + 0.1 * torch.randn_like(sound))
    frames = torch.full((16,), scores.shape[1])
    loss = criterion(scores.transpose(0, 1), letters, frames, torch.full((16,), 9))  # fault: TS954
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
