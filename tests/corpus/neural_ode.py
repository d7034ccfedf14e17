"""A neural ODE with hand-written Euler and Runge-Kutta solvers; the spiral is recovered from noisy points."""
import torch
import torch.nn as nn


def euler(f, y0, ts):
    ys = [y0]
    for t0, t1 in zip(ts[:-1], ts[1:]):
        ys.append(ys[-1] + (t1 - t0) * f(t0, ys[-1]))
    return torch.stack(ys)


def rk4(f, y0, ts):
    ys = [y0]
    y = y0
    for i in range(len(ts) - 1):
        t, h = ts[i], ts[i + 1] - ts[i]
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h * k1 / 2)
        k3 = f(t + h / 2, y + h * k2 / 2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        ys.append(y)
    return torch.stack(ys, dim=0)


SOLVERS = {"euler": euler, "rk4": rk4}


def odeint(f, y0, ts, method="rk4"):
    return SOLVERS[method](f, y0, ts)


true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
true_y0 = torch.tensor([[2.0, 0.0]])
t = torch.linspace(0.0, 5.0, 60)


class Lambda(nn.Module):
    def forward(self, t, y):
        return torch.mm(y ** 3, true_A)


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 30), nn.Tanh(), nn.Linear(30, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)
        self.nfe = 0

    def forward(self, t, y):
        self.nfe += 1
        return self.net(y ** 3)


class RunningAverageMeter(object):
    def __init__(self, momentum=0.99):
        self.momentum = momentum
        self.reset()

    def reset(self):
        self.val = None
        self.avg = 0

    def update(self, val):
        if self.val is None:
            self.avg = val
        else:
            self.avg = self.avg * self.momentum + val * (1 - self.momentum)
        self.val = val


torch.manual_seed(0)
with torch.no_grad():
    true_y = odeint(Lambda(), true_y0 * 0.5, t)


def get_batch(batch_time=8, batch_size=10):
    s = torch.randperm(len(t) - batch_time)[:batch_size]
    batch_y0 = true_y[s]  # (M, 1, D)
    batch_t = t[:batch_time]  # (T)
    batch_y = torch.stack([true_y[s + i] for i in range(batch_time)], dim=0)  # (T, M, 1, D)
    return batch_y0, batch_t, batch_y


func = ODEFunc()
optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
loss_meter = RunningAverageMeter(0.97)
for itr in range(1, 6):
    optimizer.zero_grad()
    batch_y0, batch_t, batch_y = get_batch()
    pred_y = odeint(func, batch_y0, batch_t)
    loss = torch.mean(torch.abs(pred_y - batch_y))
    loss.backward()
    optimizer.step()
    loss_meter.update(loss.item())
    if itr % 2 == 0:
        with torch.no_grad():
            pred_y = odeint(func, true_y0 * 0.5, t, method="euler")
            loss = torch.mean(torch.abs(pred_y - true_y))
            print("Iter {:04d} | Total Loss {:.6f} | nfe {}".format(itr, loss.item(), func.nfe))
