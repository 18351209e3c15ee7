"""Further cases of the kinds that were reported, each with its right value or its right sentence."""

from __future__ import annotations

import shlex
import zipfile
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pymupdf
import pytest
from pyarrow import parquet

from evaluator import formats
from evaluator.data.dataset import page_keys
from evaluator.data.fixes import parse_fix
from evaluator.data.issues import BadInput
from evaluator.formats.writers import WRITERS
from evaluator.project import evaluate
from tests.reports.making import (
    LABELS,
    Page,
    alto,
    coco,
    cvat,
    docling,
    each,
    label_studio,
    named,
    omnidocbench,
    paddle,
    pages,
    results,
    size_of,
    tree,
    unstructured,
    voc,
    write,
    yolo,
)  # fmt: skip
from tests.terminal import run_command


def counted(folder: Path, truth: str = "gt.json", prediction: str = "pred", **options: Any) -> tuple[Any, str]:
    """True positives, false positives and false negatives, None where it is refused, and all issues."""
    try:
        (made,) = evaluate("snapshot", folder / truth, [folder / prediction], iou=[0.5], **options)
    except BadInput as problem:
        return None, "\n".join(issue.sentence for issue in problem.issues)
    row = made.to_json()["thresholds"]["0.5"]["micro"]
    return tuple(row[key] for key in ("tp", "fp", "fn")), "\n".join(issue.sentence for issue in made.issues)


THREE = pages("a.jpg", "b.jpg", "c.jpg")
TWICE = [page.times(2) for page in THREE]
RESCALED = "2 of 3 pages: a, page 1 (2000 x 2800 instead of 1000 x 1400); b, page 1"


@pytest.mark.parametrize(
    "files",
    [
        {**each(TWICE[:2], voc, ".xml"), **each(THREE[2:], lambda page: voc(page, sized=False), ".xml")},
        {**each(TWICE[:2], lambda page: paddle(page, **size_of(page)), ".json"), **each(THREE[2:], paddle, ".json")},
        {"pred": {**coco([*TWICE[:2], THREE[2]]), "images": [
            *coco(TWICE)["images"][:2], {"id": 3, "file_name": "c.jpg"}]}},
    ],
)  # fmt: skip
def test_sizes_that_some_pages_state_are_used(tmp_path: Path, files: dict[str, Any]) -> None:
    write(tmp_path, {"gt.json": coco(THREE), **files})
    value, said = counted(tmp_path)
    assert value == (15, 0, 0)
    assert RESCALED in said


FOLDERS = pages("docA/page_1.png", "docA/page_2.png", "docB/page_1.png", "docB/page_2.png")
DOTTED = pages("2301.01234v1_0", "2301.01234v1_1", "2302.00001v2_0", "2302.00001v2_1")
SPACED = pages("réport 1.png", "réport 2.png", "x/réport 3.png", "réport 4.png")
WORDS = pages("acme.final.png", "acme.draft.png", "acme.v2.png", "b.pdf_102.jpg")
PARTS = pages("report/p1.png", "report/p2.png", "report/p3.png", "report/p4.png")
CLASSES = {"pred/data.yaml": "names: [Text, Title, Table]"}


def flat(made: Any, content: Any, ending: str = ".json") -> dict[str, Any]:
    """Return files of pages in one folder, with names that say nothing."""
    return {f"pred/{at}{ending}": content(page) for at, page in enumerate(made)}


def in_folder(page: Page) -> str:
    return voc(page, f"<folder>{page.name.partition('/')[0]}</folder><filename>{named(page)}</filename>")


def with_path(page: Page) -> str:
    return voc(page, f"<folder>x</folder><filename>{named(page)}</filename><path>C:\\me\\{page.name}</path>")


def stems(made: Any) -> dict[str, Any]:
    """Return predictions of OmniDocBench, which name images without their ending."""
    rows = results(made, [page.name.rpartition(".")[0] for page in made])
    rows = [{"image_name": row.pop("image_id"), **row} for row in rows]
    rows = [{**row, "bbox": [x, y, x + w, y + h]} for row in rows for x, y, w, h in [row["bbox"]]]
    return {"results": rows, "categories": {row["category_id"]: LABELS[row["category_id"] - 1] for row in rows}}


def signed(name: str) -> str:
    return f"https://store.example/in/{quote(name)}?Signature=a/b.c%2Fd&Expires=1#page"


