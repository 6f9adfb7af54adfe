"""The ASGI entry point: `uvicorn config.asgi:application`."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_asgi_application()

from django.conf import settings  # noqa: E402  after the setup

from config.admission import admission  # noqa: E402
from config.body_limit import Application, body_limit  # noqa: E402
from config.postgres.kept import kept  # noqa: E402
from config.postgres.lanes import lanes  # noqa: E402
from config.static_files import static_files  # noqa: E402

kept.begin()  # here, since only a web server gains by it
lanes.begin(settings.DATABASE_CONNECTIONS)

application = static_files(
    admission(body_limit(cast(Application, django_application), settings.UPLOAD_MAX_BYTES)), settings.HTTPS
)
