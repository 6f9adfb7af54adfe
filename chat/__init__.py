"""Questions, answers whose claims carry verified citations, and notes.

``answers`` writes them, ``citations`` checks them, ``markdown`` shows them.
"""
