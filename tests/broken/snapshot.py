"""Bad schema-1.3 files and the exact sentence for each: one change to a valid file, one issue.

Each row is name, side, the text to replace in the valid file of that side, its replacement, and the sentence
without the file's name. The valid files are `VALID`; rows whose name begins with ``warning`` are accepted.
"""

from typing import NamedTuple

HEADER = (
    '{"label_map": {"1": "Figure", "2": "Table"}, "info": {"schema_version": "1.3", "type": "%s", "run_id": "r", '
    '"model": {"name": "m"}, "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], '
    '"origin": "top_left"}}, "documents": [{"doc_id": "a", "doc_name": "a.pdf", "doc_path": "pdf/a.pdf"}], '
)
VALID = {
    "prediction": HEADER
    % "prediction"
    + '"predictions": [{"page_id": "a::0", "doc_id": "a", "page_index": 0, "objects": '
    '[{"id": "o0", "label": "Table", "bbox": [0.1, 0.2, 0.3, 0.4], "score": 0.9}]}]}',
    "ground_truth": HEADER
    % "ground_truth"
    + '"predictions": [{"page_id": "a::0", "doc_id": "a", "page_index": 0, "objects": '
    '[{"id": "o0", "label": "Table", "bbox": [0.1, 0.2, 0.3, 0.4], "score": null}]}]}',
}


class Row(NamedTuple):
    name: str
    side: str
    old: str
    new: str
    sentence: str

    @property
    def content(self) -> bytes:
        """The bytes of the broken file."""
        assert VALID[self.side].count(self.old) >= 1, self.name
        return VALID[self.side].replace(self.old, self.new, 1).encode("utf-8", "surrogatepass")


P, G = "prediction", "ground_truth"
BOX = "[0.1, 0.2, 0.3, 0.4]"
AT = "$.predictions[0].objects[0]"
FOUR = "bbox must be four finite numbers, x1, y1, x2, y2 (snapshot 1.3, section 3)"
FOUR_FIX = "Write them as [x1, y1, x2, y2], without quotes."
RANGE = "coordinates must lie in [0, 1] (snapshot 1.3, sections 3 and 9.4)"
PAGE = "page_index must be an integer from 0 to 2147483647 (schema 1.3)"
PAGE_FIX = "Count the pages of the document from 0 and write the number without quotes."
SCORE = "score must be a number in [0, 1] (schema 1.3)"
SCORE_FIX = "Write the confidence as a number, for instance 0.87."
TWICE = "a key must not be repeated in one object (RFC 8259, section 4)"
EMPTY_FIX = "Write a text of at least one character."

