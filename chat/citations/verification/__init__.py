"""Verification: does a passage say what a claim says. Pure: reads no database, network or model."""
