"""Keeps what each strategy of one search did."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from retrieval.providers.errors import ProviderError
from retrieval.results import STRATEGIES, StrategyName, StrategyReport


@dataclass(slots=True)
class Step:
    """One strategy while it runs. ``reason`` is set when it could not do its work."""

    ran: bool = True
    added: int = 0
    reason: str = ""
    milliseconds: float = 0.0


@dataclass(slots=True)
class Trace:
    off: frozenset[StrategyName] = frozenset()
    steps: dict[StrategyName, Step] = field(default_factory=dict)

    def wants(self, name: StrategyName) -> bool:
        """Whether the strategy is switched on; says so in the report when it is not."""
        if name in self.off:
            self.skip(name, "switched off")
        return name not in self.off

    def skip(self, name: StrategyName, reason: str) -> None:
        self.steps[name] = Step(ran=False, reason=reason)

    @contextmanager
    def step(self, name: StrategyName) -> Iterator[Step]:
        """Times the strategy; a provider's error is kept as the reason and goes no further."""
        step = self.steps.setdefault(name, Step())
        start = time.perf_counter()
        try:
            yield step
        except ProviderError as error:
            step.ran, step.reason = False, error.message
        finally:
            step.milliseconds += (time.perf_counter() - start) * 1000

    def reports(self) -> tuple[StrategyReport, ...]:
        return tuple(
            StrategyReport(name, step.ran, round(step.milliseconds, 2), step.added, step.reason)
            for name in STRATEGIES
            if (step := self.steps.get(name))
        )
