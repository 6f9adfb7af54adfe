"""How questions are answered."""
