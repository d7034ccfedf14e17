"""A CTC recogniser: log-mel-like features, convolutional subsampling, BiGRU, greedy decoding, edit distance."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

CHARS = "_abcdef"
N_MELS = 12


def make_utterance(generator):
    length = int(torch.randint(3, 6, (1,), generator=generator))
    label = torch.randint(1, len(CHARS), (length,), generator=generator)
    frames = [F.one_hot(c, N_MELS).float().repeat(6, 1) for c in label]
    spec = torch.cat(frames) + 0.1 * torch.randn(6 * length, N_MELS, generator=generator)
    return spec, label


def collate(samples):
    specs = [s for s, _ in samples]
    labels = [l for _, l in samples]
    input_lengths = torch.tensor([s.shape[0] // 2 for s in specs])
    label_lengths = torch.tensor([len(l) for l in labels])
    specs = pad_sequence(specs, batch_first=True).unsqueeze(1).transpose(2, 3)
    return specs, pad_sequence(labels, batch_first=True), input_lengths, label_lengths


class CNNLayerNorm(nn.Module):
    def __init__(self, n_feats):
        super().__init__()
        self.layer_norm = nn.LayerNorm(n_feats)

    def forward(self, x):
        x = x.transpose(2, 3).contiguous()
        x = self.layer_norm(x)
        return x.transpose(2, 3).contiguous()


class ResidualCNN(nn.Module):
    def __init__(self, channels, n_feats, dropout=0.1):
        super().__init__()
        self.norm1, self.norm2 = CNNLayerNorm(n_feats), CNNLayerNorm(n_feats)
        self.cnn1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.cnn2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        residual = x
        x = self.cnn1(self.dropout(F.gelu(self.norm1(x))))
        x = self.cnn2(self.dropout(F.gelu(self.norm2(x))))
        x += residual
        return x


class SpeechModel(nn.Module):
    def __init__(self, n_class, n_feats, rnn_dim=24):
        super().__init__()
        n_feats = n_feats // 2
        self.cnn = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.rescnn_layers = nn.Sequential(*[ResidualCNN(8, n_feats) for _ in range(2)])
        self.fully_connected = nn.Linear(n_feats * 8, rnn_dim)
        self.rnn = nn.GRU(rnn_dim, rnn_dim, batch_first=True, bidirectional=True)
        self.classifier = nn.Sequential(nn.Linear(2 * rnn_dim, rnn_dim), nn.GELU(), nn.Linear(rnn_dim, n_class))

    def forward(self, x):
        x = self.cnn(x)
        x = self.rescnn_layers(x)
        sizes = x.size()
        x = x.view(sizes[0], sizes[1] * sizes[2], sizes[3])  # (batch, feature, time)
        x = x.transpose(1, 2)  # (batch, time, feature)
        x = self.fully_connected(x)
        x, _ = self.rnn(x)
        return self.classifier(x)


def greedy(output, blank=0):
    best = torch.argmax(output, dim=2)
    decoded = []
    for row in best:
        collapsed = torch.unique_consecutive(row)
        decoded.append("".join(CHARS[i] for i in collapsed.tolist() if i != blank))
    return decoded


def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]


torch.manual_seed(0)
g = torch.Generator().manual_seed(0)
loader = DataLoader([make_utterance(g) for _ in range(24)], batch_size=8, collate_fn=collate)
model = SpeechModel(len(CHARS), N_MELS)
optimizer = torch.optim.AdamW(model.parameters(), 5e-3)
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
for epoch in range(2):
    for specs, labels, input_lengths, label_lengths in loader:
        optimizer.zero_grad()
        output = model(specs)
        output = F.log_softmax(output, dim=2)
        output = output.transpose(0, 1)  # (time, batch, n_class)
        loss = criterion(output, labels, input_lengths, label_lengths)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
model.eval()
with torch.no_grad():
    specs, labels, _, label_lengths = next(iter(loader))
    texts = greedy(model(specs))
    truth = ["".join(CHARS[i] for i in row[:n]) for row, n in zip(labels.tolist(), label_lengths)]
    print(sum(edit_distance(a, b) for a, b in zip(texts, truth)) / sum(map(len, truth)))
