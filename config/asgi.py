"""The ASGI entry point: `uvicorn config.asgi:application`."""

import gc
import os
from importlib import import_module
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_asgi_application()

from django.conf import settings  # noqa: E402  after the setup

from operations.http.admission import (  # noqa: E402
    Application,
    admission,
    body_limit,
)
from operations.http.static_files import static_files  # noqa: E402
from operations.postgres.base import connection_limits, connection_pool  # noqa: E402

connection_pool.begin()  # here: only a web server keeps connections idle
connection_limits.begin(settings.DATABASE_CONNECTIONS)

# All views and their modules, before the first request, which has a limit of processor time. Other processes
# import the last three where they need them: it takes a second.
for name in (settings.ROOT_URLCONF, "agents.mcp_server", "openai.types.chat", "openai.types.responses"):
    import_module(name)
gc.collect()
gc.freeze()  # modules live for good: to traverse them took a sixth of an answer's processor time
gc.set_threshold(20_000, 20, 20)  # an answer allocates thousands of short-lived values, and few cycles

application = static_files(
    admission(body_limit(cast(Application, django_application), settings.UPLOAD_MAX_BYTES)), settings.HTTPS
)
