"""Figures 3 and 5: the first player's style from a number of games, by PSDDs and by Mallows models."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from examples.tic_tac_toe import Games, Style, play_tic_tac_toe

from benchmarks.papers.choi2016.hex import BEGINNER, EXPERT, INTERMEDIATE, play_hex
from unswayed.circuits.psdd.learn import Laplace, learn
from unswayed.circuits.psdd.query import log_likelihoods
from unswayed.circuits.psdd.structure import psdd_structure
from unswayed.core.arrays import Floats, Ints
from unswayed.spaces.mallows import learn_mallows
from unswayed.spaces.rankings import ranking_space

Play = Callable[[int, int, int, np.random.Generator], Games]
SEED = 2016


@dataclass(frozen=True, slots=True)
class Setting:
    """A game between players of three kinds, and how much of it is played."""

    figure: str
    name: str
    kinds: tuple[str, ...]
    play: Play
    n_training: int
    n_sets: int
    n_games: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """Accuracy by the number of games, for each kind of first player."""

    setting: Setting
    psdd: Floats  # (kinds, numbers of games)
    mallows: Floats
    seconds: float


def tic_tac_toe(n_training: int, n_sets: int) -> Setting:
    styles = (Style.RANDOM, Style.SIMPLE, Style.OPTIMAL)
    return Setting(
        "Figure 3",
        "tic-tac-toe",
        tuple(style.value for style in styles),
        lambda a, b, n, rng: play_tic_tac_toe(styles[a], styles[b], n, rng),
        n_training,
        n_sets,
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64),
    )


def hex_3x3(n_training: int, n_sets: int) -> Setting:
    players = (BEGINNER, INTERMEDIATE, EXPERT)
    return Setting(
        "Figure 5",
        "3x3 Hex",
        ("beginner", "intermediate", "expert"),
        lambda a, b, n, rng: play_hex(players[a], players[b], n, rng),
        n_training,
        n_sets,
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32),
    )


def measure(setting: Setting) -> Curves:
    """Learn nine distributions of each sort, and classify sets of games of every pair of players."""
    started = time.perf_counter()
    rng = np.random.default_rng(SEED)
    space = ranking_space(9)
    structure = psdd_structure(space.sdd)
    pairs = [(a, b) for a in range(3) for b in range(3)]
    training = [setting.play(a, b, setting.n_training, rng).orders for a, b in pairs]
    psdds = [learn(structure, space.encode_many(orders), prior=Laplace(1.0)) for orders in training]
    mallows = [learn_mallows(orders) for orders in training]
    right = {"psdd": np.zeros((3, len(setting.n_games))), "mallows": np.zeros((3, len(setting.n_games)))}
    for a, b in pairs:
        orders = setting.play(a, b, setting.n_sets * setting.n_games[-1], rng).orders
        scores = {
            "psdd": log_likelihoods(psdds, space.encode_many(orders)),
            "mallows": np.column_stack([model.log_likelihood(orders) for model in mallows]),
        }
        for name, each in scores.items():
            right[name][a] += _shares_right(each, a, setting) / 3
    return Curves(setting, right["psdd"], right["mallows"], time.perf_counter() - started)


def _shares_right(scores: Floats, first: int, setting: Setting) -> Floats:
    """How often the first player is recognised, by the number of games; all pairs are equally probable."""
    sets = np.cumsum(scores.reshape(setting.n_sets, -1, 9), axis=1)
    shares = []
    for n_games in setting.n_games:
        joint = sets[:, n_games - 1]
        posterior = np.exp(joint - joint.max(axis=1, keepdims=True)).reshape(-1, 3, 3)
        found: Ints = np.argmax(posterior.sum(axis=2), axis=1)
        shares.append(float((found == first).mean()))
    return np.array(shares)


def plot(curves: Sequence[Curves], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(curves), figsize=(4.8 * len(curves), 3.6), layout="constrained", squeeze=False
    )
    for axis, each in zip(axes[0], curves, strict=True):
        for kind, (name, colour) in enumerate(zip(each.setting.kinds, ("C0", "C1", "C2"), strict=True)):
            axis.plot(each.setting.n_games, each.psdd[kind], "-o", color=colour, label=name, markersize=4)
            axis.plot(each.setting.n_games, each.mallows[kind], "--", color=colour)
        axis.set(title=each.setting.name, xlabel="games observed", xscale="log", ylim=(0, 1.02))
        axis.set_xticks(each.setting.n_games[::2], [str(n) for n in each.setting.n_games[::2]])
        axis.minorticks_off()
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize="small", loc="lower right")
    axes[0][0].set_ylabel("first player recognised")
    figure.savefig(path, dpi=90)
    plt.close(figure)
