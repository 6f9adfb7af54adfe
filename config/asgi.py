"""The ASGI entry point: `uvicorn config.asgi:application`."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_asgi_application()

from django.conf import settings  # noqa: E402  after the setup

from config.body_limit import Application, body_limit  # noqa: E402

application = body_limit(cast(Application, django_application), settings.UPLOAD_MAX_BYTES)
