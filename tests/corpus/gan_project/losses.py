import torch.nn.functional as F


def hinge_d(real_scores, fake_scores):
    return F.relu(1.0 - real_scores).mean() + F.relu(1.0 + fake_scores).mean()


def hinge_g(fake_scores):
    return -fake_scores.mean()
