# %% [markdown]
# # A notebook exported as a script
# Clustering and dimension reduction with plain tensors: k-means, PCA by SVD, a Gaussian process, power iteration.

# %%
import math
import torch
import numpy as np

torch.manual_seed(0)
np.random.seed(0)
n, d, k = 150, 6, 3

# %%
centers = torch.randn(k, d) * 4
X = torch.cat([c + torch.randn(n // k, d) for c in centers])
print(X.shape)

# %%
mean = X.mean(dim=0, keepdim=True)
Xc = X - mean
U, S, Vh = torch.linalg.svd(Xc, full_matrices=False)
explained = S**2 / (S**2).sum()
Z = Xc @ Vh[:2].T
print(explained[:3], Z.shape)


# %%
def kmeans(X, k, iters=20, tol=1e-4):
    idx = torch.randperm(X.shape[0])[:k]
    C = X[idx].clone()
    for it in range(iters):
        D = torch.cdist(X, C)
        assign = D.argmin(dim=1)
        new_C = torch.stack([X[assign == j].mean(dim=0) if (assign == j).any() else C[j] for j in range(k)])
        shift = (new_C - C).norm()
        C = new_C
        if shift < tol:
            break
    return C, assign, it


C, assign, it = kmeans(X, k)
inertia = ((X - C[assign]) ** 2).sum()
print(it, inertia.item(), torch.bincount(assign, minlength=k))

# %%
A = Xc.T @ Xc / (n - 1)
v = torch.ones(d)
prev = 0.0
while True:
    w = A @ v
    v = w / w.norm()
    eig = v @ A @ v
    if abs(eig - prev) < 1e-5:
        break
    prev = eig
print(eig.item(), torch.linalg.eigvalsh(A)[-1].item())


# %%
def rbf(a, b, length, scale):
    return scale**2 * torch.exp(-0.5 * torch.cdist(a, b) ** 2 / length**2)


x_train = torch.rand(20, 1) * 6
y_train = torch.sin(x_train).squeeze(-1) + 0.1 * torch.randn(20)
log_params = torch.zeros(3, requires_grad=True)
opt = torch.optim.Adam([log_params], lr=0.1)
for i in range(10):
    length, scale, noise = log_params.exp()
    K = rbf(x_train, x_train, length, scale) + (noise**2 + 1e-4) * torch.eye(20)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y_train.unsqueeze(-1), L)
    nll = 0.5 * y_train @ alpha.squeeze(-1) + L.diagonal().log().sum() + 0.5 * 20 * math.log(2 * math.pi)
    opt.zero_grad()
    nll.backward()
    opt.step()
print(nll.item(), log_params.exp().tolist())

# %%
with torch.no_grad():
    x_test = torch.linspace(0, 6, 50).unsqueeze(1)
    length, scale, noise = log_params.exp()
    K = rbf(x_train, x_train, length, scale) + (noise**2 + 1e-4) * torch.eye(20)
    Ks = rbf(x_train, x_test, length, scale)
    L = torch.linalg.cholesky(K)
    mu = Ks.T @ torch.cholesky_solve(y_train[:, None], L)
    v = torch.linalg.solve_triangular(L, Ks, upper=False)
    var = scale**2 - (v**2).sum(0)
print(mu.shape, var.min().item() > -1e-3)

# %%
hist = torch.histc(Z[:, 0], bins=10)
corr = torch.corrcoef(X.T)
order = np.argsort(-corr.abs().numpy().sum(axis=1))
print(hist.sum().item(), corr.shape, order[:2])
