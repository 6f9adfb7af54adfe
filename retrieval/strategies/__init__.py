"""The nine strategies of a search: one a file, each with a switch in ``SearchOptions.off``."""
