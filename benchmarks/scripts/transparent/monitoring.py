"""Watches itself with sys.monitoring, where there is one."""
import sys

import torch

events = []


def work(n):
    total = 0
    for i in range(n):
        total += abs(i) + len([i])
    return total


if hasattr(sys, "monitoring"):
    from sys import monitoring

    monitoring.use_tool_id(3, "mine")
    for event in ("PY_START", "PY_RETURN", "LINE"):
        kind = getattr(monitoring.events, event)
        monitoring.register_callback(3, kind, lambda code, *rest, event=event: events.append((event, code.co_name, rest[-1])))
    monitoring.set_events(3, monitoring.events.PY_START | monitoring.events.PY_RETURN | monitoring.events.LINE)
    total, x = work(2), torch.ones(2) * 2
    monitoring.set_events(3, 0)
    monitoring.free_tool_id(3)
print(*events, sep="\n")
