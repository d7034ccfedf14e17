"""A siamese network with a triplet loss: one encoder for three pictures."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Triplets(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        return torch.randn(1, 28, 28), torch.randn(1, 28, 28), torch.randn(1, 28, 28)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 5), nn.PReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 5), nn.PReLU(), nn.MaxPool2d(2)
        )
        self.fc = nn.Linear(32 * 4 * 4, 64)

    def forward(self, x):
        x = self.conv(x)
        return nn.functional.normalize(self.fc(x.flatten(1)), dim=1)


encoder = Encoder()
criterion = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3, amsgrad=True)
for anchor, positive, negative in DataLoader(Triplets(), batch_size=32):
    loss = criterion(encoder(anchor), encoder(positive), encoder(negative))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
