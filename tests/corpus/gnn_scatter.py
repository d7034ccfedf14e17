"""Message passing on a random graph with index_add_ and scatter; node classification with a mask."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def scatter_mean(src, index, dim_size):
    out = torch.zeros(dim_size, src.size(1), dtype=src.dtype, device=src.device)
    out.index_add_(0, index, src)
    count = torch.zeros(dim_size, dtype=src.dtype, device=src.device)
    count.scatter_add_(0, index, torch.ones_like(index, dtype=src.dtype))
    return out / count.clamp(min=1).unsqueeze(-1)


class SAGEConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin_self = nn.Linear(in_channels, out_channels)
        self.lin_neigh = nn.Linear(in_channels, out_channels, bias=False)

    def forward(self, x, edge_index):
        row, col = edge_index
        agg = scatter_mean(x[row], col, x.size(0))
        return self.lin_self(x) + self.lin_neigh(agg)


class GATConv(nn.Module):
    def __init__(self, in_channels, out_channels, heads=2):
        super().__init__()
        self.heads, self.out_channels = heads, out_channels
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, out_channels) * 0.1)
        self.att_dst = nn.Parameter(torch.randn(1, heads, out_channels) * 0.1)

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        h = self.lin(x).view(-1, self.heads, self.out_channels)
        score = (h * self.att_src).sum(-1)[src] + (h * self.att_dst).sum(-1)[dst]
        score = F.leaky_relu(score, 0.2).exp()
        total = torch.zeros(x.size(0), self.heads).index_add_(0, dst, score)
        alpha = score / (total[dst] + 1e-9)
        out = torch.zeros(x.size(0), self.heads, self.out_channels)
        out = out.index_add(0, dst, h[src] * alpha.unsqueeze(-1))
        return out.reshape(-1, self.heads * self.out_channels)


class GNN(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.conv1 = SAGEConv(features, hidden)
        self.conv2 = GATConv(hidden, hidden, heads=2)
        self.out = nn.Linear(2 * hidden, classes)

    def forward(self, x, edge_index):
        x = F.relu(self.conv1(x, edge_index))
        x = F.dropout(x, p=0.5, training=self.training)
        x = F.elu(self.conv2(x, edge_index))
        return self.out(x)


torch.manual_seed(0)
num_nodes, num_edges = 60, 240
x = torch.randn(num_nodes, 12)
edge_index = torch.randint(0, num_nodes, (2, num_edges))
y = torch.randint(0, 3, (num_nodes,))
train_mask = torch.zeros(num_nodes, dtype=torch.bool)
train_mask[:40] = True

model = GNN(12, 8, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def train():
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    model.eval()
    pred = model(x, edge_index).argmax(dim=-1)
    return [int((pred[mask] == y[mask]).sum()) / int(mask.sum()) for mask in (train_mask, ~train_mask)]


for epoch in range(1, 11):
    loss = train()
train_acc, test_acc = test()
print(f"loss {loss:.3f} train {train_acc:.2f} test {test_acc:.2f}")
