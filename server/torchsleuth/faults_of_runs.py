"""The pages of the faults that only a run shows: title and explanation by code, in the form of the rules' docstrings."""

from __future__ import annotations

PAGES = {
    "TS914": """out-of-memory: a run that asks for more memory than there is.

What it finds
    The accelerator, or the machine, has no memory left for a tensor that the line makes.
Why it hurts
    The run ends there, often late: with the first batch in evaluation, or with the longest sequence.
Example
    a = torch.zeros(1).expand(1 << 50)
    a.clone()
Use instead
    a = torch.zeros(1).expand(1 << 20)
    a.clone()
Fix safety
    None is offered: a smaller batch, `torch.no_grad()` in evaluation, activation checkpointing or mixed precision change
    what is computed, or how.
References
    torch.cuda.OutOfMemoryError, torch.utils.checkpoint
""",
    "TS915": """process-killed: a process that a signal ended.

What it finds
    A fault in C (a segmentation fault, an abort, a bus error) ended the process at this line, or it was killed from outside
    after this line, as the system does when memory runs out. The other threads are shown too.
Why it hurts
    The run ends there, and nothing in its output says where.
Example
    import ctypes
    ctypes.string_at(0)
Use instead
    import ctypes
    ctypes.string_at(b"text")
Fix safety
    None is offered.
References
    https://docs.python.org/3/library/faulthandler.html
""",
    "TS916": """no-progress: a run that hangs.

What it finds
    The run was stopped because its time was over (--timeout) or nothing moved (--stall); this is the line that was running then.
    Of ranks that wait for each other in different collective operations, both lines are shown.
Why it hurts
    A run that hangs holds its machine until somebody looks at it.
Example
    if rank == 0:
        dist.barrier()
Use instead
    dist.barrier()
Fix safety
    None is offered.
References
    https://docs.pytorch.org/docs/stable/distributed.html
""",
    "TS917": """ranks-apart: ranks of one training that do not do the same.

What it finds
    After the same step a parameter has other values in one rank than in another one, or the ranks had different numbers of
    batches in the same pass over a loader.
Why it hurts
    Each rank trains a model of its own, and the one that is saved has seen a part of the data only; or the ranks wait for
    each other for ever.
Example
    model = Net()  # in each rank, and never wrapped
    loss = model(x).sum()
Use instead
    model = DistributedDataParallel(Net())
    loss = model(x).sum()
Fix safety
    None is offered.
References
    torch.nn.parallel.DistributedDataParallel, torch.utils.data.distributed.DistributedSampler
""",
    "TS918": """script-error: an exception that has nothing to do with PyTorch.

What it finds
    The script ended with an exception that neither an operator nor a layer raised.
Why it hurts
    The run ends there.
Example
    config = {"lr": 0.1}
    config["epochs"]
Use instead
    config = {"lr": 0.1, "epochs": 3}
    config["epochs"]
Fix safety
    None is offered.
References
    https://docs.python.org/3/library/exceptions.html
""",
    "TS920": """loss-not-finite: a loss that is not a number, or infinite.

What it finds
    The value given to backward() was NaN or infinite in a step, or parameters became so. Where one expression of the step made it,
    that one is named: the logarithm of zero, a division by zero, a square root whose gradient is infinite.
Why it hurts
    From this step on every parameter is NaN, and the rest of the run is wasted.
Example
    loss = -torch.log(p).mean()
Use instead
    loss = -torch.log(p.clamp_min(1e-8)).mean()
Fix safety
    None is offered.
References
    torch.autograd.detect_anomaly, torch.nan_to_num
""",
    "TS921": """loss-not-falling: a loss that rises, or stays that of a guess.

What it finds
    In a training with one loss and one optimizer, the losses of the last quarter are several times those of the first tenth, or
    those of a classifier that knows no more than how often each class occurs.
Why it hurts
    The model is worse than before it was trained, or has learned nothing.
Example
    loss = -nn.functional.cross_entropy(model(x), y)
Use instead
    loss = nn.functional.cross_entropy(model(x), y)
Fix safety
    None is offered.
References
    torch.optim
""",
    "TS922": """output-ignores-input: predictions that are the same for every sample of a batch.

What it finds
    The rows of what goes into the loss are equal in every batch looked at, while those of the input differ.
Why it hurts
    The best that can be learned is the mean of the labels.
Example
    h = torch.zeros_like(h) + h.mean(0)
Use instead
    h = h - h.mean(0)
Fix safety
    None is offered.
References
    torch.nn.Module
""",
    "TS923": """exploding-gradients: gradients many times larger than the parameters.

What it finds
    In the first step already, the norm of all gradients is 100,000 times that of the parameters or more, and neither inputs nor
    targets are large.
Why it hurts
    One step throws the parameters away, and the loss overflows.
Example
    nn.init.normal_(self.recurrent.weight, std=1.0)
Use instead
    nn.init.orthogonal_(self.recurrent.weight)
Fix safety
    None is offered.
References
    torch.nn.utils.clip_grad_norm_
""",
    "TS924": """vanishing-gradients: gradients that fade on their way to the first layers.

What it finds
    Relative to the weights, the gradient of a layer in the first half is a hundred thousandth of that of a layer in the second
    half, or less, in most steps looked at.
Why it hurts
    The first layers stay as they were made, whatever the last ones do.
Example
    layers = [nn.Linear(32, 32), nn.Sigmoid()] * 12
Use instead
    layers = [nn.Linear(32, 32), nn.LayerNorm(32), nn.ReLU()] * 12
Fix safety
    None is offered.
References
    torch.nn.init, torch.nn.LayerNorm
""",
    "TS925": """dead-units: units of a ReLU that are zero for every sample.

What it finds
    Nine of ten units of a layer, or more, are zero for whole batches, in each of the later steps looked at.
Why it hurts
    No gradient comes through a unit that is zero: it stays so for ever.
Example
    nn.init.constant_(self.first.bias, -20.0)
Use instead
    nn.init.zeros_(self.first.bias)
Fix safety
    None is offered.
References
    torch.nn.LeakyReLU
""",
    "TS926": """saturated-units: units at the bounds of a sigmoid or tanh from the start.

What it finds
    Nine of ten outputs of an activation inside of the network are at its bounds in each step looked at, and the loss does not fall.
Why it hurts
    The derivative there is next to zero: nothing in front of it learns.
Example
    nn.init.normal_(layer.weight, std=10.0)
Use instead
    nn.init.xavier_normal_(layer.weight)
Fix safety
    None is offered.
References
    torch.nn.init.calculate_gain
""",
    "TS927": """learning-rate-too-large: steps that change the parameters by much of their own size.

What it finds
    One update was larger than the parameters themselves, and afterwards the loss was higher, not finite, or the units were dead;
    or each one is a good part of them, and the loss swings up and down and falls no more.
Why it hurts
    What was learned, or initialised with care, is gone after one step. The loss stays far above what the network can reach.
Example
    optimizer = torch.optim.Adam(model.parameters(), lr=3.0)
Use instead
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
Fix safety
    None is offered.
References
    torch.optim
""",
    "TS928": """learning-rate-too-small: steps that change next to nothing.

What it finds
    In every step looked at the update was a hundred thousandth of the parameters or less, though there are gradients, and the loss
    did not fall.
Why it hurts
    The training takes its time and learns nothing.
Example
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
Use instead
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
Fix safety
    None is offered.
References
    torch.optim
""",
    "TS930": """inputs-not-scaled: inputs far from mean 0 and deviation 1.

What it finds
    What enters the first layer with weights has a mean or a standard deviation above 30, in every step looked at. A layer that
    normalises first keeps this silent.
Why it hurts
    Gradients of the first layer are as many times too large, and one feature hides the others.
Example
    image = self.images[index].float()
Use instead
    image = self.images[index].float() / 255
Fix safety
    None is offered.
References
    torch.nn.BatchNorm1d
""",
    "TS931": """inputs-repeated: inputs that are all the same.

What it finds
    Every input is one number, in every batch; or a loader that is not shuffled is begun anew for each step, and gives its first batch.
Why it hurts
    There is nothing to be learned from, or only one batch.
Example
    x, y = next(iter(loader))
Use instead
    for x, y in loader:
        ...
Fix safety
    None is offered.
References
    torch.utils.data.DataLoader
""",
    "TS932": """labels-constant: labels that are all of one class.

What it finds
    The labels of all batches looked at are one class. Labels that are written down beside the loss are left out.
Why it hurts
    The loss falls to zero, and the model has learned to say one thing.
Example
    labels = (table[:, 5] > 0).long()  # ages
Use instead
    labels = (table[:, 0] > 0).long()
Fix safety
    None is offered.
References
    torch.unique
""",
    "TS933": """labels-unrelated: labels that have nothing to do with their inputs.

What it finds
    The loss stays at that of a guess by the shares of the classes. Samples next to one another have the same label no more often
    than by chance, and the classes have the same means.
Why it hurts
    Inputs and labels were put into different orders: nothing can be learned.
Example
    x = x[torch.randperm(len(x))]
Use instead
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
Fix safety
    None is offered.
References
    torch.randperm
""",
    "TS934": """validation-overlap: samples of the validation that are trained on.

What it finds
    Samples that an evaluation named as validation or test gets have gone into training too, compared by their values.
Why it hurts
    The validation shows how well the model remembers.
Example
    train_set = TensorDataset(x, y)
    val_set = TensorDataset(x[300:], y[300:])
Use instead
    train_set = TensorDataset(x[:300], y[:300])
    val_set = TensorDataset(x[300:], y[300:])
Fix safety
    None is offered.
References
    torch.utils.data.random_split
""",
    "TS935": """waiting-for-data: steps that mostly wait for the next batch.

What it finds
    A third of a step or more, and several milliseconds, goes by until the loader has the next batch.
Why it hurts
    The accelerator has nothing to do.
Example
    loader = DataLoader(files, batch_size=8)
Use instead
    loader = DataLoader(files, batch_size=8, num_workers=4, persistent_workers=True)
Fix safety
    None is offered.
References
    torch.utils.data.DataLoader
""",
    "TS936": """validation-loss-rises: a validation loss that rises while the training loss falls.

What it finds
    The loss of an evaluation had its lowest value in the first two thirds of the run, and has risen by a quarter since, while that of
    the training is half of it or less. The evaluation to stop at is named.
Why it hurts
    The model that is left at the end is worse than one that there was.
Example
    for epoch in range(400):
        train(model)
Use instead
    for epoch in range(400):
        train(model)
        if stopped_improving(validate(model)):
            break
Fix safety
    None is offered.
References
    torch.optim.AdamW (weight_decay), torch.nn.Dropout
""",
    "TS937": """scale-collapses: a gradient scaler that halves its scale in every step.

What it finds
    The scale of mixed precision fell to a thousandth and stayed there: the gradients were not finite in each of these steps, which
    are left out.
Why it hurts
    No step is made, and the loss says nothing of it.
Example
    weight = 1 / (y - y)
Use instead
    weight = 1 / (y.abs() + 1)
Fix safety
    None is offered.
References
    torch.amp.GradScaler
""",
    "TS938": """scheduler-not-stepped: a learning-rate scheduler that is never stepped.

What it finds
    A scheduler was made for an optimizer, which made many steps; the scheduler made none.
Why it hurts
    The learning rate is not what was written down.
Example
    scheduler = MultiStepLR(optimizer, [30, 60])
    for epoch in range(90):
        train(model)
Use instead
    scheduler = MultiStepLR(optimizer, [30, 60])
    for epoch in range(90):
        train(model)
        scheduler.step()
Fix safety
    None is offered.
References
    torch.optim.lr_scheduler
""",
    "TS941": """one-class-predicted: a classifier that only says the largest class.

What it finds
    Four of five labels or more are of one class, and in the later steps every prediction is that class.
Why it hurts
    The accuracy looks good, and no sample of the others is found.
Example
    loss = nn.functional.cross_entropy(logits, y)
Use instead
    loss = nn.functional.cross_entropy(logits, y, weight=1 / shares)
Fix safety
    None is offered.
References
    torch.utils.data.WeightedRandomSampler
""",
    "TS943": """units-alike: units of a layer that stay equal.

What it finds
    All rows of a weight are equal after the last step: they began equal, and get the same gradients.
Why it hurts
    A layer of a thousand units computes what one would.
Example
    nn.init.constant_(layer.weight, 0.05)
Use instead
    nn.init.xavier_uniform_(layer.weight)
Fix safety
    None is offered.
References
    torch.nn.init
""",
    "TS944": """weights-decayed: a weight decay that takes the weights away.

What it finds
    An optimizer with weight decay shrinks all parameters to a small part of their size, and the loss does not fall.
Why it hurts
    The decay is stronger than the loss: the outputs come close to a constant.
Example
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=2.0)
Use instead
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-2)
Fix safety
    None is offered.
References
    torch.optim.AdamW
""",
    "TS945": """loss-without-bound: a loss that falls below zero for ever.

What it finds
    A loss that is negative and ten thousand times larger than the first one: a term of it can be made as small as one likes.
Why it hurts
    The optimizer follows this term alone; what was meant is not learned, until the numbers overflow.
Example
    loss = reconstruction + 0.5 * (1 + logvar - mean**2 - logvar.exp()).sum()
Use instead
    loss = reconstruction - 0.5 * (1 + logvar - mean**2 - logvar.exp()).sum()
Fix safety
    None is offered.
References
    torch.nn.KLDivLoss
""",
    "TS946": """samples-one-by-one: a batch whose samples go through the network one after the other.

What it finds
    In each step a network is called once for each sample of a batch, by a loop over them.
Why it hurts
    Most of the time goes into starting small operators, on an accelerator nearly all of it; batch normalisation sees one sample.
Example
    outputs = torch.stack([model(inputs[i]) for i in range(len(inputs))])
Use instead
    outputs = model(inputs)
Fix safety
    None is offered.
References
    torch.utils.data.DataLoader
""",
    "TS947": """evaluation-too-often: a training that spends most of its time in evaluation.

What it finds
    The validation data go through the network after every few steps, which takes longer than the training itself.
Why it hurts
    The training takes several times as long as it has to.
Example
    for x, y in loader:
        train(x, y)
        validate()
Use instead
    for x, y in loader:
        train(x, y)
    validate()
Fix safety
    None is offered.
References
    torch.no_grad
""",
    "TS948": """steps-go-up: an optimizer that goes along the gradient instead of against it.

What it finds
    The first updates of an optimizer point where the gradients do, and the loss rises: a sign is wrong in its step, or
    maximize=True is passed for a loss.
Why it hurts
    Each step makes the loss larger, up to nan. A smaller learning rate only delays it.
Example
    p.add_(velocity, alpha=group["lr"])
Use instead
    p.add_(velocity, alpha=-group["lr"])
Fix safety
    None is offered.
References
    torch.optim.Optimizer
""",
    "TS949": """gradients-clipped-away: clipping that leaves nothing of the gradients.

What it finds
    Gradients are clipped to a hundredth of their usual norm or less, and no step changes the parameters by more than a hundred-thousandth.
Why it hurts
    The loss stays where it is. A higher learning rate would only make up for the bound.
Example
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-5)
Use instead
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
Fix safety
    None is offered.
References
    torch.nn.utils.clip_grad_norm_
""",
    "TS950": """weights-begin-large: weights that are too large for their numbers of inputs from the start.

What it finds
    The first loss of a classifier is many times that of a guess, ln(classes), and its weights are several times larger than
    1 / sqrt(inputs), which keeps the size of what goes through a layer.
Why it hurts
    Scores begin far apart and are wrong with certainty. Gradients explode, and the first steps only undo the start.
Example
    nn.init.normal_(layer.weight, std=1.0)
Use instead
    nn.init.kaiming_normal_(layer.weight)
Fix safety
    None is offered.
References
    torch.nn.init.kaiming_normal_
""",
    "TS951": """targets-not-scaled: a regression to numbers that its predictions do not come near.

What it finds
    The targets are hundreds or more, and the predictions have not come to a tenth of them at the end of the training. Or the last
    function of the network has bounds, as a sigmoid, a tanh or a ReLU has, and targets lie outside of them; or a loss with logits gets
    targets outside of 0 to 1.
Why it hurts
    A network begins with outputs of about 1 and moves by its learning rate. It learns the mean of the targets at most.
Example
    loss = nn.functional.mse_loss(model(x), price)
Use instead
    loss = nn.functional.mse_loss(model(x), (price - price.mean()) / price.std())
Fix safety
    None is offered.
References
    torch.nn.MSELoss
""",
    "TS952": """evaluation-augmented: an evaluation whose samples are changed at random.

What it finds
    A loader without shuffling gives an evaluation of a classifier other numbers for the same samples in each round: crops, flips
    or noise that are meant for training.
Why it hurts
    The accuracy is lower than that of the model, and differs from evaluation to evaluation.
Example
    val_loader = DataLoader(Images(val_files, transform=train_transform))
Use instead
    val_loader = DataLoader(Images(val_files, transform=plain_transform))
Fix safety
    None is offered.
References
    torchvision.transforms
""",
    "TS953": """operators-one-by-one: one operator for each row or node, where one for all of them would do.

What it finds
    One line, in a comprehension or in a loop whose rounds do not need one another, is evaluated a hundred times or more in each
    step, and makes half of its functions and of its time, or more.
Why it hurts
    Each operator costs some microseconds before it computes anything, in the forward pass and again in the backward pass. A device
    waits for Python.
Example
    agg = torch.stack([h[neighbours[i]].mean(0) for i in range(n)])
Use instead
    agg = adjacency @ h
Fix safety
    None is offered.
References
    torch.Tensor.index_add_, torch.Tensor.scatter_reduce_, torch.vmap
""",
    "TS954": """frames-too-few: transcripts that are longer than the output that is to say them.

What it finds
    The connectionist temporal classification loss gets, for half of a batch or more, more labels than there are frames of output. A
    frame says one label at most.
Why it hurts
    The loss of these samples is infinite, or 0 with zero_infinity=True: nothing is learned from them.
Example
    nn.Conv1d(64, 64, 3, stride=4)
Use instead
    nn.Conv1d(64, 64, 3, stride=1)
Fix safety
    None is offered.
References
    torch.nn.CTCLoss
""",
    "TS959": """blank-among-labels: labels of a transcript with the number of the blank.

What it finds
    The connectionist temporal classification loss gets labels that are its `blank`, 0 unless it is told otherwise, in steps all over the run.
Why it hurts
    The output says "blank" between labels, and never as one of them: the symbol with this number is not learned, and the transcripts
    around it are taken for others. Nothing is raised.
Example
    index = {symbol: number for number, symbol in enumerate(alphabet)}
    loss = nn.CTCLoss()
Use instead
    loss = nn.CTCLoss(blank=len(alphabet))
Fix safety
    None is offered: the blank may be meant to be the first or the last class.
References
    torch.nn.CTCLoss
""",
    "TS955": """updates-rounded-away: parameters of 16 bits that small updates do not change.

What it finds
    In the steps looked at, half of the numbers that had a gradient, or more, were the same after the step: a bfloat16 has 8 significant bits,
    and what is added to it is lost where it is smaller than 1/256 of it.
Why it hurts
    Only the largest updates count, and averages of the weights hardly move. The loss stops falling early.
Example
    model = Net().to(torch.bfloat16)
Use instead
    model = Net()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = loss_fn(model(x), y)
Fix safety
    None is offered.
References
    torch.autocast
""",
    "TS956": """evaluation-scaled-otherwise: an evaluation whose inputs are not prepared as those of the training.

What it finds
    What goes into the network in an evaluation has a standard deviation that is several times that of the inputs of the same shape in
    training, or a fraction of it.
Why it hurts
    The network meets numbers that it has never seen. The evaluation says nothing of how good it is.
Example
    val_transform = T.Compose([T.ToTensor()])
Use instead
    val_transform = T.Compose([T.ToTensor(), T.Normalize(mean, std)])
Fix safety
    None is offered.
References
    torchvision.transforms.Normalize
""",
    "TS961": """batches-left-out: batches that a check of the loss leaves out.

What it finds
    Less than half of the batches that went through the network led to a backward(), since the script leaves out those of which the loss
    is not finite; where the first number that is none was made, as far as that can be seen.
Why it hurts
    The training learns from the batches that happen to have no such sample, and its loss, which is averaged over these, looks sound.
Example
    loss = F.mse_loss(net(x), count.log())
    if not torch.isfinite(loss):
        continue
Use instead
    loss = F.mse_loss(net(x), count.log1p())
Fix safety
    None is offered.
References
    torch.isfinite, torch.log1p
""",
    "TS962": """copy-not-updated: a copy of the network that is evaluated and never brought up to date.

What it finds
    A network that no optimizer has, made like the one that learns, gave the very same result in each of its evaluations, while the loss
    fell; the loop that was to update it only gives a new value to a variable.
Why it hurts
    The evaluation is of the weights that the training began with. It says nothing of what was learned, and the best copy is none.
Example
    for name, value in model.state_dict().items():
        slow = shadow[name]
        slow = 0.99 * slow + 0.01 * value
Use instead
    for name, value in model.state_dict().items():
        shadow[name].lerp_(value, 0.01)
Fix safety
    None is offered.
References
    torch.optim.swa_utils.AveragedModel
""",
    "TS963": """evaluation-normalised-by-batch: an evaluation that normalises each batch by its own mean.

What it finds
    All batches that an evaluation gave to the network had mean 0 and the same deviation, up to rounding, and those of the training had not.
Why it hurts
    What a sample is depends on the others in its batch. Where a batch holds samples of one kind, what tells them from the others is
    taken away.
Example
    x = (x - x.mean(0)) / x.std(0)
Use instead
    x = (x - train_mean) / train_std
Fix safety
    None is offered.
References
    torch.nn.BatchNorm1d
""",
    "TS964": """classes-numbered-otherwise: names that the datasets of a training and of an evaluation give different numbers.

What it finds
    The datasets of two loaders, of one class, hold the numbers of their classes in the same attribute, and a name in both has two numbers:
    each has counted the folders or rows that it has, and one of them lacks some.
Why it hurts
    The network is right, and counts as wrong for each class behind the first one that is missing.
Example
    train = LeafFolder(root / "train")
    valid = LeafFolder(root / "valid")
Use instead
    valid = LeafFolder(root / "valid", classes=train.classes)
Fix safety
    None is offered.
References
    torchvision.datasets.ImageFolder
""",
    "TS957": """scores-too-close: scores that cannot tell the classes apart.

What it finds
    Scores are multiplied by a constant below 0.5 before cross entropy, and in each step looked at the likeliest class of a sample was at
    most a third likelier than the least likely one: cosines that are multiplied by a temperature, say.
Why it hurts
    The loss cannot come far below that of a guess, and its gradients are as small as the factor.
Example
    scores = (a @ b.T) * temperature
Use instead
    scores = (a @ b.T) / temperature
Fix safety
    None is offered.
References
    torch.nn.CrossEntropyLoss
""",
    "TS958": """anomaly-detection-left-on: a training under autograd's search for errors.

What it finds
    Anomaly detection was on in each step looked at, of a training without NaN.
Why it hurts
    Each function keeps the stack that called it, and each gradient is searched for NaN: steps take a multiple of their time.
Example
    torch.autograd.set_detect_anomaly(True)
Use instead
    torch.autograd.set_detect_anomaly(False)
Fix safety
    None is offered.
References
    torch.autograd.set_detect_anomaly
""",
}
