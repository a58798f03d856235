"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import (
    audit,
    choice,
    companion,
    executor,
    focs_learning,
    inference,
    large_naive_bayes,
    learn,
    mpe,
    plan,
    psdd,
    rankings,
    reasons,
    sdp,
    structured_decisions,
    trim,
)

audit.main()
choice.main()
companion.main()
executor.main()
focs_learning.main()
inference.main()
learn.main()
mpe.main()
plan.main()
psdd.main()
rankings.main()
reasons.main()
sdp.main()
structured_decisions.main()
trim.main()
large_naive_bayes.main()
