"""The ASGI entry point: `uvicorn config.asgi:application`."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_asgi_application()

from django.conf import settings  # noqa: E402  after the setup

from config.body_limit import Application, body_limit  # noqa: E402
from config.postgres.kept import kept  # noqa: E402
from config.static_files import static_files  # noqa: E402

kept.begin()  # here, since only a web server gains by it

application = static_files(
    body_limit(cast(Application, django_application), settings.UPLOAD_MAX_BYTES), settings.HTTPS
)