def of_a_pdf(made: Any) -> dict[str, Any]:
    """Return COCO as DocLayNet writes it, of the pages of a document."""
    images = [{**image, "doc_name": "report.pdf", "page_no": at} for at, image in enumerate(coco(made)["images"], 1)]
    return {**coco(made), "images": images}


def with_paths(made: Any) -> dict[str, Any]:
    """Return COCO as its Annotator writes it: the name of the file, and the path beside it."""
    images = coco(made)["images"]
    return {
        **coco(made),
        "images": [
            {**image, "file_name": named(page), "path": f"/datasets/{page.name}"}
            for image, page in zip(images, made, strict=True)
        ],
    }


@pytest.mark.parametrize(
    ("made", "files"),
    [
        pytest.param(FOLDERS, flat(FOLDERS, in_folder, ".xml"), id="folder of VOC"),
        pytest.param(FOLDERS, flat(FOLDERS, with_path, ".xml"), id="path of VOC"),
        pytest.param(FOLDERS, flat(FOLDERS, lambda page: alto(page, f"file:///in/{page.name}"), ".xml"), id="ALTO"),
        pytest.param(FOLDERS, flat(FOLDERS, paddle), id="PaddleX"),
        pytest.param(
            FOLDERS,
            tree(FOLDERS, lambda page: voc(page, f"<filename>{named(page)}</filename>"), ".xml"),
            id="folders of VOC",
        ),
        pytest.param(FOLDERS, tree(FOLDERS, lambda page: alto(page, named(page)), ".xml"), id="folders of ALTO"),
        pytest.param(FOLDERS, tree(FOLDERS, docling, ".json"), id="folders of Docling"),
        pytest.param(FOLDERS, {"pred": unstructured(FOLDERS)}, id="unstructured"),
        pytest.param(FOLDERS, {"gt.json": omnidocbench(FOLDERS), "pred": coco(FOLDERS)}, id="OmniDocBench"),
        pytest.param(
            PARTS, {"gt.json": of_a_pdf(PARTS), "pred": docling(*PARTS, name="report")}, id="names of PDFs in DocLayNet"
        ),
        pytest.param(PARTS, {"gt.json": docling(*PARTS, name="report"), "pred": of_a_pdf(PARTS)}, id="in predictions"),
        pytest.param(PARTS, {"gt.json": label_studio(PARTS), "pred": coco(PARTS)}, id="pages of Label Studio"),
        pytest.param(DOTTED, {**flat(DOTTED, alto, ".xml")}, id="names with dots in ALTO"),
        pytest.param(DOTTED, {**CLASSES, **{f"pred/{page.name}.txt": yolo(page) for page in DOTTED}}, id="in YOLO"),
        *(
            pytest.param(WORDS, files, id=f"words after a dot {at}")
            for at, files in enumerate(
                [
                    each(WORDS, lambda page: voc(page, f"<filename>{page.name[:-4]}</filename>"), ".xml"),
                    {"gt.json": omnidocbench(WORDS), "pred": stems(WORDS)},
                ]
            )
        ),
        pytest.param(SPACED, {"pred": coco(SPACED, quote)}, id="percent-encoded"),
        pytest.param(SPACED, {"pred": coco(SPACED, signed)}, id="web addresses"),
        pytest.param(FOLDERS, {"gt.json": with_paths(FOLDERS), "pred": with_paths(FOLDERS[::-1])}, id="paths of COCO"),
        *(
            pytest.param(
                DOTTED, {f"pred/{page.name}{ending}": one(page) for page in DOTTED}, id=f"one name in all{ending}"
            )
            for ending, one in [
                (".xml", lambda page: voc(page, "<filename>image.jpg</filename>")),
                (".json", lambda page: docling(page, name="file")),
            ]
        ),
        pytest.param(SPACED, {"pred": coco(SPACED, lambda name: normalize("NFD", name))}, id="another Unicode form"),
        *(
            pytest.param(made, {"pred": results(made, [change(page.name) for page in made])}, id=f"ids {at}")
            for at, (made, change) in enumerate(
                [
                    (FOLDERS, lambda name: f"images/train/{name}"),
                    (FOLDERS, lambda name: name.replace("png", "JPG")),
                    (SPACED, lambda name: normalize("NFD", name)),
                ]
            )
        ),
        *(
            pytest.param(made, {"pred": results(made, [1, 2, 3, 4], file_name=change)}, id=f"file names {at}")
            for at, (made, change) in enumerate(
                [
                    (FOLDERS, lambda name: name.replace("png", "jpg")),
                    (SPACED, lambda name: normalize("NFD", name)),
                    (SPACED, quote),
                ]
            )
        ),
    ],
)
def test_a_page_is_that_of_the_image_that_is_stated(tmp_path: Path, made: Any, files: dict[str, Any]) -> None:
    write(tmp_path, {"gt.json": coco(made), **files})
    assert counted(tmp_path)[0] == (20, 0, 0)


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"truth": with_paths(FOLDERS), "pred": with_paths(FOLDERS[1:])}, "COCO Annotator"),
        (
            {
                name: cvat(made, lambda page: f'name="{named(page)}" subset="default" task_id="{page.name[3]}"')
                for name, made in (("truth", FOLDERS), ("pred", FOLDERS[1:]))
            },
            "tasks of CVAT",
        ),
    ],
)
def test_a_page_that_one_side_lacks_is_no_other_of_its_name(tmp_path: Path, files: dict[str, Any], what: str) -> None:
    write(tmp_path, files)
    assert counted(tmp_path, "truth")[0] == (15, 0, 5), what


