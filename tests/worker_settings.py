"""The settings for processes that a test starts, with the test's database and files."""

from __future__ import annotations

import os

from config.settings import *  # noqa: F403
from config.settings import DATABASES

DATABASES["default"]["NAME"] = os.environ["PINCITE_TEST_DATABASE"]
MEDIA_ROOT = os.environ["PINCITE_TEST_MEDIA"]
