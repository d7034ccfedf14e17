"""The decoder shares the weights of the embedding, but the hidden size is another one."""

import torch
import torch.nn as nn


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight  # cause
        self.ntoken = ntoken

    def forward(self, tokens):
        embedded = self.drop(self.encoder(tokens))
        output, _ = self.rnn(embedded)
        decoded = self.decoder(self.drop(output))  # raises TS101 at self.decoder(self.drop(output))
        return decoded.view(-1, self.ntoken)


model = RNNModel(ntoken=90, ninp=24, nhid=48, nlayers=2, tie_weights=True)  # cause
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for batch in range(3):
    data = torch.randint(0, 90, (20, 8))
    targets = torch.randint(0, 90, (20, 8))
    optimizer.zero_grad()
    loss = criterion(model(data), targets.view(-1))
    loss.backward()
    optimizer.step()