def test_documents_of_one_name_in_several_folders_are_their_own(tmp_path: Path) -> None:
    def result(folder: str, at: int) -> dict[str, Any]:
        return paddle(THREE[at], input_path=f"{folder}/report.pdf", page_index=at)

    files = {f"pred/{folder}/report_{at}_res.json": result(folder, at) for folder in ("a", "b") for at in (0, 1)}
    elements = [
        {**each, "metadata": {**each["metadata"], "filename": "report.pdf", "page_number": at}}
        for at in (1, 2)
        for each in unstructured(FOLDERS[::2])
    ]
    write(tmp_path, {**files, "pred.json": elements})
    for name, documents in (("pred", "ab"), ("pred.json", ("docA", "docB"))):
        source = formats.read(tmp_path / name)
        assert sorted(page_keys(source)) == [(f"{each}/report", at) for each in documents for at in (0, 1)]
        assert source.issues[-1].rule == "images of one name in several folders are read as documents of their own"


def test_folders_of_models_are_no_documents(tmp_path: Path) -> None:
    models = pages("modelA/page_1.png", "modelB/page_1.png")
    write(
        tmp_path,
        {
            "gt.json": coco(pages("page_1.png")),
            **tree(models, lambda page: voc(page, f"<filename>{named(page)}</filename>"), ".xml"),
        },
    )
    value, said = counted(tmp_path)
    assert (value, '"modelA" here, "page_1" there' in said) == (None, True)
    write(tmp_path, tree(pages("gt/page_1.png", "run/page_1.png"), voc, ".xml", "both"))
    scored = tree(pages("labels/page_1.png", "run/page_1.png"), voc, ".xml", "sides")
    write(tmp_path, scored | {"sides/labels/page_1.xml": scored["sides/labels/page_1.xml"].replace("score", "pose")})
    for several in ("both", "sides"):
        value, said = counted(tmp_path, prediction=several)
        assert (value, "a folder must hold its annotation files itself" in said) == (None, True)


def test_files_that_all_state_one_name_are_said_to(tmp_path: Path) -> None:
    files = {f"pred/{page.name}.xml": voc(page, "<filename>image.jpg</filename>") for page in DOTTED}
    write(tmp_path, {"gt.json": coco(DOTTED), **files})
    _, said = counted(tmp_path)
    sentence = (
        'pred: files should state names that differ; each is read as what the file is named; found "image" in all 4 '
        "files. State another name in each file if they are named otherwise."
    )
    assert said.splitlines()[-1] == sentence


def test_width_and_height_of_a_table_are_those_of_the_page_where_they_hold_all_boxes(tmp_path: Path) -> None:
    rows = [
        f"{page.name},{width},{height},{label},{x1},{y1},{x2},{y2}"
        for page in THREE
        for width, height in [(1000, 1400) if page.name != "c.jpg" else ("", "")]
        for label, x1, y1, x2, y2 in page.boxes
    ]
    head = "filename,width,height,class,xmin,ymin,xmax,ymax"
    own = [f"{row.rpartition(',')[0]},9999" for row in rows]
    write(tmp_path, {"gt.csv": "\n".join([head, *rows]), "own.csv": "\n".join([head, *own]), "pred": coco(TWICE[:2])})
    assert counted(tmp_path, "gt.csv")[0] == (10, 0, 5)
    sizes = formats.read(tmp_path / "gt.csv").page_size
    assert sizes is not None
    assert np.isnan(sizes).any(axis=1).tolist() == [False, False, True]
    assert formats.read(tmp_path / "own.csv").page_size is None


