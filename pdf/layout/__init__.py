"""Layout: from the words of pages to units in reading order."""
