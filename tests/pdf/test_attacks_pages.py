"""Changed documents, legal geometries and hostile names: a picture or a typed problem, to the pixel, never outside."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks_pages import Late, drawn_documents, freezes, geometry_offs
from tests.red_box import MOST_OFF


def test_changed_documents_give_a_picture_or_a_typed_problem() -> None:
    drawn = list(drawn_documents(40, seed=1))
    assert [each.uncaught for each in drawn if each.uncaught] == []
    assert {"picture", "unreadable"} <= {each.outcome for each in drawn}


def test_boxes_of_any_legal_page_land_on_the_picture() -> None:
    offs = list(geometry_offs(8, seed=1))
    assert len(offs) > 4
    assert [(geometry, dpi, far) for geometry, dpi, far in offs if far > MOST_OFF] == []


def test_no_name_opens_anything_outside_the_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks_pages", "500", "1"],
        cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    # With the 33 names of the corpus.
    assert done.stdout.split() == ["533", "0"]


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux says how long a thread was ready and not run.")
def test_a_call_that_holds_the_interpreter_is_a_freeze() -> None:
    with freezes() as late:
        # Unlike CDLL, PyDLL does not let other threads run.
        ctypes.PyDLL(None).usleep(900_000)
    longest = max(late, key=lambda each: each.seconds - each.machine)
    # On a busy machine the thread that made the call waits for a processor before and after it.
    assert longest.seconds - longest.machine > 0.2
    assert longest.frozen > 0.2 - longest.waited - longest.stolen
    assert all(each.frozen <= each.seconds for each in late if each.seconds > 0)


@pytest.mark.parametrize(
    ("late", "frozen"),
    [
        (Late(0.1, 0.1, ran=0.0, waited=0.0), 0.0),  # the machine ran others
        (Late(0.1, 0.0, ran=0.0, waited=0.1), 0.0),  # whoever held the interpreter waited for the machine
        (Late(0.1, 0.0, ran=0.1, waited=0.0), 0.1),  # somebody held it and computed
        (Late(0.1, 0.0, ran=0.1, waited=0.3), 0.1),  # the same, while others waited
        (Late(0.1, 0.0, ran=0.0, waited=0.0), 0.1),  # somebody held it and slept
        (Late(0.1, 0.04, ran=0.2, waited=0.0), 0.06),
        (Late(-0.001, 0.0, ran=0.005, waited=0.0), 0.0),
        (Late(0.1, 0.0, ran=0.1, waited=0.0, stolen=0.08), 0.02),  # the machine below ran others
        (Late(0.1, 0.0, ran=0.0, waited=0.0, elsewhere=0.1), 0.0),  # the machine stood still
        (Late(0.1, 0.06, ran=0.1, waited=0.0, elsewhere=0.04), 0.04),
    ],
)
def test_a_freeze_is_what_the_process_did(late: Late, frozen: float) -> None:
    assert late.frozen == pytest.approx(frozen)
