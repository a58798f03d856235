"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import inference, sdp, trim

inference.main()
sdp.main()
trim.main()
