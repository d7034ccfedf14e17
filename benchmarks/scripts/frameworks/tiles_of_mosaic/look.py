from dataclasses import dataclass


@dataclass
class Look:
    side: int = 33  # cause
    stone: int = 6  # cause
    width: int = 8
