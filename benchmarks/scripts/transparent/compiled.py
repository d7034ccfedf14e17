"""torch.compile with recompilations, graph breaks and counters."""
import torch
import torch._dynamo.testing

counted = torch._dynamo.testing.CompileCounter()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x, flag=True):
        y = self.fc(x).relu()
        if flag:
            y = y * y.shape[0]
        print("break")
        return helper(y)[:, :2]


def helper(y):
    z = [y + i for i in range(2)]
    return z[0] + z[1]


torch.manual_seed(0)
net = Net()
compiled = torch.compile(net, backend=counted)
for size in (2, 4, 4):
    print(compiled(torch.ones(size, 3)).sum().item())
print(compiled(torch.ones(2, 3), False).shape, counted.frame_count, counted.op_count)
print(dict(torch._dynamo.utils.counters["graph_break"]), torch._dynamo.utils.counters["stats"])
explained = torch._dynamo.explain(helper)(torch.ones(2, 3))
print(explained.graph_count, explained.graph_break_count, explained.op_count)
