"""The command `compile`: a network as a circuit, with its predicted and actual size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import NetworkOptions, resolve_network, with_case
from unswayed.cli.evidence import names_in
from unswayed.cli.options import option, output_file
from unswayed.cli.output import check_output, say
from unswayed.core.anytime import within
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.circuits.networks.compiled import CompiledNetwork


@with_case
def compile_(
    case: NetworkOptions,
    *,
    constrain: Annotated[
        list[str] | None, option("A,B", "Variables to decide on first, in this order.")
    ] = None,
    output: Annotated[
        Path | None, output_file("OUT.sdd", "Write the circuit here, and its vtree beside it (.vtree).")
    ] = None,
) -> None:
    """Compile a network into a circuit (an SDD).

    Prints the predicted size and the actual one.
    """
    from unswayed.circuits.networks.compiled import compile_network

    if output is not None:
        _check_name(output)
    found, limits = resolve_network(case)
    names = tuple(names_in(constrain or ()))
    with within(limits):
        compiled = compile_network(found, constrained_to=names)
    if output is not None:
        _write(compiled, output)
    wrote = [] if output is None else [f"wrote {output} and {output.with_suffix('.vtree')}"]
    say(described(compiled), [*_lines(compiled), *wrote], as_json=case.as_json)


def described(compiled: CompiledNetwork) -> dict[str, Any]:
    """A compiled network in numbers, for JSON."""
    predicted = compiled.predicted
    return {
        "network": compiled.network.name,
        "constrained_to": [compiled.network.variables[v].name for v in compiled.spine],
        "boolean_variables": len(compiled.encoding.cnf.names),
        "clauses": len(compiled.encoding.cnf.clauses),
        "predicted_elements": None if predicted is None else predicted.elements,
        "elements": compiled.n_elements,
        "nodes": compiled.sdd.n_nodes,
        "predicted_seconds": None if predicted is None else predicted.seconds,
        "seconds": compiled.seconds,
    }


def _lines(compiled: CompiledNetwork) -> list[str]:
    numbers = described(compiled)
    lines = [
        f"{numbers['boolean_variables']:,} Boolean variables, {numbers['clauses']:,} clauses",
        f"predicted: about {compiled.predicted.elements:,.0f} elements" if compiled.predicted else "",
        f"compiled:  {numbers['elements']:,} elements, {numbers['nodes']:,} nodes",
    ]
    if numbers["constrained_to"]:
        lines.append(f"decides first on {', '.join(numbers['constrained_to'])}")
    return [line for line in lines if line]


def _check_name(output: Path) -> None:
    check_output(output)
    if output.suffix != ".sdd":
        right = output.with_suffix(".sdd")
        raise QueryError(
            f"circuits are .sdd files with a .vtree beside; name the circuit {right}, not {output}"
        )


def _write(compiled: CompiledNetwork, output: Path) -> None:
    from unswayed.circuits.io.sdd import write_sdd
    from unswayed.circuits.io.vtree import write_vtree

    write_sdd(compiled.sdd, output)
    write_vtree(compiled.sdd.vtree, output.with_suffix(".vtree"))
