"""Names that look like those of others: private ones, those of builtins, and of the recorder."""
import torch

_torchsleuth = 3
record = print


class A:
    __x = len("abc")

    def __init__(self, __y=1):
        self.__z = __y
        __local = torch.ones(2) * self.__z
        self.value = __local

    def __call__(self, exec=None, dict=None, len=None):
        return self.__x, self.__z, self.value, exec, dict, len


print(A()(), sorted(vars(A())), A._A__x, _torchsleuth)
exec = None
dict = None
SystemExit = None
partial = None
print(exec, dict)
