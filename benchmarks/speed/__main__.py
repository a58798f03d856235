"""All speed benchmarks, one after another."""

from __future__ import annotations

from benchmarks.speed import inference, sdp

inference.main()
sdp.main()
