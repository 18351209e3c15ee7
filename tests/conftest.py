"""For every test: findings are kept in a file of the test session, no example of Hypothesis has a deadline, and
nothing is connected to but this machine."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: what takes too long meets the timeout of pytest.
# A benchmark asks for more examples than a test of the suite.
_examples = int(os.environ.get("LAYOUTSCOPE_EXAMPLES", "0"))
settings.register_profile("layoutscope", deadline=None)
settings.load_profile("layoutscope")


def _own_names() -> frozenset[str]:
    """The name of this machine and its addresses: a test looks whether the dashboard answers there."""
    with contextlib.suppress(OSError):
        name, others, addresses = socket.gethostbyname_ex(socket.gethostname())
        return frozenset((socket.gethostname(), name, *others, *addresses))
    return frozenset((socket.gethostname(),))


OWN_NAMES = _own_names()
# What tests of this process tried to reach on other machines.
_reached: list[str] = []


def _only_this_machine(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: it sees every connection and every look-up of a name, whoever asks, and refuses foreign ones."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not is_this_machine(host):
        _reached.append(f"{event} {host!r}")
        raise OSError(f"tests connect to this machine only; {event} {host!r}")


def is_this_machine(host: object) -> bool:
    """Whether a host of a connection is the loopback, or any address of it."""
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or not isinstance(name, str):
        return name is None
    own = name in ("", "localhost", "::1", "0.0.0.0", "::") or name.startswith(("127.", "::ffff:127."))
    return own or name in OWN_NAMES


sys.addaudithook(_only_this_machine)


@pytest.fixture(autouse=True, scope="session")
def no_other_machine() -> Iterator[None]:
    """No test of the session reached another machine, also where its error was caught."""
    yield
    assert _reached == []


@pytest.fixture(autouse=True, scope="session")
def findings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The place of findings for the dashboard, in this process and in the servers that tests start."""
    before = os.environ.get("LAYOUTSCOPE_FINDINGS")
    os.environ["LAYOUTSCOPE_FINDINGS"] = str(tmp_path_factory.mktemp("findings") / "findings.sqlite")
    yield
    if before is None:
        del os.environ["LAYOUTSCOPE_FINDINGS"]
    else:
        os.environ["LAYOUTSCOPE_FINDINGS"] = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With LAYOUTSCOPE_EXAMPLES each property is tried on so many inputs, whatever number the test names itself."""
    for item in items if _examples else ():
        test = getattr(item, "obj", None)
        if getattr(test, "is_hypothesis_test", False):
            own = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(own, max_examples=_examples, deadline=None)
