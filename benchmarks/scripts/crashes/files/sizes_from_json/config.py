"""The settings, as JSON."""
# {"inputs": 12, "hidden": 8, "features": 14, "batch": 4, "steps": 2, "lr": 0.1}
