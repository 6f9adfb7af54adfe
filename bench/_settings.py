"""Settings of a benchmark's own installation: one client sends what thousands would."""

from config.settings import *  # noqa: F403
from config.settings import RATES

RATES |= dict.fromkeys(("api", "ask", "upload", "anonymous"), "1000000/min")
