"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import choice, inference, large_naive_bayes, mpe, plan, psdd, reasons, sdp, trim

choice.main()
inference.main()
mpe.main()
plan.main()
psdd.main()
reasons.main()
sdp.main()
trim.main()
large_naive_bayes.main()
