"""Every Python process that tests start notes what it tries to reach on other machines, or opens of the user's state.

See `tests.network` and `tests.run_folder`. One that is to say where it crashes also says where its threads are, when it
gets the signal USR1. Loaded by the interpreter itself, so it imports nothing that is not there already.
"""

import os
import sys

NOTES = os.environ.get("LAYOUTSCOPE_TEST_CONNECTIONS", "")
USER_FOLDERS = tuple(filter(None, os.environ.get("LAYOUTSCOPE_TEST_USER_FOLDERS", "").split(os.pathsep)))
OWN_NAMES = frozenset(os.environ.get("LAYOUTSCOPE_TEST_OWN_NAMES", "").split(","))


def note(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook."""
    if event in ("open", "os.mkdir", "sqlite3.connect"):
        if str(arguments[0]).startswith(USER_FOLDERS):
            say(event, arguments[0])
    elif event == "socket.connect":
        address = arguments[1]
        look(event, address[0] if isinstance(address, tuple) else "localhost")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        look(event, arguments[0])


def look(event: str, host: object) -> None:
    """Note a host that is not this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("localhost", "::1", "0.0.0.0", "::") or name in OWN_NAMES:
        return
    if not name.startswith(("127.", "::ffff:127.")):
        say(event, name)


def say(event: str, what: object) -> None:
    """Add a line to the notes."""
    with open(NOTES, "a", encoding="utf-8") as notes:
        notes.write(f"{event} {what!r} by {sys.argv}\n")


if NOTES:
    sys.addaudithook(note)

# The interpreter has imported it for this variable.
if os.environ.get("PYTHONFAULTHANDLER"):
    import faulthandler
    import signal

    faulthandler.register(signal.SIGUSR1, all_threads=True)
