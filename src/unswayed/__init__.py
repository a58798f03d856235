"""unswayed: how robust are the decisions of a Bayesian-network classifier?

Networks come from files, from tables of data, or from code; questions are verbs:

>>> import unswayed
>>> from unswayed.model.zoo import review
>>> round(unswayed.posterior(review(), "D", {"AC": "+"})["+"], 2)
0.61

The names here are the ones most people need; the rooms `circuits`, `engines`, `focs`, `learning`, `spaces`
and `view` have more. Names are imported when first used, so that `import unswayed` costs nothing; the list is
`__init__.pyi`. To read the code, start with `api` and follow one verb down: `api`, `search`, `engines`,
`decisions`, `inference`, `model`, `core`.
"""

import lazy_loader

_get_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """The public name, imported when first asked for; or the version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("unswayed")
    return _get_name(name)
