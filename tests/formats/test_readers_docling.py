"""DoclingDocument: boxes from both origins, pages, and the whole sentence for what is wrong."""

from tests.model_outputs import boxes, changed, own, read, refused
from tests.reading import head, warned


def test_columns() -> None:
    source = read(own("docling.json"))
    sizes = [[100, 200], [100, 200], [50, 101]]
    assert head(source) == ("docling", "prediction", "page", ["report.v2"], [0, 1, 2], sizes)
    assert source.documents[0].name == "in/report.v2.pdf"
    assert boxes(source) == [
        (0, "page_header", 0.2, 0.05, 0.8, 0.1), (0, "text", 0.1, 0.1, 0.6, 0.2), (2, "text", 0.0, 0.0, 0.5, 50 / 101),
        (2, "table", 0.1, 1 / 101, 0.9, 0.5),
    ]  # fmt: skip
    assert source.boxes.ids == ["$.texts[0].prov[0]", "$.texts[1].prov[0]", "$.texts[1].prov[2]", "$.tables[0].prov[0]"]
    assert warned(source) == [
        "f.json: $.texts[1].prov[1]: an item should state a box once (DoclingDocument); found charspan [0, 5] and "
        "[5, 9] in one box. It is read once."
    ]
    assert read(own("docling.json"), side="ground_truth").side == "ground_truth"


def test_without_pages() -> None:
    tree = changed(own("docling.json"), "pages", to={})
    sentence = (
        "f.json: This is a DoclingDocument without pages: its 5 items have no place on a page. "
        "Convert a PDF or images with Docling and save that as JSON."
    )
    assert refused(tree) == [sentence]
    assert refused(changed(tree, "pages")) == [sentence]