def test_circles_ellipses_and_polygons_are_read(tmp_path: Path) -> None:
    shapes = (
        '<TextBlock ID="a"><Shape><Circle HPOS="500" VPOS="400" RADIUS="100"/></Shape></TextBlock><Illustration ID="b">'
        '<Shape><Ellipse HPOS="500" VPOS="900" HLENGTH="200" VLENGTH="100"/></Shape></Illustration>'
    )
    points = "<x1>100</x1><y1>100</y1><x2>300</x2><y2>100</y2><x3>300</x3><y3>200</y3>"
    nested = "<pt><x>1</x><y>2</y></pt><pt><x>9</x><y>2</y></pt><pt><x>5</x><y>8</y></pt>"
    objects = "".join(f"<object><name>a</name><polygon>{each}</polygon></object>" for each in (points, nested))
    voc_file = f"<annotation><filename>a.png</filename>{objects}</annotation>"
    write(tmp_path, {"a.xml": alto(THREE[0], body=shapes), "b.xml": voc_file})
    for name, boxes in (
        ("a.xml", [[400, 300, 600, 500], [400, 850, 600, 950]]),
        ("b.xml", [[100, 100, 300, 200], [1, 2, 9, 8]]),
    ):
        source = formats.read(tmp_path / name)
        assert source.boxes.xyxy.tolist() == boxes
        assert sorted(source.boxes.polygons) == [0, 1]
        assert source.issues == ()
    bad = shapes.replace('"100"', '"-100"')
    for text, lengths in ((bad, "[-100, -100]"), (bad[bad.index("<Ill") :], "[200, -100]")):
        keys = "RADIUS" if "Circle" in text else "HLENGTH and VLENGTH"
        write(tmp_path, {"a.xml": alto(THREE[0], body=text)})
        with pytest.raises(BadInput) as refused:
            formats.read(tmp_path / "a.xml")
        assert refused.value.issues[0].sentence.endswith(
            f": {keys} must not be negative (ALTO); found {lengths}. Correct the block, or remove it."
        )


def test_lists_of_boxes_beside_the_name_of_an_image(tmp_path: Path) -> None:
    write(tmp_path, {"metadata.jsonl": {"file_name": "a.png", "bboxes": [[1, 2, 3, 4]], "labels": ["Text"]}})
    source = formats.read(tmp_path / "metadata.jsonl")
    assert (source.format, source.labels, source.boxes.xyxy.tolist()) == ("image-folder", ("Text",), [[1, 2, 4, 6]])


def test_pixel_says_first_that_names_differ(tmp_path: Path) -> None:
    write(tmp_path, {"gt.json": coco(THREE), **CLASSES, "pred/scan1.txt": yolo(THREE[0])})
    with pytest.raises(BadInput) as refused:
        evaluate("pixel", tmp_path / "gt.json", [tmp_path / "pred"])
    assert refused.value.issues[0].found == '"scan1", where gt.json has "a"'


def test_pages_that_have_no_size_because_the_other_side_lacks_them_are_named(tmp_path: Path) -> None:
    texts = {f"pred/{page.name[0]}.txt": yolo(page) for page in THREE}
    write(tmp_path, {"gt.json": coco(THREE[:2]), **CLASSES, **texts})
    with pytest.raises(BadInput) as refused:
        evaluate("snapshot", tmp_path / "gt.json", [tmp_path / "pred"])
    assert refused.value.issues[0].sentence == (
        "pred: pages should be those of gt.json, which states their sizes; found 1 of 3 pages: c, page 1. Give both "
        "sides the same pages, or one size for all pages (--page-size WxH)."
    )


def test_images_may_have_other_ids_in_the_predictions(tmp_path: Path) -> None:
    write(tmp_path, {"gt.json": annotated(), "pred": coco(THREE[::-1])})
    assert counted(tmp_path) == ((15, 0, 0), "")


