"""Make the pictures of the documentation again: `python docs/images/make.py` in the folder of the project.

All of them are of bundled networks. The last one, of the report, needs the browser chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import unswayed
from unswayed.api.results.recording import SearchRecord
from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import balanced
from unswayed.learning.classifiers import learn_naive_bayes
from unswayed.model import zoo
from unswayed.view.page import report_page
from unswayed.view.plotting import draw_circuit

HERE = Path(__file__).parent


def main() -> None:
    """Write every picture beside this file."""
    faults = unswayed.Classifier(zoo.printer(), "Fault", None, unswayed.MostProbable())
    tests = unswayed.Classifier(zoo.disease_tests(), "Disease", None, unswayed.ThresholdRule("+", 0.2))
    unswayed.draw(faults, {"Light": "red"}, kept=["Ping"], title="printer").save(HERE / "network.svg")
    unswayed.voi(tests).plot().save(HERE / "ranking.png")
    unswayed.frontier(tests).plot(title="disease_tests: what each budget buys").save(HERE / "frontier.png")
    findings = [("T1", "+"), ("T3", "-"), ("T4", "+"), ("T5", "+"), ("T2", "-")]
    unswayed.follow(tests, observe=findings).plot(title="A patient, test by test").save(HERE / "course.png")
    twentieths = [step / 20 for step in range(1, 20)]
    unswayed.thresholds(tests, budget=2, thresholds=twentieths).plot().save(HERE / "thresholds.png")
    searched().plot(title="Fourteen of 44 features").save(HERE / "progress.png")
    draw_circuit(courses(), title="which courses may be taken together").save(HERE / "circuit.png")
    show_report(tests)
    show_protocol()


def show_protocol() -> None:
    """A protocol of three tests at most, from a table that is not part of the project."""
    table = HERE.parents[2] / "shared" / "data" / "tables" / "heart_statlog.csv"
    if table.exists():
        network = learn_naive_bayes(table, "disease")
        heart = unswayed.Classifier(network, "disease", None, unswayed.ThresholdRule("2", 0.5))
        unswayed.plan(heart, at_least=0.9, max_depth=3).plot().save(HERE / "heart_plan.svg")


def searched() -> SearchRecord:
    """The record of a search that takes a while."""
    network = zoo.random_naive_bayes(44, np.random.default_rng(5))
    wide = unswayed.Classifier(network, "C", None, unswayed.ThresholdRule("s0", 0.5))
    unswayed.trim(wide, budget=2)  # compiles what the search needs, so that the picture is of the search
    record = SearchRecord()
    found = unswayed.trim(wide, budget=14, report=record).selection
    record(found.value, found.upper_bound, found.evaluations)
    return record


def courses() -> Sdd:
    """Logic (L), knowledge (K), probability (P) and AI (A): A needs P, K needs A or L, one of P and L."""
    builder = SddBuilder(balanced(["L", "K", "P", "A"]))
    logic, probability, ai = map(builder.literal, (1, 3, 4))
    no_ai, no_knowledge = builder.literal(-4), builder.literal(-2)
    taken = builder.conjoin(
        [
            builder.disjoin([probability, logic]),
            builder.disjoin([no_ai, probability]),
            builder.disjoin([no_knowledge, ai, logic]),
        ]
    )
    (circuit,) = builder.build([taken])
    return circuit


def show_report(classifier: unswayed.Classifier) -> None:
    """The first screen of a report, as a browser shows it."""
    browser = shutil.which("chromium")
    if browser is None:
        print("report.png is left as it is: no chromium here")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(report_page(unswayed.report(classifier)), encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=940,800",
        ]
        command = [browser, *options, f"--screenshot={HERE / 'report.png'}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
