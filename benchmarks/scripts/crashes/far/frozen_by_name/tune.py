def head_only(net):
    for name, p in net.named_parameters():
        p.requires_grad = name.startswith("head")  # cause
