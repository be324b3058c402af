from __future__ import annotations

import pytest

from daemon.address import Address
from daemon.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "transport", "host", "port"),
    [
        ("mqtt://127.0.0.1", "tcp", "127.0.0.1", 1883),
        ("mqtt://table.local:1884/", "tcp", "table.local", 1884),
        ("mqtts://[fe80::1]", "tcp", "fe80::1", 8883),
        ("unix:///run/mosquitto/mosquitto.sock", "unix", "/run/mosquitto/mosquitto.sock", 1883),
    ],
)
def test_urls(url, transport, host, port):
    address = Address(url)
    assert (address.transport, address.host, address.port) == (transport, host, port)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1",
        "http://127.0.0.1",
        "mqtt://",
        "mqtt://host:port",
        "mqtt://host:99999",
        "mqtt://host:0",
        "mqtt://user@host",
        "mqtt://host/path",
        "unix://",
        "unix://host/path",
        "mqtt://[::1",
    ],
)
def test_other_urls_name_the_key(url):
    with pytest.raises(ConfigError, match=r"^mqtt\.url: [^\n]+$"):
        Address(url)


def test_certificates_matter_to_mqtts_only():
    assert Address("mqtt://host").tls() is None
    context = Address("mqtts://host").tls()
    assert context.check_hostname
