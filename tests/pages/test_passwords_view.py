"""PDFs that need a password in the dashboard: Files asks for it, and the session alone has it."""

from pathlib import Path
from typing import Any

import pymupdf  # type: ignore[import-untyped]
import pytest

from evaluator.pdf.passwords import FILE_VARIABLE, states_encryption
from pages.app import pictures
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import FILES, PAGE_BROWSER, go, press, start, viewer, workspace

SECRET = "letmein"
ASKED = "Password of locked.pdf"


@pytest.fixture
def files(tmp_path: Path) -> str:
    """Boxes on a PDF that needs a password, beside one that only its owner has closed."""
    (tmp_path / "pdfs").mkdir()
    for name, user in (("locked", SECRET), ("open", "")):
        document = pymupdf.open()
        document.new_page(width=612, height=792).insert_text((100, 170), "Restricted report")
        kept = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "own-er", "user_pw": user}
        document.save(tmp_path / "pdfs" / f"{name}.pdf", **kept)
    rows = [box(0.1, 0.1, 0.9, 0.3, document=f"{name}.pdf") for name in ("locked", "open")]
    truth = write_file(tmp_path / "truth.json", rows, side="ground_truth")
    return workspace(truth, [write_file(tmp_path / "model.json", rows)], tmp_path / "pdfs")


def shown(app: Any) -> Any:
    return viewer(app)["page"]


def test_files_asks_for_the_password_and_the_page_is_shown(files: str) -> None:
    app = start(PAGE_BROWSER, files=files, document="locked.pdf")
    picture = shown(app)
    assert picture["problem"]["title"] == "locked.pdf needs a password"
    assert picture["problem"]["in_files"]
    app = go(app, FILES)
    (field,) = [each for each in app.text_input if dashboard.plain(each.label) == ASKED]
    assert field.proto.type == field.proto.PASSWORD
    field.set_value("wrong")
    app = press(app, "Open with these passwords")
    assert "The given password does not open locked.pdf." in dashboard.texts(app.error)
    (field,) = [each for each in app.text_input if dashboard.plain(each.label) == ASKED]
    field.set_value(SECRET)
    app = press(app, "Open with these passwords")
    assert ASKED not in [dashboard.plain(each.label) for each in app.text_input]
    assert SECRET not in str(dashboard.address(app))
    app = go(app, PAGE_BROWSER)
    assert shown(app)["problem"] is None
    # Another session does not have it.
    other = shown(start(PAGE_BROWSER, files=files, document="locked.pdf"))
    assert other["problem"]["title"] == "locked.pdf needs a password"


def test_a_file_of_passwords_opens_it_for_all_sessions(
    files: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.txt").write_text(SECRET)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "p.txt"))
    pictures._renderer.clear()
    try:
        app = start(PAGE_BROWSER, files=files, document="locked.pdf")
        assert shown(app)["problem"] is None
        assert not [each for each in go(app, FILES).text_input if dashboard.plain(each.label) == ASKED]
    finally:
        pictures._renderer.clear()


def test_a_pdf_says_whether_it_is_encrypted(tmp_path: Path) -> None:
    for name, kept, wanted in (
        ("none", {"encryption": pymupdf.PDF_ENCRYPT_NONE}, False),
        ("old", {"encryption": pymupdf.PDF_ENCRYPT_RC4_40, "user_pw": "a"}, True),
        ("new", {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": "a", "use_objstms": 1}, True),
    ):
        document = pymupdf.open()
        for _ in range(400):
            document.new_page().insert_text((9, 36), name)
        document.save(tmp_path / f"{name}.pdf", **kept)
        with (tmp_path / f"{name}.pdf").open("rb") as file:
            assert states_encryption(file) is wanted, name
    (tmp_path / "empty.pdf").write_bytes(b"")
    with (tmp_path / "empty.pdf").open("rb") as file:
        assert not states_encryption(file)
