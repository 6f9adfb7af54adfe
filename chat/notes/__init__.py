"""Notes: ``note_commands`` saves and merges them, ``live_citations`` copies citations into them."""
