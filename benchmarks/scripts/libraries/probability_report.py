import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train = torch.tensor(scaler.transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)
target = torch.tensor(y_train, dtype=torch.float32)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(50):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(model(X_train), target).backward()
    optimizer.step()

model.eval()
probabilities = torch.sigmoid(model(X_test)).numpy()
print("average precision", average_precision_score(y_test, probabilities))
