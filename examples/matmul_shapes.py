"""A softmax classifier written with a bare matrix product; the weights were sized for other features."""

import torch
import torch.nn.functional as F


def make_batch():
    centres = torch.randn(10, 512)
    labels = torch.randint(0, 10, (32,))
    return centres[labels] + 0.5 * torch.randn(32, 512), labels


def main():
    torch.manual_seed(0)
    features, labels = make_batch()
    weight = torch.zeros(256, 10, requires_grad=True)
    bias = torch.zeros(10, requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for step in range(20):
        optimizer.zero_grad()
        scores = torch.mm(features, weight) + bias
        loss = F.cross_entropy(scores, labels)
        loss.backward()
        optimizer.step()
    accuracy = (scores.argmax(dim=1) == labels).float().mean()
    print(f"loss {loss.item():.3f}, accuracy {accuracy.item():.2f}")


if __name__ == "__main__":
    main()
