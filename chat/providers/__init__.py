"""Language models behind the ``Provider`` protocol of ``base``.

``registry`` finds one by name; ``stream`` reads its answer with timeouts and retries.
"""