ROWS = [
    Row("box_reversed", P, BOX, "[0.42, 0.1, 0.31, 0.55]",
        f"{AT}.bbox: x2 must be greater than x1 (snapshot 1.3, section 3); found [0.42, 0.1, 0.31, 0.55]. "
        "Swap x1 and x2, or remove the object."),
    Row("box_upside_down", G, BOX, "[0.1, 0.4, 0.3, 0.2]",
        f"{AT}.bbox: y2 must be greater than y1 (snapshot 1.3, section 3); found [0.1, 0.4, 0.3, 0.2]. "
        "Swap y1 and y2, or remove the object."),
    Row("box_flat", P, BOX, "[0.1, 0.2, 0.1, 0.4]",
        f"{AT}.bbox: x2 must be greater than x1 (snapshot 1.3, section 3); found [0.1, 0.2, 0.1, 0.4]. "
        "Give the box a width, or remove the object."),
    Row("box_both", P, BOX, "[0.5, 0.5, 0.2, 0.2]",
        f"{AT}.bbox: x2 must be greater than x1, and y2 than y1 (snapshot 1.3, section 3); "
        "found [0.5, 0.5, 0.2, 0.2]. Swap the corners, or convert the box if it is x, y, width, height."),
    Row("box_pixels", P, BOX, "[100, 100, 500, 500]",
        f"{AT}.bbox: {RANGE}; found [100.0, 100.0, 500.0, 500.0]. Divide pixels by the width and height of the page."),
    Row("box_hair_over", P, BOX, "[0, 0, 1.0000000002, 1]",
        f"{AT}.bbox: {RANGE}; found [0.0, 0.0, 1.0000000002, 1.0]. "
        "Cut the box at the edge of the page; nothing is clamped here."),
    *(Row(f"box_{number}", P, BOX, box, f"{AT}.bbox: {FOUR}; found {box}. {FOUR_FIX}") for number, box in enumerate((
        "[0.1, 0.2, 0.3, 0.4, 0.5]", '[".1", ".2", ".3", ".4"]', "[0, 0, true, true]", "[NaN, 0, 1, 1]",
        "[0, 0, 1e400, 1]",
    ))),
    Row("box_missing", P, f', "bbox": {BOX}', "",
        f'{AT}: bbox is required here (schema 1.3); found only "id", "label". Add bbox.'),
    *(
        Row(f"{name}_twice", P, old, f"{twice}, {old}", f'{place}: {TWICE}; found "{key}" 2 times. Keep one of them.')
        for name, old, twice, place, key in (
            ("box", '"bbox"', '"bbox": [0, 0, 1, 1]', f"{AT}.bbox", "bbox"),
            ("escaped_box", '"bbox"', '"b\\u0062ox": [0, 0, 1, 1]', f"{AT}.bbox", "bbox"),
            ("score", '"score"', '"score": 0.1', f"{AT}.score", "score"),
            ("predictions", '"predictions"', '"predictions": []', "$.predictions", "predictions"),
            ("label_map", '"1": "Figure"', '"1": "Chart"', '$.label_map["1"]', "1"),
        )
    ),
    *(
        Row(f"score_{name}", P, old, new,
            f"{AT}.score: every object of a prediction file must have a score (snapshot 1.3, section 9.5); "
            f"found {found}. Write the model's confidence, or 1.0 when it gives none.")
        for name, old, new, found in (("missing", ', "score": 0.9', "", "no score"), ("null", "0.9", "null", "null"))
    ),
    Row("score_in_truth", G, "null", "0.9",
        f"{AT}.score: no object of a ground truth file may have a score (snapshot 1.3, section 9.6); "
        "found 0.9. Remove the score, or write null."),
    *(Row(f"score_{score}", P, "0.9", score, f"{AT}.score: {SCORE}; found {score}. {SCORE_FIX}")
      for score in ('"high"', "true", "1.5", "-Infinity")),
    Row("score_giant", P, "0.9", "9" * 5000,
        f"{AT}.score: {SCORE}; found 99999999999999999999… (5,000 characters). {SCORE_FIX}"),
    *(Row(f"page_{page}", P, '"page_index": 0', f'"page_index": {page}',
          f"$.predictions[0].page_index: {PAGE}; found {page}. {PAGE_FIX}")
      for page in ("-1", "0.5", "true", "null", '"0"', "2147483648", "9223372036854775808")),
    Row("document_unknown", P, '"doc_id": "a", "page_index"', '"doc_id": "b", "page_index"',
        '$.predictions[0].doc_id: doc_id must be listed in documents (snapshot 1.3, section 9.3); found "b". '
        "Add the document, or correct the id."),
    Row("document_number", P, '"doc_id": "a", "page_index"', '"doc_id": 1, "page_index"',
        "$.predictions[0].doc_id: doc_id must be a string (schema 1.3); found 1. Write it as text in double quotes."),
    Row("document_twice", P, '"documents": [', '"documents": [{"doc_id": "a", "doc_name": "b", "doc_path": "b"}, ',
        "$.documents[1].doc_id: doc_id must be unique in documents (snapshot 1.3, section 9.3); "
        'found "a", also in $.documents[0]. Keep one entry for each document.'),
    Row("document_no_name", P, '"doc_name": "a.pdf", ', "",
        '$.documents[0]: doc_name is required here (schema 1.3); found only "doc_id", "doc_path". Add doc_name.'),
    Row("document_empty_path", P, '"pdf/a.pdf"', '""',
        f'$.documents[0].doc_path: doc_path must not be empty (schema 1.3); found "". {EMPTY_FIX}'),
    Row("documents_object", P, '[{"doc_id": "a", "doc_name": "a.pdf", "doc_path": "pdf/a.pdf"}]', "{}",
        "$.documents: documents must be an array (schema 1.3); found {}. "
        "Put the entries in square brackets, also a single one."),
    Row("page_id_empty", P, '"a::0"', '""',
        f'$.predictions[0].page_id: page_id must not be empty (schema 1.3); found "". {EMPTY_FIX}'),
    Row("surrogate", P, '"o0"', '"\\ud800"',
        f"{AT}.id: text must not contain half of a surrogate pair (RFC 8259, section 8.2); found '\\ud800'. "
        "Export the text again; a character was cut in two."),
    Row("extra_key", P, '"score": 0.9', '"score": 0.9, "area": 4',
        f"{AT}.area: only id, label, bbox, score, attributes are allowed here (schema 1.3, additionalProperties); "
        "found 4. Move it into attributes, or remove it."),
    Row("attributes_list", P, '"score": 0.9', '"score": 0.9, "attributes": []',
        f"{AT}.attributes: attributes must be an object (schema 1.3); found []. "
        "Write the attributes as keys and values."),
    Row("attributes_nan", P, '"score": 0.9', '"score": 0.9, "attributes": {"a b": [NaN]}',
        f'{AT}.attributes["a b"][0]: numbers must be finite and fit float64 (RFC 8259, section 6); found NaN. '
        "Correct it."),
    Row("version", P, '"schema_version": "1.3"', '"schema_version": "1.2"',
        '$.info.schema_version: schema_version must be "1.3" (snapshot 1.3, section 9.1); found "1.2". '
        "Convert the file to version 1.3, or correct the version."),
    Row("wrong_side", P, '"type": "prediction"', '"type": "ground_truth"',
        '$.info.type: a prediction file must have type "prediction" (snapshot 1.3, section 4); '
        'found "ground_truth". Give this file as the ground truth, or correct its type.'),
    Row("wrong_type", P, '"type": "prediction"', '"type": "preds"',
        '$.info.type: type must be "ground_truth" or "prediction" (snapshot 1.3, section 4); found "preds". '
        "Write which of the two the file is."),
    Row("info_empty", P, '"origin": "top_left"', '"origin": "bottom_left"',
        '$.info.coordinate_system.origin: origin must be "top_left" (snapshot 1.3, section 3); '
        'found "bottom_left". Turn the y axis, so that y grows downwards from the top.'),
    Row("range", P, "[0.0, 1.0]", "[0, true]",
        "$.info.coordinate_system.range: range must be [0.0, 1.0] (snapshot 1.3, section 3); found [0, true]. "
        "Divide the coordinates by the width and height of the page."),
    Row("label_map_inverted", P, '"2": "Table"', '"2": "Table", "Chart": 3',
        "$.label_map.Chart: keys of label_map must be positive integers in quotes (schema 1.3); "
        'found "Chart". Ids and names look swapped; write id: name.'),
    Row("comment", P, '"documents"', '// list\n"documents"',
        "line 1, column 235: the text must be well-formed JSON (RFC 8259); found \"// list\\n\\\"documents\\\":\". "
        "Remove the comment; JSON has none."),
    Row("control_character", P, '"o0"', '"o\n0"',
        "line 1, column 402: the text must be well-formed JSON (RFC 8259); "
        'found "\\n". Write control characters in text as escapes.'),
    Row("truncated", P, ', "score": 0.9}]}]}', "",
        "line 1, column 452: the text must be well-formed JSON (RFC 8259); found the end of the text. "
        "The file is cut off; copy or export it again."),
    Row("warning_label_twice", P, '"label"', '"label": "Figure", "label"',
        f'{AT}.label: of a repeated key only the last value is used (RFC 8259, section 4); found "label" 2 times. '
        '"Table" is used; keep one label.'),
    Row("warning_label_case", P, '"label": "Table"', '"label": "table"',
        f'{AT}.label: label should be in label_map (schema 1.3, label); found "table" 1 time. '
        'Write it "Table", or leave it: its boxes are shown and not scored.'),
    Row("warning_label_value_twice", P, '"2": "Table"', '"2": "Table", "3": "Table"',
        '$.label_map["3"]: a label should have one id (snapshot 1.3, section 4, is silent); '
        'found "Table", also under "2". Both ids are read as the same label; remove one.'),
    Row("warning_run_id", P, '"run_id": "r", ', "",
        "$.info: run_id should be given (schema 1.3); found no run_id. "
        "Add the name of the run, or null."),
    Row("warning_object_id_twice", P, '"objects": [',
        '"objects": [{"id": "o0", "label": "Table", "bbox": [0, 0, 1, 1], "score": 1}, ',
        "$.predictions[0].objects[1].id: id should be unique on its page (schema 1.3 is silent); "
        'found "o0", also at $.predictions[0].objects[0].id. Both objects count; give each its own id.'),
    Row("warning_page_twice", P, '"predictions": [',
        '"predictions": [{"page_id": "a::0", "doc_id": "a", "page_index": 0, "objects": []}, ',
        "$.predictions[1]: a page should have one entry (snapshot 1.3 is silent); "
        'found "a", page_index 0, also at $.predictions[0]. The objects of both entries are pooled.'),
    Row("warning_page_id_repeats", P, '"predictions": [',
        '"predictions": [{"page_id": "a::0", "doc_id": "a", "page_index": 1, "objects": []}, ',
        "$.predictions[1].page_id: page_id should name one page (snapshot 1.3 is silent); "
        'found "a::0", also at $.predictions[0]. Nothing is lost: pages are distinguished by doc_id and page_index.'),
]  # fmt: skip
