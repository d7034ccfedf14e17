"""Runs its own doctests.

>>> double(torch.ones(2))
tensor([2., 2.])
>>> double("a")
'aa'
>>> double(None)
Traceback (most recent call last):
...
TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
>>> wrong()
3
"""
import doctest

import torch


def double(x):
    """
    >>> double(2)
    4
    """
    return x * 2


def wrong():
    return 4


print(doctest.testmod(optionflags=doctest.ELLIPSIS), torch.ones(1))