def test_a_locked_pdf_is_named_where_sizes_are_compared_with_it(tmp_path: Path) -> None:
    write(tmp_path, {"gt.json": coco(THREE), "pred": coco(THREE)})
    document = pymupdf.open()
    document.new_page(width=500, height=700)
    document.save(tmp_path / "a.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="u")
    value, said = counted(tmp_path, pdfs=tmp_path)
    assert value == (15, 0, 0)
    assert said.count("a.pdf needs a password") == 1


@pytest.mark.parametrize(
    ("image", "first", "right"),
    [
        ("report_page_{}.png", 1, 15),
        ("report-{:03}.jpg", 0, 15),
        ("in/report/p{}.png", 1, 15),
        ("report {}.png", 2, 10),
    ],
)
@pytest.mark.parametrize("images_are_truth", [False, True])
def test_images_of_the_pages_of_a_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, image: str, first: int, right: int, images_are_truth: bool
) -> None:
    """Pages are counted from 0 where an image has that number; of the last case the first page has none."""
    shown = THREE[max(0, first - 1) :]
    images = coco([page._replace(name=image.format(first + at)) for at, page in enumerate(shown)])
    document = docling(*THREE, name="report.pdf")
    truth, prediction = (images, document) if images_are_truth else (document, images)
    write(tmp_path, {"gt.json": truth, "pred": prediction})
    value, said = counted(tmp_path)
    assert value is None
    assert "with images named by a document and a number read as its pages: " in said
    assert "Apply it with --fix names=pages, or" in said
    assert "apply it with --fix names=pages" in run_command(capsys, "check", tmp_path / "gt.json", tmp_path / "pred")[1]
    value, _ = counted(tmp_path, fix=[parse_fix("names=pages")])
    assert value == (right, *((15 - right, 0) if images_are_truth else (0, 15 - right)))


def test_boxes_that_a_ground_truth_lists_again_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth = coco(THREE)
    rows = [{**row, "id": 100 + at} for at, row in enumerate(truth["annotations"][3:7])]
    write(tmp_path, {"gt.json": {**truth, "annotations": truth["annotations"] + rows}, "pred": coco(THREE)})
    sides = ("--gt", tmp_path / "gt.json", "--pred", tmp_path / "pred")
    again = "a label in one place of a page; found 4 of 19 boxes again. Each counts by itself"
    for words in (
        ("check", tmp_path / "gt.json", tmp_path / "pred"),
        *(("evaluate", protocol, *sides) for protocol in ("snapshot", "coco", "pod")),
        ("compare", "coco", *sides, "--pred", tmp_path / "pred"),
        ("report", "snapshot", *sides, "--out", tmp_path / "pack.html"),
    ):
        code, out, err = run_command(capsys, *words)
        assert (code, again in out + err) == (0, True), words
    assert counted(tmp_path)[0] == (15, 0, 4)


def test_boxes_that_predictions_list_again_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"gt.json": annotated(), "pred": results(THREE, [1, 2, 3]) + results(THREE[:1], [1])})
    sides = ("--gt", tmp_path / "gt.json", "--pred", tmp_path / "pred")
    again = "pred: predictions should list a box once: a label in one place of a page; found 5 of 20 boxes again. Each"
    for words in (
        ("check", tmp_path / "gt.json", tmp_path / "pred"),
        *(("evaluate", protocol, *sides) for protocol in ("snapshot", "coco", "pod")),
        ("compare", "coco", *sides, "--pred", tmp_path / "pred"),
        ("report", "snapshot", *sides, "--out", tmp_path / "pack.html"),
    ):
        code, out, err = run_command(capsys, *words)
        assert (code, again in out + err) == (0, True), words


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"pred": results([TWICE[0], *THREE[1:]], [1, 2, 3])},
            "found they match when rescaled by 0.5 on 1 of 3 pages: a, page 1.",
        ),
        (
            {"pred": {**coco(THREE), "categories": [{"id": 1, "name": "TEXT"}, *coco(THREE)["categories"][1:]]}},
            'boxes under other names match none; found 5 boxes of "TEXT", probably "Text".',
        ),
    ],
)
def test_a_report_says_what_an_evaluation_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, Any], said: str
) -> None:
    write(tmp_path, {"gt.json": coco(THREE), **files})
    sides = ("--gt", tmp_path / "gt.json", "--pred", tmp_path / "pred")
    for words in (("evaluate", "coco", *sides), ("report", "coco", *sides, "--out", tmp_path / "pack.html")):
        code, out, err = run_command(capsys, *words)
        assert (code, said in out + err) == (0, True), words


