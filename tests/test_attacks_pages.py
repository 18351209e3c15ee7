"""Changed documents, legal geometries and hostile names: a picture or a typed problem, to the pixel, never outside."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks_pages import drawn_documents, freezes, geometry_offs
from tests.red_box import MOST_OFF


def test_changed_documents_give_a_picture_or_a_typed_problem() -> None:
    drawn = list(drawn_documents(60, seed=1))
    assert [each.uncaught for each in drawn if each.uncaught] == []
    assert {"picture", "unreadable"} <= {each.outcome for each in drawn}


def test_boxes_of_any_legal_page_land_on_the_picture() -> None:
    offs = list(geometry_offs(12, seed=1))
    assert len(offs) > 5
    assert [(geometry, dpi, far) for geometry, dpi, far in offs if far > MOST_OFF] == []


def test_no_name_opens_anything_outside_the_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks_pages", "2000", "1"],
        cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.split() == ["2000", "0"]


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux says how long a thread was ready and not run.")
def test_a_call_that_holds_the_interpreter_is_a_freeze() -> None:
    with freezes() as late:
        # Unlike CDLL, PyDLL does not let other threads run.
        ctypes.PyDLL(None).usleep(300_000)
    assert max(each.frozen for each in late) > 0.2
    assert all(each.frozen <= each.seconds for each in late if each.seconds > 0)
