"""Sentiment with a packed bidirectional LSTM; helpers live in a package beside."""
import torch
import torch.nn as nn

from sentiment_lib import SentimentDataset, Vocab, collate_batch
from sentiment_lib.model import BiLSTM

GOOD = "what a great film|loved every minute|great acting and a great story|a warm and funny film|i loved it".split("|")
BAD = "what a boring film|i hated every minute of it|bad acting|a cold and boring story|bad".split("|")


def binary_accuracy(preds, y):
    rounded = torch.round(torch.sigmoid(preds))
    return (rounded == y).float().sum() / len(rounded)


torch.manual_seed(5)
vocab = Vocab.build(GOOD + BAD, min_freq=1)
dataset = SentimentDataset([(t, 1) for t in GOOD] + [(t, 0) for t in BAD], vocab)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True, collate_fn=collate_batch)
model = BiLSTM(len(vocab), embedding_dim=16, hidden_dim=12, output_dim=1, n_layers=2, dropout=0.2, pad_idx=vocab.pad)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(3):
    epoch_loss, epoch_acc = 0, 0
    for text, lengths, labels in loader:
        optimizer.zero_grad()
        predictions = model(text, lengths).squeeze(1)
        loss = criterion(predictions, labels)
        acc = binary_accuracy(predictions, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        epoch_loss += loss.item()
        epoch_acc += acc.item()
    print(f"epoch {epoch}: loss {epoch_loss / len(loader):.3f} acc {epoch_acc / len(loader):.2f}")
