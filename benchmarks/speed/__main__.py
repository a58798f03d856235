"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import (
    choice,
    inference,
    large_naive_bayes,
    mpe,
    plan,
    psdd,
    reasons,
    sdp,
    structured_decisions,
    trim,
)

choice.main()
inference.main()
mpe.main()
plan.main()
psdd.main()
reasons.main()
sdp.main()
structured_decisions.main()
trim.main()
large_naive_bayes.main()
