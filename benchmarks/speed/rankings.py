"""Models of rankings beside each other: PSDD, Mallows and Plackett-Luce on rankings that people gave.

    python -m benchmarks.speed.rankings

Orders of the files in ../shared/data/rankings are dealt out to ten folds. Figures are mean log-likelihoods of
orders held out, in nats; chance is -log n!. The first columns learn from 30 orders only, the others from nine
folds. Writes docs/benchmarks/rankings.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.page import write_measured
from unswayed.circuits.psdd.learn import Laplace, learn
from unswayed.circuits.psdd.query import log_likelihood
from unswayed.core.arrays import Floats, Ints
from unswayed.spaces.mallows import learn_mallows
from unswayed.spaces.plackett_luce import learn_plackett_luce
from unswayed.spaces.preflib import read_soc
from unswayed.spaces.rankings import ranking_space

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "rankings"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "rankings.md"
N_FOLDS, FEW = 10, 30
Model = Callable[[Ints, Ints], Floats]


def by_psdd(added: float) -> Model:
    """A PSDD of all rankings, `added` to every count."""

    def score(orders: Ints, held: Ints) -> Floats:
        space = ranking_space(list(range(1, orders.shape[1] + 1)))
        rows = [space.encode_many([tuple(order) for order in some.tolist()]) for some in (orders, held)]
        return log_likelihood(learn(space.structure, rows[0], prior=Laplace(added)), rows[1])

    return score


MODELS: dict[str, Model] = {
    "PSDD, 1 added": by_psdd(1.0),
    "PSDD, 0.1 added": by_psdd(0.1),
    "Mallows": lambda orders, held: learn_mallows(orders).log_likelihood(held),
    "Plackett-Luce": lambda orders, held: learn_plackett_luce(orders).log_likelihood(held),
}


def held_out(orders: Ints, model: Model, most: int | None) -> float:
    """Mean log-likelihood over the folds, learned from at most so many of the other orders."""
    fold = np.arange(len(orders)) % N_FOLDS
    found = [model(orders[fold != k][:most], orders[fold == k]) for k in range(N_FOLDS)]
    return float(np.concatenate(found).mean())


HEAD = """# Models of rankings on rankings that people gave

Made by `python -m benchmarks.speed.rankings`: mean log-likelihood, in nats, of orders held out in ten folds;
higher is better. A Plackett-Luce model has a number for each item, a Mallows model a centre and one number, a
PSDD of all rankings as many as this: {parameters}.

"""


def main() -> None:
    """Write the page."""
    columns = [f"{name}, {amount}" for amount in (f"{FEW} orders", "all") for name in MODELS]
    lines = [f"| rankings | orders | chance | {' | '.join(columns)} |", "|---" * (3 + len(columns)) + "|"]
    sizes = []
    for path in sorted(FOLDER.glob("*.soc")):
        data = read_soc(path)
        orders = np.random.default_rng(0).permutation(np.repeat(data.orders, data.counts, axis=0))
        n_items = orders.shape[1]
        sizes.append(f"{ranking_space(n_items).structure.n_parameters:,} for {n_items} items")
        cells = [f"{held_out(orders, model, most):.2f}" for most in (FEW, None) for model in MODELS.values()]
        chance = f"{-math.log(math.factorial(n_items)):.2f}"
        lines.append(f"| {path.stem} | {len(orders)} | {chance} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    write_measured(PAGE, HEAD.format(parameters=", ".join(sizes)) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
