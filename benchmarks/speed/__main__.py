"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import choice, inference, sdp, trim

choice.main()
inference.main()
sdp.main()
trim.main()
