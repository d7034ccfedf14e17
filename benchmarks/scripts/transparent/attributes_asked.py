"""Objects that notice when somebody looks at them."""
import torch

asked = []


class Shy:
    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)

    def __eq__(self, other):
        asked.append("==")
        return True

    __hash__ = None


class Pretender:
    __class__ = property(lambda self: asked.append("class") or torch.Tensor)

    @property
    def shape(self):
        raise RuntimeError("nobody may ask")


def make(kind):
    return kind()


shy, pretender = make(Shy), make(Pretender)
both = [make(Shy), make(Pretender)][0]
index = {1: shy}[1]
print(asked)
