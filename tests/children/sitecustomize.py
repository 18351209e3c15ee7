"""Every Python process that tests start notes what it tries to reach on other machines; see `tests.network`.

One that is to say where it crashes also says where its threads are, when it gets the signal USR1. Loaded by the
interpreter itself, so it imports nothing that is not there already.
"""

import os
import sys

NOTES = os.environ.get("LAYOUTSCOPE_TEST_CONNECTIONS", "")
OWN_NAMES = frozenset(os.environ.get("LAYOUTSCOPE_TEST_OWN_NAMES", "").split(","))


def note(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("localhost", "::1", "0.0.0.0", "::") or name in OWN_NAMES:
        return
    if name.startswith(("127.", "::ffff:127.")):
        return
    with open(NOTES, "a", encoding="utf-8") as notes:
        notes.write(f"{event} {name!r} by {sys.argv}\n")


if NOTES:
    sys.addaudithook(note)

# The interpreter has imported it for this variable.
if os.environ.get("PYTHONFAULTHANDLER"):
    import faulthandler
    import signal

    faulthandler.register(signal.SIGUSR1, all_threads=True)
