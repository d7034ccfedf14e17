from dataclasses import dataclass
@dataclass
class Cfg:
    classes: int = 4  # cause