def annotated(**more: Any) -> dict[str, Any]:
    """Return the ground truth with other values in its annotations."""
    rows = [{key: value for key, value in row.items() if key != "score"} for row in coco(THREE)["annotations"]]
    return {**coco(THREE), "annotations": [{**row, **more} for row in rows]}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"pred": 'image,label,x1,y1,x2,y2,score\na.jpg,Text,"1,5",2,3,4,0.9\n'},
            'pred: line 2, x1: x1 must be a finite number (table of boxes); found "1,5". Write it with a point.',
        ),
        (
            {"pred": {"annotations": results(THREE, [1, 2, 3])}},
            "pred: $: results must be an array at the top level (COCO format); found an object with results under "
            '"annotations". Write the array alone.',
        ),
        (
            {"gt.json": annotated(iscrowd=1)},
            "gt.json: $.annotations[0].iscrowd: some annotations should be no crowds, which COCO never counts as found "
            "or missed (pycocotools); found iscrowd in all 15. Write iscrowd 0 for single regions; RLE needs no "
            "iscrowd 1.",
        ),
    ],
)
def test_the_cause_is_named(tmp_path: Path, files: dict[str, Any], said: str) -> None:
    write(tmp_path, {"gt.json": annotated(), "pred": results(THREE, [1, 2, 3]), **files})
    assert said in counted(tmp_path)[1].splitlines()


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod"])
def test_pages_that_one_side_lacks_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str) -> None:
    write(tmp_path, {"gt.json": of_a_pdf(THREE), "pred": of_a_pdf(THREE[:2])})
    sides = ("--gt", tmp_path / "gt.json", "--pred", tmp_path / "pred")
    said = "pages that only gt.json lists count as missed; found 1 of 3 pages: report.pdf, page 3. Compare"
    for words in (
        ("check", tmp_path / "gt.json", tmp_path / "pred"),
        ("evaluate", protocol, *sides),
        ("compare", protocol, *sides, "--pred", tmp_path / "pred"),
        ("report", protocol, *sides, "--out", tmp_path / "pack.html"),
    ):
        code, out, err = run_command(capsys, *words)
        assert (code, said in out + err) == (0, True), words


def test_a_rotation_that_cvat_states_is_applied_or_said(tmp_path: Path) -> None:
    def on_its_side(page: Page) -> Page:
        turned = []
        for label, x1, y1, x2, y2 in page.boxes:
            x, y, across, down = (x1 + x2) / 2, (y1 + y2) / 2, (y2 - y1) / 2, (x2 - x1) / 2
            turned.append((label, x - across, y - down, x + across, y + down))
        return page._replace(boxes=turned)

    quarter = "<attributes><attribute><name>rotation</name><value>90.0</value></attribute></attributes>"
    turned = [on_its_side(page) for page in THREE]
    files = each(turned, lambda page: voc(page).replace("<bndbox>", f"{quarter}<bndbox>"), ".xml")
    rows = coco(THREE)["annotations"]
    rows[:4] = [{**row, "attributes": {"rotation": 90.0}} for row in coco(turned)["annotations"][:4]]
    rows[4]["attributes"] = {"rotation": 0.0}
    write(tmp_path, {"gt.json": coco(THREE), **files, "turned": {**coco(THREE), "annotations": rows}})
    assert counted(tmp_path)[0] == (15, 0, 0)
    value, said = counted(tmp_path, prediction="turned")
    assert value == (11, 4, 4)
    assert (
        "turned: $: the rotation of a box or image should be 0; pycocotools does not read it (CVAT); found 4 other "
        "values, the first 90 degrees. These boxes are compared as they are written; CVAT for images 1.1 and Pascal "
        "VOC are read with it."
    ) in said


