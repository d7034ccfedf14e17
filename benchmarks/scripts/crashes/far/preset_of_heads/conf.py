PRESETS = {
    "small": {"width": 50,  # cause
              "heads": 4},  # cause
    "large": {"width": 96, "heads": 8},
}
def load(name):
    return dict(PRESETS[name])
