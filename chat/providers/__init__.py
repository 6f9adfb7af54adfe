"""Language models behind the ``Provider`` protocol of ``base``; ``registry`` finds one by name.

``stream`` reads them with time limits and retries.
"""
