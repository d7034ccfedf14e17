"""fx, jit, export, compile, vmap, functional_call, make_fx: what is traced is the same."""
import torch, warnings
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
warnings.simplefilter("ignore")
class Block(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(4, 4)
    def forward(self, x, scale: int = 2):
        y = self.fc(x) * scale
        if y.shape[0] > 2:
            y = y[:2]
        return torch.cat([y, y + 1], dim=0)
torch.manual_seed(0)
block = Block()
print(torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).code)
print(torch.jit.script(block).graph)
print(torch.jit.trace(block, torch.ones(3, 4)).code)
exported = torch.export.export(block, (torch.ones(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
print(exported.graph_module.code)
print(make_fx(lambda x: (x * 2 + x.shape[0]).sum(), tracing_mode="symbolic")(torch.ones(5, 4)).code)
seen = []
def backend(gm, inputs):
    seen.append(gm.code); return gm.forward
compiled = torch.compile(lambda x: block(x) @ torch.ones(4, 1), backend=backend)
print(compiled(torch.ones(3, 4)).shape, compiled(torch.ones(6, 4)).shape, len(seen)); print(*seen)
print(torch.func.vmap(lambda v: (v * 2).sum())(torch.ones(3, 2)), torch.func.grad(lambda v: (v ** 2).sum())(torch.ones(2)))
print(torch.func.jacrev(lambda v: v * v)(torch.ones(2)))
import torch._dynamo
print(torch._dynamo.explain(lambda x: block(x))(torch.ones(3, 4)).graph_break_count)
