"""The tests that depend on what is outside of the repository are found, and no others."""

from pathlib import Path

import pytest

from tests import outside
from tests.outside import dependent, depends

TESTS = Path(__file__).parent
MODULE = """
import os
from tests.dashboard import start
from tests.reading import needs_shared, read
from tests import model_outputs

PLACE = os.environ.get("LAYOUTSCOPE_SHARED", "")
REAL = PLACE + "/real"

@pytest.fixture
def folder():
    return REAL

def test_by_a_mark(tmp_path): ...
test_by_a_mark = needs_shared(test_by_a_mark)

def test_by_a_fixture(folder): ...

@pytest.mark.usefixtures("folder")
class TestByAMark: ...

def test_by_a_module():
    model_outputs.REAL

def test_by_a_call():
    return test_by_a_module()

def test_of_its_own(tmp_path):
    read(start())
"""


def test_names_are_followed(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(MODULE, encoding="utf-8")
    assert {"test_by_a_mark", "test_by_a_fixture", "TestByAMark", "test_by_a_module", "test_by_a_call"} <= dependent(
        module
    )
    assert "test_of_its_own" not in dependent(module)


@pytest.mark.parametrize(
    ("file", "test", "is_one"),
    [
        ("formats/test_formats.py", "test_real_files_read_as_every_other_format_say_what_they_are", True),
        ("formats/test_formats.py", "test_made_boxes_stay_as_they_are", False),
        ("review/test_findings_store.py", "TestContract", True),
        ("browser/test_two_servers.py", "test_two_reviewers_on_two_servers", True),
        ("browser/test_deploy.py", "test_a_proxy_with_a_password_as_the_page_says", True),
        ("browser/test_login.py", "test_log_in_and_log_out", False),
        ("data/test_boxes.py", "test_ratios_stay_in_range_and_swap_with_the_sides", False),
    ],
)
def test_the_tests_of_this_suite(file: str, test: str, *, is_one: bool) -> None:
    path = TESTS / file
    assert f"{test}(" in path.read_text(encoding="utf-8") or f"class {test}:" in path.read_text(encoding="utf-8")
    assert depends(path, test) == is_one


def test_a_doctest_depends_on_nothing_outside() -> None:
    assert not depends(outside.ROOT / "evaluator" / "data" / "boxes.py", "evaluator.data.boxes.area")
