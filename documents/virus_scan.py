"""Asks ClamAV about files before they are stored, where ``PINCITE_CLAMD`` says where it listens.

The protocol is clamd's INSTREAM: chunks with their length before them, a chunk of no length, one line back.
"""

from __future__ import annotations

import logging
import socket
import struct
from contextlib import closing

from django.conf import settings
from django.core.files.base import File

logger = logging.getLogger(__name__)
CHUNK = 1 << 16  # bytes
SECONDS = 60.0  # without a sign of the scanner
LONGEST_ANSWER = 4096  # bytes
FOUND, CLEAN, TOO_LARGE = " FOUND", ": OK", "size limit exceeded"

INFECTED = "This file was refused: the virus scanner found {name} in it."
UNREACHABLE = "The virus scanner cannot be reached, so no file is accepted at the moment. Try again later."
TOO_LARGE_TO_SCAN = "This file is larger than the virus scanner accepts."


class Infected(Exception):
    """The scanner knows what is in the file."""


class NotScanned(Exception):
    """The scanner gave no verdict; the file is not accepted."""


def scan(file: File) -> None:
    """Let the file pass, or raise Infected or NotScanned. Does nothing where no scanner is set."""
    if not settings.CLAMD:
        return
    file.seek(0)
    try:
        verdict = ask(file)
    except OSError as error:
        logger.error("the virus scanner at %s does not answer: %s", settings.CLAMD, error)
        raise NotScanned(UNREACHABLE) from error
    finally:
        file.seek(0)
    if verdict.endswith(FOUND):
        name = verdict.removesuffix(FOUND).partition(": ")[2]
        logger.warning("the virus scanner found %s", name)
        raise Infected(INFECTED.format(name=name[:80]))
    if TOO_LARGE in verdict:
        raise NotScanned(TOO_LARGE_TO_SCAN)
    if not verdict.endswith(CLEAN):
        logger.error("the virus scanner answered %r", verdict)
        raise NotScanned(UNREACHABLE)


def ask(file: File) -> str:
    """The line that clamd answers: ``stream: OK`` or ``stream: <name> FOUND``. Raises OSError."""
    with closing(connect()) as connection:
        try:
            connection.sendall(b"zINSTREAM\0")
            for chunk in file.chunks(CHUNK):
                connection.sendall(struct.pack("!I", len(chunk)) + chunk)
            connection.sendall(struct.pack("!I", 0))
        except BrokenPipeError:  # a file too large for it is answered before its end
            pass
        answer = b""
        while b"\0" not in answer and len(answer) < LONGEST_ANSWER and (part := connection.recv(1024)):
            answer += part
    return answer.partition(b"\0")[0].decode(errors="replace").strip()


def connect() -> socket.socket:
    """To ``host:port``, or to the socket at an absolute path."""
    if settings.CLAMD.startswith("/"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(SECONDS)
        connection.connect(settings.CLAMD)
        return connection
    host, _, port = settings.CLAMD.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS)
