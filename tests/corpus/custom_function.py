"""torch.autograd.Function: a straight-through binary layer, a clamped exponential, and a gradient reversal."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


class SignSTE(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input


class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lambd, None


class MyLinear(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class BinaryLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, SignSTE.apply(self.weight), self.bias)


class CustomLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.bias = nn.Parameter(torch.empty(out_features))
        nn.init.uniform_(self.weight, -0.1, 0.1)
        nn.init.uniform_(self.bias, -0.1, 0.1)

    def forward(self, input):
        return MyLinear.apply(input, self.weight, self.bias)


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(CustomLinear(8, 24), nn.Tanh(), BinaryLinear(24, 16), nn.Hardtanh())
        self.labels = nn.Linear(16, 3)
        self.domains = nn.Linear(16, 2)

    def forward(self, x, lambd=1.0):
        f = self.features(x)
        return self.labels(f), self.domains(GradReverse.apply(f, lambd))


torch.manual_seed(0)
net = DANN()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    source, target = torch.randn(12, 8), torch.randn(12, 8) + 0.5
    y = source[:, :3].argmax(1)
    class_out, domain_s = net(source, lambd=step / 5)
    _, domain_t = net(target, lambd=step / 5)
    domain_labels = torch.cat([torch.zeros(12), torch.ones(12)]).long()
    loss = F.cross_entropy(class_out, y) + F.cross_entropy(torch.cat([domain_s, domain_t]), domain_labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
w = torch.randn(5, 4, dtype=torch.double, requires_grad=True)
b = torch.randn(5, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(MyLinear.apply, (x, w, b)))
