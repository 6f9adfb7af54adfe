"""`manage.py bench search`: see ``retrieval.subcommands``."""

from retrieval.benchmarks.searching import SearchBenchmark

SUBCOMMANDS = (SearchBenchmark(),)
