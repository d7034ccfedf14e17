"""Written contracts: what a body contradicts is found, whichever sizes its callers have, and what holds is not."""

from __future__ import annotations

import pytest

from benchmarks.contracts import Script, scripts
from tests.check import analyze, check

UNDECIDED = {"boxes and points, change 2", "comments behind assignments, change 1"}
"""Contradicted functions in which an operator is not decided for sizes that are names, or for one that is another divided, or
broadcasts one that stands in one shape only."""


@pytest.mark.parametrize("script", list(scripts()), ids=lambda script: script.title)
def test_script(script: Script) -> None:
    analysis = analyze(script.text)
    assert analysis.stats["internal_errors"] == []
    found = [f"{item.start.line}: {item.code} {item.message}" for item in analysis.diagnostics]
    assert bool(found) == (script.contradicted and script.title not in UNDECIDED), found


def test_the_operator_that_needs_two_names_to_be_one() -> None:
    check("""
        from jaxtyping import Float
        from torch import Tensor

        def scores(q: Float[Tensor, "b s d"], k: Float[Tensor, "b t d"]) -> Float[Tensor, "b s t"]:
            return q @ k
        #          ^^^^^ TS116: `q @ k` needs d = t, which the contract of `scores` does not say
    """)


def test_a_caller_for_whom_both_are_equal_changes_nothing() -> None:
    check("""
        import torch
        from jaxtyping import Float
        from torch import Tensor, nn

        class Linear(nn.Module):
            def __init__(self, in_features: int, out_features: int):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(out_features, in_features))

            def forward(self, x: Float[Tensor, "b in_features"]) -> Float[Tensor, "b in_features"]:
        #                                                                          ^^^^^^^^^^^^^ TS116: dimension 1 is out_features
                return x @ self.weight.T

        print(Linear(8, 8)(torch.randn(2, 8)).shape)
    """)


def test_the_argument_that_breaks_it_is_accused() -> None:
    check("""
        import torch
        from jaxtyping import Float
        from torch import Tensor

        def mix(a: Float[Tensor, "b d"], b: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
            return a + b

        mix(torch.randn(4, 8), b=torch.randn(4, 1))
        #                        ^^^^^^^^^^^^^^^^^ TS116: dimension 1 is 1, not d = 8
        mix(torch.randn(4, 8), torch.randn(4, 8))
    """)


def test_hints_have_the_names_of_the_annotations() -> None:
    found = analyze("""
from jaxtyping import Float
from torch import Tensor

def scores(q: Float[Tensor, "b s d"], k: Float[Tensor, "b s d"]) -> Float[Tensor, "b s s"]:
    weights = q @ k
    return weights
""")
    shapes = {fact.binding: fact.shape for fact in found.facts if fact.binding}
    assert shapes["q"] == shapes["k"] == ("b", "s", "d")


def test_a_size_that_the_body_broadcasts_to_a_number_is_that_number() -> None:
    check("""
        import torch
        from jaxtyping import Float
        from torch import Tensor

        def project(a: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim dim"]:
            n = a[:, :, None] * a[:, None, :]
            return n - torch.eye(3, dtype=a.dtype, device=a.device)
    """)


def test_a_function_that_calls_itself_has_other_sizes_there() -> None:
    check("""
        from jaxtyping import Float
        from torch import Tensor

        def refine(x: Float[Tensor, "batch height width"], passes: int) -> Float[Tensor, "batch height width"]:
            if passes > 0:
                refine(x[:, None, 0, :2].expand(-1, 4, -1), passes - 1)
            return x * 2
    """)


def test_a_global_variable_with_the_name_of_a_size_is_another_size() -> None:
    check("""
        import torch
        from torch import nn

        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Linear(words, 2, bias=False)

            def forward(self, x):
                # x : [batch_size, words]
                hidden = self.weight(x)  # hidden : [batch_size, 2]
                return hidden

        if __name__ == "__main__":
            batch_size = 2
            words = 8
            print(Encoder()(torch.zeros(batch_size, words)).sum())
    """)


def test_a_size_of_the_constructor_may_have_another_name_in_words() -> None:
    check('''
        from torch import nn

        class Projection(nn.Module):
            def __init__(self, d_model, heads):
                super().__init__()
                self.heads = heads
                self.query = nn.Linear(d_model, d_model)

            def forward(self, query):
                """
                Args:
                    query: (batch_size, query_len, model_dim)
                """
                batch_size, query_len, d_model = query.size()
                split = self.query(query).view(batch_size, query_len, self.heads, -1)
                return split.reshape(batch_size, query_len, d_model)  # (batch_size, query_len, d_model)
    ''')
