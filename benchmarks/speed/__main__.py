"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import choice, inference, large_naive_bayes, mpe, psdd, sdp, trim

choice.main()
inference.main()
mpe.main()
psdd.main()
sdp.main()
trim.main()
large_naive_bayes.main()
