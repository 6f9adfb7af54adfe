"""Settings of the tests on a Citus cluster."""

from config.settings import *  # noqa: F403

LEASE_SECONDS = 3600
