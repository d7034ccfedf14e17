"""Cannot be compiled."""
print("never")
x = (1 +
def f():
    pass
