"""Django's own configuration: settings, URL map, ASGI entry point."""
