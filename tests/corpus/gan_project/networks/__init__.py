from torch import nn

from .generator import Generator


def init_weights(net, gain=0.02):
    def init_func(m):
        name = m.__class__.__name__
        if hasattr(m, "weight") and name.find("Linear") != -1:
            nn.init.normal_(m.weight.data, 0.0, gain)
            if getattr(m, "bias", None) is not None:
                nn.init.constant_(m.bias.data, 0.0)

    net.apply(init_func)
