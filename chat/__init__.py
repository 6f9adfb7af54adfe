"""Questions, answers with verified citations, reviews and notes.

``answers`` writes answers, ``citations`` verifies their claims, ``markdown`` renders them.
"""
