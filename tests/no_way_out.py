"""Run a command where there is no other machine, and say what any of its processes sent to one.

    python -m tests.no_way_out COMMAND ...

Owns the network of the command: the loopback, and one way out that leads to this program, which reads every packet and
answers none. So nothing is missed: Chromium, the servers of the tests, and what is sent without a connection. Needs
Linux, `unshare` and `ip`, and the right to use them. Ends as the command does, or with 97 when something was sent.
"""

import fcntl
import ipaddress
import os
import select
import shutil
import struct
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Final

SENT: Final = 97
"""Exit code when packets were sent to other machines."""
_INSIDE: Final = "--inside"
_SET_TUN, _TUN, _NO_HEAD = 0x400454CA, 0x0001, 0x1000
_WAY_OUT: Final = "out0"
_LOOK_SECONDS: Final = 0.05
_PORTS: Final = {6: "tcp", 17: "udp"}


def possible() -> bool:
    """Whether a network of its own can be made here."""
    if shutil.which("unshare") is None or shutil.which("ip") is None or not Path("/dev/net/tun").exists():
        return False
    tried = ["unshare", "--net", "ip", "tuntap", "add", "dev", _WAY_OUT, "mode", "tun"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def destination(packet: bytes) -> str | None:
    """Where a packet goes, as protocol, address and port; None for what the kernel tells its neighbours."""
    version = packet[0] >> 4
    head, protocol = (4 * (packet[0] & 15), packet[9]) if version == 4 else (40, packet[6])
    to = ipaddress.ip_address(packet[16:20] if version == 4 else packet[24:40])
    if protocol not in _PORTS and to.is_multicast:
        return None
    port = struct.unpack("!H", packet[head + 2 : head + 4])[0] if protocol in _PORTS else 0
    return f"{_PORTS.get(protocol, protocol)} {to} {port}"


def _way_out() -> int:
    """The open end of the only way out, to which all that is not the loopback is sent."""
    end = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(end, _SET_TUN, struct.pack("16sH", _WAY_OUT.encode(), _TUN | _NO_HEAD))
    for words in (
        "link set lo up",
        f"addr add 198.51.100.2/24 dev {_WAY_OUT}",
        f"link set {_WAY_OUT} up",
        f"route add default dev {_WAY_OUT}",
        f"-6 addr add 2001:db8::2/64 dev {_WAY_OUT} nodad",
        f"-6 route add default dev {_WAY_OUT}",
    ):
        # Some machines have no IPv6.
        subprocess.run(["ip", *words.split()], check=not words.startswith("-6"))
    return end


def _inside(words: list[str]) -> int:
    """Run the command in the network that `unshare` has made."""
    end, sent, ended = _way_out(), Counter[str](), threading.Event()

    def read() -> None:
        last = False
        while not last:
            # A packet waits here from the moment it is sent: what waits when the command has ended is still read.
            last = ended.is_set()
            while select.select([end], [], [], 0 if last else _LOOK_SECONDS)[0]:
                to = destination(os.read(end, 1 << 16))
                if to is not None:
                    sent[to] += 1

    reader = threading.Thread(target=read)
    reader.start()
    try:
        code = subprocess.run(words, check=False).returncode
    finally:
        ended.set()
        reader.join()
    for to, count in sent.most_common():
        print(f"sent off this machine: {to}, {count} packets", file=sys.stderr)
    return SENT if sent else code


if __name__ == "__main__":
    if sys.argv[1:2] == [_INSIDE]:
        sys.exit(_inside(sys.argv[2:]))
    again = [sys.executable, "-m", "tests.no_way_out", _INSIDE, *sys.argv[1:]]
    sys.exit(subprocess.run(["unshare", "--net", *again], check=False).returncode)
