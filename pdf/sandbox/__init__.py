"""Confined processes: a PDF that hangs, crashes or attacks MuPDF costs one document, never a worker.

``client`` asks, ``server`` answers by ``handlers`` and forks the readers of ``reader_pool``; ``messages`` is
the wire format. ``confinement`` limits them with rlimits, Landlock and seccomp.
"""
