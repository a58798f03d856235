"""unswayed: how robust are the decisions of a Bayesian-network classifier?

Networks come from files, from tables of data, or from code; questions are verbs:

>>> import unswayed
>>> from unswayed.model.zoo import review
>>> round(unswayed.posterior(review(), {"AC": "+"}, of="D")["+"], 2)
0.61

The names here are the ones most people need; the rooms `circuits`, `engines`, `focs`, `learning`, `spaces`
and `view` have more. Names are imported when first used, so that `import unswayed` costs nothing; the list is
`__init__.pyi`. To read the code, start with `api` and follow one verb down: `api`, `search`, `engines`,
`decisions`, `inference`, `model`, `core`.
"""

import lazy_loader

_get_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_MEANT = {
    "same_decision_probability": "sdp",
    "expected_same_decision_probability": "esdp",
    "expected_classification_agreement": "eca",
    "maximum_achievable_agreement": "maa",
    "maximum_potential_agreement": "mpa",
    "value_of_information": "voi",
    "rank": "voi",
    "explain": "why",
    "most_probable_explanation": "mpe",
    "marginals": "posterior",
    "fit": "learn",
    "read": "read_network",
    "plot": "draw",
}
"""Names that people try first, and ours."""


def __getattr__(name: str) -> object:
    """The public name, imported when first asked for; or the version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("unswayed")
    if name not in __all__ and not name.startswith("_"):
        from unswayed.core.names import unknown_name

        # Whoever knows the papers' term, or another library's verb, is led to ours.
        meant = _MEANT.get(name)
        hint = f"did you mean {meant!r}?" if meant else unknown_name("name", name, __all__).partition("; ")[2]
        raise AttributeError(f"module 'unswayed' has no {name!r}; {hint}")
    return _get_name(name)
