"""Nested, sparse, quantized, complex, meta, subclass and named tensors through plain lines."""
import torch, warnings, copy, pickle
warnings.simplefilter("ignore")
class Logged(torch.Tensor):
    log = []
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})
class Wrapper(torch.Tensor):
    calls = []
    @staticmethod
    def __new__(cls, inner): 
        r = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype); r.inner = inner; return r
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(str(func))
        un = lambda v: v.inner if isinstance(v, Wrapper) else v
        out = func(*map(un, args), **(kwargs or {}))
        return Wrapper(out) if isinstance(out, torch.Tensor) else out
for step in range(3):
    a = torch.ones(2, 3).as_subclass(Logged)
    b = a + 1
    c = (b * 2)[0]
    d = Wrapper(torch.ones(2)) * 3 + 1
    n = torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(3, 2)], layout=torch.jagged)
    m = n * 2
    s = torch.eye(3).to_sparse() * 2
    csr = torch.eye(3).to_sparse_csr() @ torch.ones(3, 1)
    q = torch.quantize_per_tensor(torch.rand(2), 0.1, 0, torch.quint8)
    z = torch.view_as_complex(torch.ones(2, 2)) * 1j
    e = torch.empty(4, device="meta") + 1
    w = torch.ones(2).sum(0)
    bits = torch.tensor([1, 2]) << 2
print(Logged.log, Wrapper.calls, m.sum().item(), s, csr.flatten(), q.dtype, z, e, w, bits)
print(type(c), type(copy.copy(c)), type(pickle.loads(pickle.dumps(torch.ones(2) + 0))))
