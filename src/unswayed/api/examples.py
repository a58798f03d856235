"""The classifiers that come with unswayed: each bundled network with something to decide about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unswayed.decisions.classifier import Classifier
from unswayed.model import zoo
from unswayed.model.network import BayesianNetwork


@dataclass(frozen=True, slots=True)
class Example:
    """A bundled network and a question to try on it."""

    make: Callable[[], BayesianNetwork]
    """Makes the network."""
    target: str
    positive: str | None = None
    threshold: float | None = None
    features: tuple[str, ...] | None = None
    """What may be observed; None for what the network singles out."""

    @property
    def name(self) -> str:
        """What it goes by wherever a network file is expected."""
        return self.make.__name__

    @property
    def about(self) -> str:
        """The first line of what the network says about itself, without the reference."""
        line = (self.make.__doc__ or "").partition("\n")[0]
        return line.partition(" [")[0].rstrip(".") + ("" if line.endswith("?") else ".")

    def classifier(self) -> Classifier:
        """What decides."""
        network = self.make()
        return Classifier(
            network, self.target, self.features, threshold=self.threshold, positive=self.positive
        )


EXAMPLES = (
    Example(zoo.review, "D", "+", 0.6, ("R1", "R2", "AC")),
    Example(zoo.printer, "Fault"),
    Example(zoo.disease_tests, "Disease", "+", 0.2),
    Example(zoo.sprinkler, "Rain", "yes", features=("Cloudy", "Sprinkler", "WetGrass")),
)
EXAMPLE_BY_NAME = {example.name: example for example in EXAMPLES}
