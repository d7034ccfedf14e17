"""Expressions and statements that are very deep."""
import torch

x = torch.ones(1)
total = x
text = "total" + " + x" * 200
print(eval(text))
nested = "[" * 60 + "1" + "]" * 60
print(eval(nested)[0][0] == eval(nested)[0][0])
for a in range(2):
    for b in range(2):
        for c in range(2):
            with torch.no_grad():
                try:
                    if a + b + c == 3:
                        for d in range(2):
                            while True:
                                total = total + [x * y for y in [z + d for z in range(2)]][1]
                                break
                finally:
                    total = total + 1
print(total, x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x)
