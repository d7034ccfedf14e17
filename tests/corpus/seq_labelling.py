"""Sequence labelling with a BiLSTM-CRF: forward algorithm, Viterbi, character features, padded batches with masks."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

TAGS = {"<pad>": 0, "O": 1, "B": 2, "I": 3}


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.num_tags = num_tags
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags).uniform_(-0.1, 0.1))
        self.start = nn.Parameter(torch.zeros(num_tags))
        self.end = nn.Parameter(torch.zeros(num_tags))

    def forward(self, emissions, tags, mask):
        """emissions: (B, T, K); tags, mask: (B, T). Returns the mean negative log-likelihood."""
        return (self.normalizer(emissions, mask) - self.score(emissions, tags, mask)).mean()

    def score(self, emissions, tags, mask):
        batch, length, _ = emissions.shape
        rows = torch.arange(batch)
        total = self.start[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
        for t in range(1, length):
            step = self.transitions[tags[:, t - 1], tags[:, t]] + emissions[rows, t, tags[:, t]]
            total = total + step * mask[:, t]
        last = mask.long().sum(dim=1) - 1
        return total + self.end[tags[rows, last]]

    def normalizer(self, emissions, mask):
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.size(1)):
            scores = alpha.unsqueeze(2) + self.transitions + emissions[:, t].unsqueeze(1)
            new_alpha = torch.logsumexp(scores, dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1).bool(), new_alpha, alpha)
        return torch.logsumexp(alpha + self.end, dim=1)

    @torch.no_grad()
    def decode(self, emissions, mask):
        batch, length, _ = emissions.shape
        score = self.start + emissions[:, 0]
        history = []
        for t in range(1, length):
            best, index = (score.unsqueeze(2) + self.transitions).max(dim=1)
            score = torch.where(mask[:, t].unsqueeze(1).bool(), best + emissions[:, t], score)
            history.append(index)
        paths = []
        lengths = mask.long().sum(dim=1).tolist()
        for b in range(batch):
            tag = int((score[b] + self.end).argmax())
            path = [tag]
            for index in reversed(history[: lengths[b] - 1]):
                tag = int(index[b, tag])
                path.append(tag)
            paths.append(path[::-1])
        return paths


class Tagger(nn.Module):
    def __init__(self, vocab, n_chars, tags, dim=16, char_dim=8, hidden=12):
        super().__init__()
        self.words = nn.Embedding(vocab, dim, padding_idx=0)
        self.chars = nn.Embedding(n_chars, char_dim, padding_idx=0)
        self.char_cnn = nn.Conv1d(char_dim, char_dim, 3, padding=1)
        self.lstm = nn.LSTM(dim + char_dim, hidden, bidirectional=True, batch_first=True)
        self.emit = nn.Linear(2 * hidden, tags)
        self.crf = CRF(tags)

    def emissions(self, words, chars, lengths):
        b, t, c = chars.shape
        char_feats = self.char_cnn(self.chars(chars.view(b * t, c)).transpose(1, 2)).max(dim=-1).values
        x = torch.cat([self.words(words), char_feats.view(b, t, -1)], dim=-1)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.emit(output)

    def forward(self, words, chars, lengths, tags):
        return self.crf(self.emissions(words, chars, lengths), tags, (words != 0).float())


def batch(n=6):
    lengths = torch.randint(4, 9, (n,))
    words = pad_sequence([torch.randint(1, 40, (l,)) for l in lengths.tolist()], batch_first=True)
    chars = torch.randint(1, 20, (*words.shape, 5))
    tags = torch.where(words % 5 == 0, TAGS["B"], TAGS["O"]).masked_fill(words == 0, TAGS["<pad>"])
    return words, chars, lengths, tags


torch.manual_seed(0)
model = Tagger(40, 20, len(TAGS))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(4):
    words, chars, lengths, tags = batch()
    loss = model(words, chars, lengths, tags)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 5.0)
    optimizer.step()
    print(step, loss.item())
model.eval()
words, chars, lengths, tags = batch(3)
with torch.no_grad():
    paths = model.crf.decode(model.emissions(words, chars, lengths), (words != 0).float())
hits = sum(int(p == t) for path, row in zip(paths, tags.tolist()) for p, t in zip(path, row))
print(hits, [len(p) for p in paths])
