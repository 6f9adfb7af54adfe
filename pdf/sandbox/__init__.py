"""Confined processes: a PDF that hangs, crashes or exploits MuPDF costs one document, never a worker.

``client`` sends requests to ``server``, which answers them and forks the readers of
``reader_pool``; ``messages`` is the wire format. ``confinement`` applies rlimits, Landlock and seccomp.
"""
