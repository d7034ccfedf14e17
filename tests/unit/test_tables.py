"""pandas and scikit-learn: what is said of the tensors of a text is what the installed packages make of it."""

from __future__ import annotations

import ast

import pytest
import torch

from tests.check import analyze, check

TABLE = """import numpy as np
import pandas as pd
import torch
rng = np.random.default_rng(0)
df = pd.DataFrame({"age": rng.integers(18, 80, 120), "income": rng.normal(size=120), "city": ["a", "b", "c"] * 40, "label": [0, 1, 1] * 40})
df["ratio"] = df["income"] / df["age"]
names = [c for c in df.columns if c not in ("city", "label")]
"""
TABLES = {
    "columns by name": "a = torch.tensor(df[names].values, dtype=torch.float32)\nb = torch.tensor(df['label'].values)\n"
    "c = torch.tensor(df.drop(columns=['label', 'city']).to_numpy())\nd = torch.tensor(df.age.to_numpy(dtype=np.float32))\n",
    "rows and cells": "a = torch.tensor(df.iloc[3][names].values.astype('float32'))\nb = torch.tensor(df.iloc[:, :2].values)\n"
    "c = torch.tensor(df.loc[:, 'income'].values)\nd = torch.tensor(df.iloc[5:15, [0, 1]].values)\ne = torch.tensor(df[df['age'] > 40][names].values)\n",
    "cells of a row of numbers": "a = torch.tensor(df[['income', 'label']].iloc[3]['label'])\nb = torch.tensor(df.iloc[3]['label'])\n"
    "for _, row in df[['age', 'label']].iterrows():\n    c = torch.tensor(row['label'])\n",
    "arithmetic": "a = torch.tensor(((df[names] - df[names].mean()) / df[names].std()).values)\nb = torch.tensor((df['age'] - 3).values)\n"
    "c = torch.tensor(np.log(df['age']).values)\nd = torch.tensor((df['age'] > 30).values)\n",
    "files that the script writes": "df.to_csv('t.csv', index=False)\nback = pd.read_csv('t.csv')\na = torch.tensor(back[['income', 'ratio']].values)\n"
    "b = torch.zeros(back.shape[1], len(df.columns))\n",
    "text with commas": "open('u.csv', 'w').write('a,b,c\\n1,2,0.5\\n3,4,x\\n')\n"
    "t = pd.read_csv('u.csv')\na = torch.tensor(t[['a', 'b']].values)\nb = torch.zeros(t.shape)\n",
    "rows that the csv module writes": "import csv, random\nwith open('w.csv', 'w', newline='') as file:\n    w = csv.writer(file)\n"
    "    w.writerow(['name', 'area', 'rooms', 'rent'])\n    for i in range(20):\n"
    "        w.writerow([f'L{i}', f'{random.uniform(20, 90):.1f}', random.randint(1, 5), f'{random.uniform(400, 900):.0f}'])\n"
    "t = pd.read_csv('w.csv')\na = torch.tensor(t[['area', 'rooms']].values)\nb = torch.tensor(t['rent'].values)\nc = torch.zeros(t.shape[1])\n"
    "with open('d.csv', 'w') as file:\n    w = csv.DictWriter(file, fieldnames=['x', 'y'])\n    w.writeheader()\n"
    "    w.writerows([{'x': 1, 'y': 0.5}, {'x': 2, 'y': 1}])\nu = pd.read_csv('d.csv')\nd, e = torch.tensor(u['x'].values), torch.tensor(u['y'].values)\n",
    "statistics by name": "s = df[['age', 'income']].agg(['mean', 'std'])\na = torch.tensor(s.values)\n"
    "b = torch.tensor(((df[['age', 'income']] - s.loc['mean']) / s.loc['std']).values)\n",
    "other tables of the columns": "t = pd.concat([df, df.head(10)])\na = torch.tensor(t[names].values)\nu = df.sample(frac=1.0).reset_index(drop=True)\n"
    "b = torch.tensor(u[names].values)\nv = df.rename(columns={'age': 'years'}).set_index('city')\nc = torch.zeros(v.shape[1])\n"
    "d = torch.tensor(v['years'].values)\ne = torch.tensor(df.astype({'age': 'float32'})['age'].values)\n",
    "columns that are added": "t = pd.DataFrame(index=range(50))\nt['a'] = np.zeros(50)\nfor lag in (1, 2):\n    t[f'a{lag}'] = t['a'].shift(lag)\n"
    "t = t.dropna()\na = torch.tensor(t.to_numpy(dtype=np.float32))\ndel t['a2']\nb = torch.zeros(t.shape[1])\nt.pop('a1')\nc = torch.zeros(len(t.columns))\n",
    "series of points in time": "hours = pd.date_range('2023-01-01', periods=420, freq='h')\nwave = np.sin(2 * np.pi * (hours.hour - 9) / 24)\n"
    "t = pd.DataFrame(index=hours)\nt['load'] = 8 + 6 * wave + rng.normal(0, 1, len(t))\nt['weekend'] = (hours.day_of_week >= 5).astype(float)\n"
    "a = torch.tensor(t.to_numpy())\nb = torch.from_numpy((hours.month == 3).astype(np.float32))\nc = torch.tensor(hours.hour.values)\n"
    "d = torch.zeros(len(hours))\ne = torch.tensor(t.iloc[: int(len(t) * 0.8)].values)\n",
    "columns of categories": "t = pd.get_dummies(df[['age', 'city']], dtype=float)\na = torch.tensor(t.values)\nb = torch.zeros(2, t.shape[1]) @ a.T.float()\n"
    "u = pd.get_dummies(df['city'], drop_first=True)\nc = torch.tensor(u.values)\nd = torch.zeros(2, u.shape[1]) @ c.T.float()\n"
    "e = torch.tensor(pd.get_dummies(df['city'], prefix='in', dtype=int).to_numpy())\n",
    "tables that are merged": "home = pd.DataFrame({'city': ['a', 'b', 'c'], 'area': [1.5, 2.0, 2.5], 'age': [7, 8, 9]})\n"
    "t = df.merge(home, on='city')\na = torch.tensor(t[['income', 'area', 'age_x']].values)\nb = torch.zeros(t.shape[1])\n"
    "u = pd.merge(df, home.head(2), how='left', left_on='city', right_on='city', suffixes=('', '_home'))\nc = torch.tensor(u['age'].values)\n"
    "d, e = torch.tensor(u['area'].to_numpy()), torch.zeros(u.shape[1])\nv = df.merge(home.rename(columns={'city': 'town'}), left_on='city', right_on='town')\n"
    "f = torch.zeros(v.shape[1])\ng = torch.tensor(v[['age_y']].values)\nw = df.join(df[['age']] * 0.5, rsuffix='_half')\nh = torch.tensor(w['age_half'].values)\n"
    "i = torch.zeros(df[['age', 'city']].merge(home).shape[1])\n",
    "splits and scalers": "from sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import StandardScaler\n"
    "train, test = train_test_split(df, test_size=0.3, random_state=0)\na = torch.tensor(train[names].values)\nscaler = StandardScaler().fit(train[names])\n"
    "b = torch.from_numpy(scaler.transform(test[names]))\ntrain = train.copy()\ntrain[names] = scaler.transform(train[names])\nc = torch.tensor(train[names].values)\n"
    "x, y, z, w = train_test_split(df[names].values, df['label'].values)\nd = torch.from_numpy(x)\ne = torch.tensor(w)\n",
    "generated data": "from sklearn.datasets import load_digits, load_iris, make_blobs, make_classification, make_moons, make_regression\n"
    "x, y = make_classification(n_samples=90, n_features=12, n_classes=3, n_informative=5)\na, b = torch.tensor(x), torch.tensor(y)\n"
    "d = load_digits()\nc, e, f = torch.tensor(d.data), torch.tensor(d['target']), torch.from_numpy(d.images)\n"
    "u, v = load_iris(return_X_y=True)\ng, h = torch.tensor(u), torch.tensor(v)\np, q = make_regression(40, 7)\ni, j = torch.tensor(p), torch.tensor(q)\n"
    "r, s = make_moons(n_samples=(20, 30))\nk, l = torch.tensor(r), torch.tensor(s)\nm = torch.tensor(make_blobs(60, 3, centers=4)[0])\n",
    "folds, components and labels": "from sklearn.decomposition import PCA\nfrom sklearn.metrics import accuracy_score\nfrom sklearn.model_selection import KFold\n"
    "from sklearn.preprocessing import LabelEncoder\nx = df[names].values\na = torch.tensor(PCA(n_components=2).fit_transform(x))\n"
    "b = torch.tensor(LabelEncoder().fit_transform(df['city']))\nfor train, test in KFold(5).split(x):\n    c = torch.tensor(x[test])\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tensors_of_tables_are_as_the_packages_make_them(
    name: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    text = TABLE + TABLES[name]
    made: dict[str, object] = {}
    exec(compile(text, "<text>", "exec"), made)
    found = analyze(text)
    assert not [item.message for item in found.diagnostics if item.severity in ("error", "warning")]
    facts = {fact.binding: fact for fact in found.facts if fact.binding}
    tensors = {key: made[key] for key in made if isinstance(made[key], torch.Tensor)}
    assert tensors and {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} >= tensors.keys()
    for key, tensor in tensors.items():
        fact = facts[key]
        assert fact.shape is not None and len(fact.shape) == tensor.ndim and fact.dtype == str(tensor.dtype)[6:], key
        assert all(stated == size for stated, size in zip(fact.shape, tensor.shape) if isinstance(stated, int)), key


def test_a_table_has_as_many_columns_as_a_layer_gets() -> None:
    text = (
        TABLE
        + "from torch import nn\nlayer = nn.Linear(len(names) + 1, 2)\ny = layer(torch.tensor(df[names].values, dtype=torch.float32))\n"
    )
    assert [item.code for item in analyze(text).diagnostics] == ["TS101"]
    check(text.replace(" + 1, 2", ", 2"))


@pytest.mark.parametrize(
    "change",
    [
        "def change(table):\n    pass\nother.change(df)\n",
        "df.eval('u = age', inplace=True)\n",
        "df.loc[:, name] = 1\n",
        "for name in given():\n    df[name] = 0.0\n",
        "df.drop(columns=given(), inplace=True)\n",
    ],
)
def test_of_a_table_that_something_unknown_may_change_nothing_is_said(change: str) -> None:
    text = TABLE + "import other\nfrom other import given, name\nfrom torch import nn\n" + change
    check(text + "y = nn.Linear(5, 2)(torch.tensor(df.drop(columns='city').values, dtype=torch.float32))\n")


def test_a_scaler_takes_as_many_columns_as_it_was_fitted_to() -> None:
    text = TABLE + "from sklearn.preprocessing import StandardScaler\nscaler = StandardScaler().fit(df[names])\n"
    for line in ("scaler.transform(df[names[:2]])\n", "scaler.inverse_transform(np.zeros((5, 1)))\n"):
        with pytest.raises(ValueError):
            exec(compile(text + line, "<text>", "exec"), {})
        assert [item.severity for item in analyze(text + line).diagnostics] == ["error"]
    check(text + "scaler.transform(df[names])\nscaler.inverse_transform(np.zeros((5, 3)))\n")


@pytest.mark.parametrize(
    "made",
    [
        "df[['age', 'city']].values",
        "pd.get_dummies(df[['age', 'city']]).values",
        "df[['age']].join(pd.get_dummies(df['city'])).values",
        "df[['age']]",
    ],
)
def test_what_no_tensor_can_be_made_of(made: str) -> None:
    text = TABLE + f"x = torch.tensor({made})\n"
    with pytest.raises((TypeError, ValueError)):
        exec(compile(text, "<text>", "exec"), {})
    assert [item.severity for item in analyze(text).diagnostics] == ["error"]
    if "dummies" in made:
        check(text.replace("city'])", "city'], dtype=float)").replace("'city']])", "'city']], dtype=float)"))


def test_truths_beside_numbers_of_merged_tables_make_no_tensor() -> None:
    text = (
        TABLE
        + "home = pd.DataFrame({'city': ['a', 'b', 'c'], 'area': ['x', 'x', 'y']})\nt = df.merge(home, on='city')\n"
        + "parts = [t[names], pd.get_dummies(t[['area']])]\nx = torch.from_numpy(pd.concat(parts, axis=1).values)\n"
    )
    with pytest.raises(TypeError, match="object_"):
        exec(compile(text, "<text>", "exec"), {})
    assert [item.code for item in analyze(text).diagnostics] == ["TS301"]
    check(text.replace("'area']])", "'area']], dtype=float)"))


def test_a_file_that_is_written_to_again_holds_something_else() -> None:
    text = TABLE + "from torch import nn\ndf[names].to_csv('v.csv', index=False)\n"
    layer = "y = nn.Linear(5, 2)(torch.tensor(pd.read_csv('v.csv').values, dtype=torch.float32))\n"
    assert [item.code for item in analyze(text + layer).diagnostics] == ["TS101"]
    check(text + "with open('v.csv', 'w') as file:\n    file.write(str(df))\n" + layer)
