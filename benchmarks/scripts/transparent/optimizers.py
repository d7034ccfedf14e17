"""Two optimizers, LBFGS with a closure, a scaler, schedules, accumulation and updates by hand."""
import torch

torch.manual_seed(0)
net, critic = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
first, second = torch.optim.Adam(net.parameters()), torch.optim.LBFGS(critic.parameters(), max_iter=4)
schedule = torch.optim.lr_scheduler.StepLR(first, 1)
scaler = torch.amp.GradScaler("cpu")
calls = 0


def closure():
    global calls
    calls += 1
    second.zero_grad()
    loss = critic(net(torch.ones(4, 3)).detach()).pow(2).mean()
    loss.backward()
    return loss


for step in range(4):
    for _ in range(2):
        loss = critic(net(torch.randn(4, 3))).mean() / 2
        scaler.scale(loss).backward()
    scaler.unscale_(first)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(first)
    scaler.update()
    first.zero_grad()
    schedule.step()
    print(step, loss.item(), second.step(closure).item(), schedule.get_last_lr())
with torch.no_grad():
    for parameter in net.parameters():
        parameter -= 0.1 * torch.ones_like(parameter)
print(calls, net.weight, first.state_dict()["state"][0]["step"], first._optimizer_step_pre_hooks)
