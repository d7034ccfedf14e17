"""torch.fx: symbolic traces, symbolic sizes, rewritten graphs, exported programs."""
import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx


def f(x):
    y = x.reshape(x.shape[0] * 2, -1)
    return y.sum(dim=0) * y.size(0)


class Net(torch.nn.Module):
    def forward(self, x):
        z = f(x) + 1
        return z / z.norm()


graph = make_fx(f, tracing_mode="symbolic")(torch.ones(2, 6))
print(graph.code, graph(torch.ones(3, 4)))
traced = fx.symbolic_trace(Net())
for node in traced.graph.nodes:
    if node.op == "call_method" and node.target == "norm":
        node.target = "sum"
traced.recompile()
print(traced.code, traced(torch.ones(2, 2)))
program = torch.export.export(Net(), (torch.ones(4, 2),), dynamic_shapes={"x": {0: torch.export.Dim("n", min=2, max=9)}})
print(program.graph, program.module()(torch.ones(3, 2)))
