"""The ASGI entry point: `uvicorn config.asgi:application`."""

import os
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
from operations.postgres.base import connection_pool  # noqa: E402
from operations.postgres.connection_limits import connection_limits  # noqa: E402

connection_pool.begin()  # here, since only a web server gains by it
connection_limits.begin(settings.DATABASE_CONNECTIONS)

application = static_files(
    admission(body_limit(cast(Application, django_application), settings.UPLOAD_MAX_BYTES)), settings.HTTPS
)
