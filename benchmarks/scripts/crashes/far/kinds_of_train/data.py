import torch
def classes_of(rows):
    names = sorted({name for _, name in rows})  # cause
    return {name: i for i, name in enumerate(names)}  # cause
class Birds(torch.utils.data.Dataset):
    def __init__(self, rows, ids):
        self.rows, self.ids = rows, ids
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        name, kind = self.rows[i]
        return torch.full((4,), float(ord(name))), self.ids[kind]  # raises TS918 at self.ids[kind]
