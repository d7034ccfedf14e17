"""River levels hour by hour; the loss leaves out the hours that a record has not."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Levels(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.rnn = nn.LSTM(3, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, rain, hours):
        packed = pack_padded_sequence(rain, hours, batch_first=True, enforce_sorted=False)
        states, _ = self.rnn(packed)
        whole, _ = pad_packed_sequence(states, batch_first=True)  # cause
        return self.out(whole).squeeze(-1)


def records(n=10, longest=24):
    hours = torch.randint(6, 20, (n,))
    there = torch.arange(longest) < hours[:, None]
    return torch.rand(n, longest, 3), torch.rand(n, longest), hours, there


def error(level, wanted, there):
    return ((level - wanted).square() * there).sum() / there.sum()  # raises TS103 at level - wanted


def main():
    torch.manual_seed(0)
    net = Levels()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(3):
        rain, wanted, hours, there = records()
        loss = error(net(rain, hours), wanted, there)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