@pytest.mark.parametrize(("side", "key"), [("gt.json", "images"), ("gt.json", "annotations"), ("pred", "")])
def test_a_rotation_is_said_however_coco_is_read(tmp_path: Path, side: str, key: str) -> None:
    """`evaluate coco` reads files piece by piece where it can."""
    files = {"gt.json": coco(THREE), "pred": results(THREE, [1, 2, 3])}
    files["gt.json"]["annotations"] = [{**row} for row in files["gt.json"]["annotations"]]
    for row in files[side][key] if key else files[side]:
        row["rotation"] = 90
    for row in files["gt.json"]["annotations"]:
        del row["score"]
    write(tmp_path, files)
    for protocol in ("coco", "snapshot"):
        (made,) = evaluate(protocol, tmp_path / "gt.json", [tmp_path / "pred"])
        assert f"{side}: $: the rotation of a box or image should be 0" in made.issues[0].sentence


def test_what_the_files_were_warned_of_is_said_where_nothing_matches(tmp_path: Path) -> None:
    rows = [{**row, "bbox": [0, 0, 9, 9], "attributes": {"rotation": 45}} for row in coco(THREE)["annotations"]]
    write(tmp_path, {"gt.json": {**coco(THREE), "annotations": rows}, "pred": coco(THREE)})
    value, said = counted(tmp_path)
    assert value is None
    assert "the rotation of a box or image should be 0" in said


@pytest.mark.parametrize("protocol", ["coco", "pod"])
@pytest.mark.parametrize("name", ["TEXT", "plain text"])
def test_labels_under_other_names_are_said_where_the_others_match(tmp_path: Path, protocol: str, name: str) -> None:
    prediction = coco(THREE)
    prediction["categories"] = [{**prediction["categories"][0], "id": 9, "name": name}, *prediction["categories"][1:]]
    prediction["annotations"] = [
        {**row, "category_id": 9 if row["category_id"] == 1 else row["category_id"]}
        for row in prediction["annotations"]
    ]
    write(tmp_path, {"gt.json": coco(THREE), "pred": prediction})
    (made,) = evaluate(protocol, tmp_path / "gt.json", [tmp_path / "pred"])
    fix = f"label={name}=Text"
    assert made.issues[-1].sentence == (
        f'pred: labels should be those of gt.json; boxes under other names match none; found 5 boxes of "{name}", '
        f'probably "Text". If these are the same, give --fix {shlex.quote(fix)}.'.replace("'", '"')
    )
    (made,) = evaluate(protocol, tmp_path / "gt.json", [tmp_path / "pred"], fix=[parse_fix(fix)])
    assert "labels should be" not in "".join(issue.sentence for issue in made.issues)


@pytest.mark.parametrize("protocol", ["snapshot", "coco"])
def test_pages_under_the_names_of_one_another_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str
) -> None:
    twenty = pages(*(f"{number}.jpg" for number in range(100, 2100, 100)))
    taken = {4: 17, 17: 4}
    ids = [taken.get(at, at) + 1 for at in range(len(twenty))]
    write(tmp_path, {"gt.json": coco(twenty), "pred": results(twenty, ids)})
    (made,) = evaluate(protocol, tmp_path / "gt.json", [tmp_path / "pred"])
    words = "match when {}exchanged with one another on 2 of 20 pages: 1800, page 1; 500, page 1"
    assert words.format("") in "".join(issue.sentence for issue in made.issues)
    checked = run_command(capsys, "check", tmp_path / "gt.json", tmp_path / "pred")
    assert (checked[0], words.format("they are ") in checked[1]) == (0, True)
    assert "With that: 1.000." in checked[1]


