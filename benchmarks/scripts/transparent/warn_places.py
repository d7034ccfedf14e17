"""Warnings with stack levels, filters, catch_warnings, showwarning, deprecations inside of torch, once per place."""
import sys, warnings, torch
def old(): warnings.warn("old is deprecated", DeprecationWarning, stacklevel=2)
def noisy(x): warnings.warn(f"noisy {x}", stacklevel=1); return x
for i in range(3):
    old(); noisy(torch.ones(1) * i); noisy(1)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    for i in range(2): old(); noisy(torch.ones(2) + i)
    torch.tensor([1.0], requires_grad=True).clone().grad
    a = torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))
    s = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1), 1); s.step()
print([(x.filename[-15:], x.lineno, x.category.__name__, str(x.message)[:50]) for x in w])
warnings.showwarning = lambda message, category, filename, lineno, file=None, line=None: print("shown", message, lineno)
old(); noisy(5)
warnings.filterwarnings("error", category=UserWarning)
try: noisy(torch.ones(1) @ torch.ones(1))
except UserWarning as e: print("raised", e, e.__traceback__.tb_lineno)
print(sorted(k for k in globals() if k.startswith("__")), len(globals().get("__warningregistry__", {})) > 0)
