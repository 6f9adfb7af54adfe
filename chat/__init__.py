"""Questions, answers with verified citations, and notes.

``answers`` writes answers, ``citations`` verifies their claims, ``markdown`` renders them.
"""
