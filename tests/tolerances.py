"""How close is close: the three tolerances that tests compare with."""

EXACT = 1e-12
"""Two ways to compute one number in floating point."""
ENGINE = 1e-9
"""Two engines, or unswayed and another program, on the same question."""


def paper(digits: int) -> float:
    """Half of the last of `digits` printed decimals."""
    return 0.5 * 10.0**-digits + 1e-12
