from dataclasses import dataclass
@dataclass
class Settings:
    words: int = 50
    width: int = 16
    context: int = 24  # cause
    chunk: int = 32  # cause
