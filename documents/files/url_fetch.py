"""Download a PDF from an untrusted URL, with protection against SSRF.

Only http and https. A host name is resolved once and the connection goes to
that address, which defeats DNS rebinding. Private, loopback, link-local and
other special addresses are refused, also after redirects. Size and time are
limited, and the content must begin like a PDF.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote

import httpcore
import httpx
from django.conf import settings
from django.core.files.base import File

from text.numbers import whole_number

MAX_REDIRECTS = 5
IN_MEMORY = 1024 * 1024  # bytes; a larger file goes to disk
HEAD = 1024  # bytes that must contain '%PDF-' (PDF 32000-1, annex H.3.4.1)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
OnProgress = Callable[[int, int], None]

# https://www.iana.org/assignments/iana-ipv4-special-registry (and multicast), 2025-10. The few globally
# reachable ones (anycast for AS112, AMT and PCP) are refused, too: they serve no files.
_IPV4 = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24"
    " 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15"
    " 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
SPECIAL_IPV4 = tuple(ipaddress.IPv4Network(network) for network in _IPV4.split())
# https://www.iana.org/assignments/ipv6-address-space: the only space assigned to hosts, and the special
# addresses within it (6to4 is unwrapped).
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
SPECIAL_IPV6 = tuple(
    map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"))
)


class FetchRefused(Exception):
    """The URL was not fetched. ``message`` is for the user and reveals nothing about our network."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


HOST_NAME = re.compile(rb"[0-9A-Za-z._-]+")  # other scripts in their DNS encoding (IDNA)
NOT_HTTP = "Only addresses that begin with http:// or https:// can be opened."
NOT_PUBLIC = "This address cannot be reached, or is not allowed."
NO_ANSWER = "The server at this address did not send the file."
TOO_SLOW = "The server at this address was too slow."
TOO_LARGE = "The file at this address is larger than this server accepts."
NOT_A_PDF = "This address does not lead to a PDF."


@dataclass(frozen=True, slots=True)
class Fetched:
    """A downloaded PDF: ``file`` is at its beginning; ``name`` is the URL's last segment."""

    file: File
    name: str
    url: str


@contextmanager
def fetch(
    url: str,
    on_progress: OnProgress = lambda done, total: None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[Fetched]:
    """Yield the PDF at ``url``, open during the block. Raises FetchRefused.

    ``on_progress`` gets the bytes received and the total, where the server gives a Content-Length.
    ``headers`` go to the server of ``url``, to none that it redirects to.
    """
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as body:
        final = download(url, body, on_progress, headers)
        yield Fetched(File(body), file_name(final), str(final))


def download(
    url: str, body: IO[bytes], on_progress: OnProgress, headers: Mapping[str, str] | None = None
) -> httpx.URL:
    """Follow redirects, write the content to ``body`` and return the last URL. Raises FetchRefused."""
    first = at = parsed(url)
    with guarded_client(deadline=time.monotonic() + settings.FETCH_SECONDS) as client:
        for _ in range(MAX_REDIRECTS + 1):
            try:
                own = headers if at.netloc == first.netloc else None
                with client.stream("GET", at, headers=own) as response:
                    if not response.has_redirect_location:
                        receive_body(response, body, on_progress)
                        return at
                    at = parsed(at.join(response.headers["location"]))
            except httpx.TimeoutException:
                raise FetchRefused(TOO_SLOW) from None
            except (httpx.HTTPError, httpx.InvalidURL, ValueError):
                raise FetchRefused(NO_ANSWER) from None
    raise FetchRefused(NO_ANSWER)


def parsed(url: str | httpx.URL) -> httpx.URL:
    """Parse a URL. Raises FetchRefused for an invalid one and for an IP address that is not public.

    A host name is resolved and checked when the connection is made.
    """
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        raise FetchRefused(NOT_HTTP) from None
    if address.scheme not in ("http", "https") or not address.host or address.userinfo:
        raise FetchRefused(NOT_HTTP)
    try:
        number = ipaddress.ip_address(address.host)
    except ValueError:
        if not HOST_NAME.fullmatch(address.raw_host):
            raise FetchRefused(NOT_HTTP) from None
    else:
        refuse_private([number])
    return address


def refuse_private(addresses: list[Address]) -> None:
    if not settings.FETCH_PRIVATE_ADDRESSES and not all(map(is_public, addresses)):
        raise FetchRefused(NOT_PUBLIC)


def receive_body(response: httpx.Response, body: IO[bytes], on_progress: OnProgress) -> None:
    if response.status_code != 200:
        raise FetchRefused(NO_ANSWER)
    size, expected = 0, whole_number(response.headers.get("content-length", ""))
    for part in response.iter_raw():
        size += len(part)
        if size > settings.UPLOAD_MAX_BYTES:
            raise FetchRefused(TOO_LARGE)
        body.write(part)
        if expected and size <= expected:
            on_progress(size, expected)
    body.seek(0)
    if b"%PDF-" not in body.read(HEAD):
        raise FetchRefused(NOT_A_PDF)
    body.seek(0)


def file_name(url: httpx.URL) -> str:
    last = unquote(url.path).rstrip("/").rpartition("/")[2] or url.host
    return last if re.search(r"\.pdf$", last, re.IGNORECASE) else f"{last}.pdf"


def guarded_client(deadline: float) -> httpx.Client:
    """Return a client that connects through ``GuardedBackend`` and ignores proxies of the environment.

    ``deadline`` is on the monotonic clock and applies to all its requests together.
    """
    transport = httpx.HTTPTransport(trust_env=False, retries=0)
    transport._pool = httpcore.ConnectionPool(
        ssl_context=httpx.create_ssl_context(), network_backend=GuardedBackend(deadline), max_connections=1
    )
    return httpx.Client(
        transport=transport,
        follow_redirects=False,
        trust_env=False,
        timeout=httpx.Timeout(settings.FETCH_SECONDS / 3, connect=5),
        headers={"User-Agent": "Pincite", "Accept": "application/pdf", "Accept-Encoding": "identity"},
    )


class GuardedBackend(httpcore.SyncBackend):
    """Resolve a name once, refuse it unless all its addresses are public, and connect to the first."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = resolve(host, port)
        refuse_private(addresses)
        left = within(timeout, self._deadline)
        stream = super().connect_tcp(str(addresses[0]), port, left, local_address, socket_options)
        return DeadlineStream(stream, self._deadline)


class DeadlineStream(httpcore.NetworkStream):
    """A stream with a deadline for all its reads and writes together (slow-loris protection)."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, within(timeout, self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, within(timeout, self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = within(timeout, self._deadline)
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def within(timeout: float | None, deadline: float) -> float:
    """Return the smaller of the timeout and the time left, in seconds. Raises httpcore.ReadTimeout."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time for this file is over")
    return left if timeout is None else min(timeout, left)


def resolve(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise FetchRefused(NOT_PUBLIC) from None
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


def is_public(address: Address) -> bool:
    """Return whether the address is globally reachable, also when wrapped in IPv6 (mapped, 6to4, NAT64).

    By IANA's tables: ``ipaddress.is_global`` differs between releases of Python.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or embedded_by_nat64(address)
        if inner is not None:
            return is_public(inner)
        return address in GLOBAL_UNICAST and not any(address in network for network in SPECIAL_IPV6)
    return not any(address in network for network in SPECIAL_IPV4)


def embedded_by_nat64(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address in the last 32 bits of 64:ff9b::/96 (RFC 6052), or None."""
    if address not in ipaddress.IPv6Network("64:ff9b::/96"):
        return None
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
