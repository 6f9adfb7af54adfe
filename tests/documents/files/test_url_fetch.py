"""Downloads by URL: only public addresses and PDFs, with limits of size and time."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from documents.files import url_fetch
from documents.files.url_fetch import FetchRefused, fetch, is_public
from tests.scripted_server import Answer, ScriptedServer, scripted_server

PDF = b"%PDF-1.4\n" + b"x" * 500


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
def private_allowed(settings: Any) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = True


def refusal(url: str) -> str:
    with pytest.raises(FetchRefused) as refused, fetch(url):
        pass
    return refused.value.message


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:db8::1",
    ],
)
def test_an_address_that_is_not_of_the_open_internet_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_open_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.usefixtures("private_allowed")
def test_a_pdf_arrives_whole_with_the_name_from_its_url(server: ScriptedServer) -> None:
    server.script["/a/My%20report.PDF"] = Answer(body=PDF)
    with fetch(server.url + "/a/My%20report.PDF?x=1") as fetched:
        assert fetched.file.read() == PDF
        assert fetched.name == "My report.PDF"


HERE = ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1"]


@pytest.mark.parametrize("host", HERE)
def test_this_machine_is_refused_however_it_is_written(server: ScriptedServer, host: str) -> None:
    assert refusal(server.url.replace("127.0.0.1", host)) == url_fetch.NOT_PUBLIC
    assert not server.asked


def test_an_octal_address_is_none(server: ScriptedServer) -> None:
    assert refusal(server.url.replace("127.0.0.1", "0177.0.0.1")) == url_fetch.NOT_HTTP
    assert not server.asked


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/a.pdf",
        "http://[",
        "http://a b",
        "http://a<b>/",
        "gopher://x/",
        "//example.org/a.pdf",
        "",
        "http://",
        "http://user:secret@example.org/a.pdf",
        "data:application/pdf,%25PDF-",
    ],
)
def test_only_http_addresses_without_credentials_are_fetched(url: str) -> None:
    assert refusal(url) == url_fetch.NOT_HTTP


@pytest.mark.usefixtures("private_allowed")
def test_redirects_are_followed_and_each_is_checked(server: ScriptedServer) -> None:
    server.script["/old"] = Answer(302, headers={"Location": "/new.pdf"})
    server.script["/new.pdf"] = Answer(body=PDF)
    server.script["/to-file"] = Answer(302, headers={"Location": "file:///etc/passwd"})
    server.script["/round"] = Answer(302, headers={"Location": "/round"})
    with fetch(server.url + "/old") as fetched:
        assert fetched.name == "new.pdf"
    assert refusal(server.url + "/to-file") == url_fetch.NOT_HTTP
    assert refusal(server.url + "/round") == url_fetch.NO_ANSWER


def test_a_redirect_into_the_private_network_is_refused(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_server("127.0.0.2") as inner:
        inner.script["/secret.pdf"] = Answer(body=PDF)
        server.script["/"] = Answer(302, headers={"Location": inner.url + "/secret.pdf"})
        monkeypatch.setattr(url_fetch, "is_public", lambda address: str(address) == "127.0.0.1")
        assert refusal(server.url + "/") == url_fetch.NOT_PUBLIC
        assert server.asked and not inner.asked


def test_the_connection_goes_to_the_address_that_was_checked(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebinding DNS server answers with a public address first and a private one next."""
    answers = iter(["127.0.0.1", "127.0.0.2", "127.0.0.2"])
    port = int(server.url.rpartition(":")[2])

    def resolver(host: str, *args: Any, **kwargs: Any) -> list[Any]:
        found = next(answers) if host == "rebinding.example" else host
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    monkeypatch.setattr(url_fetch, "is_public", lambda address: str(address) == "127.0.0.1")
    server.script["/a.pdf"] = Answer(body=PDF)
    with fetch(f"http://rebinding.example:{port}/a.pdf") as fetched:
        assert fetched.file.read() == PDF
    assert next(answers) == "127.0.0.2", "the name was resolved once"


@pytest.mark.usefixtures("private_allowed")
def test_what_is_not_a_pdf_or_too_large_or_absent_is_refused(server: ScriptedServer, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 400
    server.script["/page.pdf"] = Answer(body=b"<html>not a PDF</html>")
    server.script["/large.pdf"] = Answer(body=PDF)
    server.script["/lying.pdf"] = Answer(body=PDF, headers={"Content-Length": "10"})
    assert refusal(server.url + "/page.pdf") == url_fetch.NOT_A_PDF
    assert refusal(server.url + "/large.pdf") == url_fetch.TOO_LARGE
    assert refusal(server.url + "/none.pdf") == url_fetch.NO_ANSWER
    with fetch(server.url + "/lying.pdf") as fetched:
        assert len(fetched.file.read()) == 10


@pytest.mark.usefixtures("private_allowed")
@pytest.mark.parametrize("slow", [Answer(body=PDF, delay=30), Answer(body=PDF, drip=0.5)])
def test_a_server_that_is_slow_or_drips_is_given_up(
    server: ScriptedServer, settings: Any, slow: Answer
) -> None:
    settings.FETCH_SECONDS = 0.6
    server.script["/slow.pdf"] = slow
    began = time.monotonic()
    assert refusal(server.url + "/slow.pdf") == url_fetch.TOO_SLOW
    assert time.monotonic() - began < 15


@pytest.mark.usefixtures("private_allowed")
def test_a_proxy_of_the_environment_is_not_used(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.script["/a.pdf"] = Answer(body=PDF)
    with fetch(server.url + "/a.pdf") as fetched:
        assert fetched.file.read() == PDF


@pytest.mark.parametrize(
    "address",
    [
        *(
            "192.0.0.192",
            "192.0.0.9",
            "192.88.99.1",
            "192.31.196.1",
            "255.255.255.255",
            "224.0.0.1",
            "fec0::1",
        ),
        *("3fff::1", "3fff:fff:ffff::1", "2001::1", "2001:db8::1", "5f00::1", "100::1", "2620:4f:8000::1"),
        *("::ffff:192.88.99.1", "2002:c058:6301::1", "64:ff9b::192.0.0.192", "4000::1"),
    ],
)
def test_what_ianas_tables_do_not_give_to_hosts_is_refused(address: str) -> None:
    """On 9a9b452 this was left to ``ipaddress``, whose tables differ between releases of Python."""
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "223.255.255.1", "2606:4700::1", "2a00:1450::1", "2002:101:101::1"]
)
def test_addresses_of_hosts_are_public(address: str) -> None:
    assert is_public(ip_address(address))