@pytest.mark.parametrize("numbers", [(1, 1, 1), (0, 0, 0), (1, 7, 1)])
def test_tracks_of_yolo_are_left_out_whatever_their_numbers(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    """Ultralytics numbers the only object from 1; with six numbers behind the class it looked like a triangle."""
    one = [page._replace(boxes=page.boxes[:1]) for page in THREE]
    texts = {
        f"pred/{page.name[0]}.txt": f"{yolo(page).strip()} {number}\n"
        for page, number in zip(one, numbers, strict=True)
    }
    write(tmp_path, {"gt.json": coco(one), **CLASSES, **texts})
    value, said = counted(tmp_path)
    assert value == (3, 0, 0)
    assert said.count("numbers of tracks are not read (YOLO, save_txt of a tracker); found 1 box with one.") == 3


def test_outlines_of_three_points_are_no_tracks(tmp_path: Path) -> None:
    write(tmp_path, {**CLASSES, "pred/a.txt": "0 0.1 0.1 0.9 0.1 0.5 1\n", "pred/b.txt": "0 0.1 0.1 0.9 0.1 0.5 0.9\n"})
    source = formats.read(tmp_path / "pred")
    assert (source.side, sorted(source.boxes.polygons)) == ("ground_truth", [0, 1])


def test_objects_that_labelme_deleted_are_none(tmp_path: Path) -> None:
    def labelme(page: Page) -> str:
        size = "<imagesize><nrows>1400</nrows><ncols>1000</ncols></imagesize>"
        text = voc(page, f"<filename>{page.name}</filename>{size}", sized=False)
        return text.replace("<object>", "<object><deleted>1</deleted>", 1)

    write(tmp_path, {"gt.json": coco(TWICE), **each(THREE, labelme, ".xml")})
    value, said = counted(tmp_path)
    assert value == (12, 0, 3)
    assert "objects marked as deleted are no objects (LabelMe XML); found 1. They are left out." in said


@pytest.mark.parametrize(
    ("name", "inside", "said"),
    [
        (
            "a.parquet",
            "",
            'found "document_id", "GroundTruthDocument", "PredictedDocument". Write a row for each box, and',
        ),
        ("a.jsonl", "", 'found lines of JSON objects with "a". Write a table with a row for each box, of the columns'),
        ("a.xlsx", "[Content_Types].xml", "a file of an office program, which is not read. Save its table as CSV."),
        ("a.pth", "a/data.pkl", "a file of PyTorch, which is not read. Save its boxes as results of COCO."),
        ("a.npz", "boxes.npy", "a file of NumPy, which is not read. Write a table with a row for each box."),
    ],
)
def test_a_file_of_another_kind_is_told_what_to_give(tmp_path: Path, name: str, inside: str, said: str) -> None:
    path = tmp_path / name
    if inside:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(inside, "<Types/>")
    elif name == "a.parquet":
        texts = {"document_id": "a", "GroundTruthDocument": '"schema_name":"DoclingDocument"', "PredictedDocument": ""}
        parquet.write_table(pa.Table.from_pylist([texts]), path)
    else:
        path.write_text('{"a": 1}\n{"a": 2}\n')
    with pytest.raises(BadInput) as refused:
        formats.read(path)
    assert said in refused.value.issues[0].sentence


def test_a_folder_with_both_sides_is_described_one_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = each(THREE, lambda page: voc(page).replace("score", "pose"), ".xml", "set/labels")
    write(tmp_path, truth | each(THREE, voc, ".xml", "set/pred"))
    code, _, err = run_command(capsys, "describe", tmp_path / "set")
    sentence = (
        "set: a folder that is described must be one side; found ground truth labels, 1 prediction: pred. Name one of "
        "them."
    )
    assert (code, sentence in err) == (2, True)


@pytest.mark.parametrize("form", [name for name in WRITERS if name != "snapshot"])
@pytest.mark.parametrize(
    "truth",
    [
        pytest.param(coco(FOLDERS), id="folders of COCO"),
        pytest.param(with_paths(FOLDERS), id="paths of COCO"),
        pytest.param(coco(pages(*map(signed, ("a.png", "b.png")))), id="web addresses"),
        pytest.param(cvat(FOLDERS, lambda page: f'name="{named(page)}" task_id="{page.name[3]}"'), id="tasks of CVAT"),
        pytest.param(label_studio(PARTS), id="pages of Label Studio"),
        pytest.param(of_a_pdf(THREE), id="pages of DocLayNet"),
    ],
)
def test_what_is_converted_is_of_the_same_pages(tmp_path: Path, truth: Any, form: str) -> None:
    write(tmp_path, {"truth": truth})
    source = formats.read(tmp_path / "truth", side="ground_truth")
    files = WRITERS[form].convert(source).files
    write(tmp_path, {f"pred/{name}": content.decode() for name, content in files.items()})
    assert counted(tmp_path, "truth")[0] == (len(source.boxes), 0, 0)


def test_scores_below_zero_are_ranked_as_any_other(tmp_path: Path) -> None:
    """A language model states the logarithm of a probability; pycocotools leaves none out."""
    rows = results(THREE, [1, 2, 3])
    write(tmp_path, {"gt.json": coco(THREE), "pred": [{**row, "score": row["score"] - 5} for row in rows]})
    (made,) = evaluate("coco", tmp_path / "gt.json", [tmp_path / "pred"])
    assert made.to_json()["AP"] == 1.0
