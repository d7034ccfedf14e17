import torch
from accelerate import Accelerator
from accelerate.tracking import GeneralTracker, on_main_process


class MemoryTracker(GeneralTracker):
    name = "memory"
    requires_logging_directory = False

    @on_main_process
    def __init__(self):
        super().__init__()
        self.records = []

    @property
    def tracker(self):
        return self.records

    def store_init_configuration(self, values):
        self.records.append(values)

    def log(self, values, step=None):
        self.records.append({"step": step, **values})


tracker = MemoryTracker()
accelerator = Accelerator(log_with=tracker)
model, data = accelerator.prepare(torch.nn.Linear(2, 1), torch.utils.data.DataLoader(torch.randn(20, 2), batch_size=5))
for step, batch in enumerate(data):
    accelerator.log({"loss": model(batch).pow(2).mean().item()}, step=step)
accelerator.end_training()
print(len(tracker.records), "records")
