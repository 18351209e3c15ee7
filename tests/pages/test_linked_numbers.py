"""Every number that opens something opens exactly that many: a walk over the views on the sample data.

A number is read where the view writes it, is opened as a reader would open it, and what opens is counted there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.charts import boxes as charts
from evaluator.compare.ledger import ledger
from evaluator.components.compare.pair_list import boxes_of, listed_pages
from evaluator.components.viewer import mistake_filter, page_overlay
from evaluator.components.viewer.fields import SHARES, Paper, page_data
from evaluator.components.viewer.mistake_filter import MistakeFilter
from evaluator.formats.fields import FORMAT as FIELD_FORMAT
from evaluator.matching.box_items import Query, boxes_of_cell, class_confusion, in_query, items
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import BIN, VALUE_BOX, FieldPages, linked_rows
from evaluator.protocols.fields.evaluation import ALL_FIELDS
from evaluator.protocols.pixel.cells import cell_facts
from evaluator.review.store_address import FINDINGS_VARIABLE
from pages.app.state import State
from tests import dashboard
from tests.dashboard import OVERVIEW, PAGE_BROWSER, SAMPLE_DATA, start
from tests.sample_results import box_result, pixel_result, sample

GALLERY, COMPARE = "pages/gallery.py", "pages/compare.py"
FIELDS, POSTERS = "pages/fields.py", "pages/posters.py"
TITLES = {ERROR_TYPES["document"][name].chip: name for name in DOCUMENT}
LETTERS = {"A": 0, "B": 1}


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[dict[tuple[str, str], int]]:
    """The numbers of every chart of mistakes that is drawn, by name of the bar and letter of the model."""
    drawn: list[dict[tuple[str, str], int]] = []
    draw = charts.mistakes_by_label

    def recorded(labels: Any, mistakes: Mapping[str, Any], **given: Any) -> Any:
        numbers = {
            (label, letter): int(n) for letter, row in mistakes.items() for label, n in zip(labels, row, strict=True)
        }
        drawn.append({bar: number for bar, number in numbers.items() if number})
        return draw(labels, mistakes, **given)

    monkeypatch.setattr(charts, "mistakes_by_label", recorded)
    return drawn


def opened(app: AppTest) -> tuple[int, int]:
    """How many mistakes the Page browser lists, and on how many pages, by its own words."""
    text = " ".join(dashboard.words(app))
    match = re.search(r"([\d,]+) mistakes? on ([\d,]+) pages?", text)
    assert match, text[-200:]
    return int(match[1].replace(",", "")), int(match[2].replace(",", ""))


@cache
def listed(model: int, chosen: MistakeFilter) -> int:
    """How many mistakes are in the lists of the pages together under a filter."""
    result = box_result(model)
    columns = mistake_filter.mistake_columns(result, result.mistakes)
    keep = mistake_filter.passing(columns, sample(), chosen)
    labels = None if chosen.label is None else [chosen.label]
    kept = page_overlay.FilteredMistakes(result.mistakes, keep)
    # Where the filter keeps something, and every fifth page besides.
    pages = {*result.mistakes.page[keep].tolist(), *range(0, sample().pages, 5)}
    rows = [row for row in sorted(pages) if chosen.document in (None, document_of(row))]
    return sum(len(page_overlay.page_data(result, row, labels=labels, kept=kept).mistakes) for row in rows)


def document_of(row: int) -> str:
    return sample().documents[sample().page_document[row]].doc_id


def browser(monkeypatch: pytest.MonkeyPatch, model: int, **address: str) -> tuple[int, int]:
    return opened(start(monkeypatch, PAGE_BROWSER, model=str(model + 1), **address))


class TestOneDefinition:
    def test_a_mistake_of_a_label_is_the_same_in_every_list(self) -> None:
        for model in (0, 1):
            columns = mistake_filter.mistake_columns(box_result(model), box_result(model).mistakes)
            counts = mistake_filter.label_counts(columns, len(sample().labels))
            for label, count in zip(sample().labels, counts.tolist(), strict=True):
                assert listed(model, MistakeFilter(label=label)) == count, label

    def test_documents_add_up(self) -> None:
        for model in (0, 1):
            columns = mistake_filter.mistake_columns(box_result(model), box_result(model).mistakes)
            counts = mistake_filter.document_counts(columns, len(sample().documents))
            assert int(counts.sum()) == len(box_result(model).mistakes)
            for document, count in zip(sample().documents, counts.tolist(), strict=True):
                assert listed(model, MistakeFilter(document=document.doc_id)) == count

    def test_what_a_duplicate_repeats_does_not_make_it_one_of_that_label(self) -> None:
        for model in (0, 1):
            columns = mistake_filter.mistake_columns(box_result(model), box_result(model).mistakes)
            duplicates = columns.kind == DOCUMENT.index("duplicate")
            assert (columns.truth_label[duplicates] == -1).all()


class TestOverview:
    @pytest.mark.parametrize("by", ["Label", "Name"])
    def test_every_bar_opens_its_mistakes(
        self, monkeypatch: pytest.MonkeyPatch, bars: list[dict[tuple[str, str], int]], by: str
    ) -> None:
        app = start(monkeypatch, OVERVIEW)
        if by == "Name":
            dashboard.fine(app.button_group(key="mistakes_by").set_value("Name").run())
        numbers = bars[-1]
        assert numbers
        for (bar, letter), number in numbers.items():
            chosen = MistakeFilter(label=bar) if by == "Label" else MistakeFilter(names=(TITLES[bar],))
            assert listed(LETTERS[letter], chosen) == number, bar

    def test_a_bar_opens_the_page_browser_with_nothing_hidden(
        self, monkeypatch: pytest.MonkeyPatch, bars: list[dict[tuple[str, str], int]]
    ) -> None:
        app = start(monkeypatch, OVERVIEW, within="school-census.pdf", score_range="0.9-1")
        app.session_state["mistakes_Label"] = {"selection": {"label": [{"label": "Table", "model": "B"}]}}
        app.run()
        dashboard.go(app, PAGE_BROWSER)
        assert opened(app)[0] == bars[0]["Table", "B"]
        assert dashboard.viewer(app)["model"]["name"] == "blocks 1.0"

    def test_the_headings_say_mistakes_and_mean_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, OVERVIEW)
        text = " ".join(dashboard.words(app))
        for model, card in enumerate(dashboard.cards(app)):
            count = len(box_result(model).mistakes)
            assert f"{count} mistakes" in card["signature"]
            assert browser(monkeypatch, model)[0] == count
        assert f"A {len(box_result(0).mistakes)} B {len(box_result(1).mistakes)}" in text

    def test_every_document_opens_its_mistakes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, OVERVIEW)
        table = next(each.value for each in app.dataframe if "Mistakes, A" in each.value)
        names = {document.name: document.doc_id for document in sample().documents}
        assert table["Mistakes, A"].is_monotonic_decreasing
        for _, row in table.iterrows():
            for letter, model in LETTERS.items():
                chosen = MistakeFilter(document=names[row["Document"]])
                assert listed(model, chosen) == row[f"Mistakes, {letter}"]
        worst = table.iloc[0]
        assert browser(monkeypatch, 0, within=names[worst["Document"]])[0] == worst["Mistakes, A"]


class TestPageBrowser:
    def test_every_page_of_the_strip_has_the_mistakes_it_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, PAGE_BROWSER)
        data = dashboard.viewer(app)
        for entry in data["strip"]:
            row = sample().page_row(entry["document"], entry["index"])
            assert row is not None
            assert len(page_overlay.page_data(box_result(0), row).mistakes) == entry["mistakes"]


class TestGallery:
    @pytest.mark.parametrize("model", [0, 1])
    def test_every_cell_opens_its_boxes(self, model: int) -> None:
        result = box_result(model)
        confusion, every = class_confusion(result), items(result)
        names: list[str | None] = [*confusion.labels, None]
        for (row, column), boxes in np.ndenumerate(confusion.counts):
            if boxes:
                cell = names[row], names[column]
                chosen = every.take(np.flatnonzero(in_query(every, Query(cell=cell))))
                assert boxes_of_cell(chosen, cell) == boxes

    def test_a_cell_says_how_many_boxes_it_opened(self, monkeypatch: pytest.MonkeyPatch) -> None:
        confusion = class_confusion(box_result(0))
        at = confusion.labels.index("Text")
        for cell, boxes in (
            (("Text", None), confusion.counts[at, -1]),
            ((None, "Text"), confusion.counts[-1, at]),
            (("Text", "Text"), confusion.counts[at, at]),
        ):
            app = start(monkeypatch, GALLERY, question=json.dumps({"cell": cell}))
            assert f"<small>{boxes:,} boxes in " in dashboard.gallery_heading(app)

    def test_every_bar_of_a_name_opens_its_mistakes(
        self, monkeypatch: pytest.MonkeyPatch, bars: list[dict[tuple[str, str], int]]
    ) -> None:
        start(monkeypatch, GALLERY, charts="names")
        assert bars[-1]
        for (bar, letter), number in bars[-1].items():
            every = items(box_result(LETTERS[letter]))
            assert int(in_query(every, Query(name=TITLES[bar])).sum()) == number

    def test_what_the_filter_hides_of_a_number_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = {"question": json.dumps({"name": "missed"})}
        whole, tables = start(monkeypatch, GALLERY, **asked), start(monkeypatch, GALLERY, label="Table", **asked)
        assert "hides" not in dashboard.gallery_heading(whole)
        missed = int(box_result(0).mistakes.counts[DOCUMENT.index("missed")])
        left = listed(0, MistakeFilter(names=("missed",), label="Table"))
        assert dashboard.gallery_heading(tables).count(f"the filter hides {missed - left}") == 1

    def test_the_filter_is_the_one_of_the_page_browser(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for address in ({"label": "Text"}, {"label": "Section-header"}, {"score": "0.3-0.6"}, {"fit": "0.2-0.4"}):
            own = re.search(
                r"<small>([\d,]+) mistake", dashboard.gallery_heading(start(monkeypatch, GALLERY, **address))
            )
            assert own, address
            assert int(own[1].replace(",", "")) == browser(monkeypatch, 0, **address)[0], address


class TestCompare:
    def test_every_count_of_boxes_opens_that_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = ledger(box_result(0), box_result(1))
        for boxes, words, link in ledger_numbers(board(start(monkeypatch, COMPARE))):
            part = whole.only(labels={link["label"]}) if link["label"] else whole
            rows = listed_pages(part, link["show"])
            pages = re.search(r"on ([\d,]+) pages?", words)
            if pages:
                assert len(rows) == int(pages[1].replace(",", "")), words
            assert int(boxes_of(part.per_page, link["show"])[rows].sum()) == boxes, words

    def test_every_bar_opens_its_mistakes(
        self, monkeypatch: pytest.MonkeyPatch, bars: list[dict[tuple[str, str], int]]
    ) -> None:
        start(monkeypatch, COMPARE)
        by_name, by_label = bars[-2:]
        for numbers, of in ((by_name, "name"), (by_label, "label")):
            for (bar, letter), number in numbers.items():
                chosen = MistakeFilter(names=(TITLES[bar],)) if of == "name" else MistakeFilter(label=bar)
                assert listed(LETTERS[letter], chosen) == number, bar


@cache
def field_results() -> dict[str, fields.FieldsResult]:
    sides = [FIELD_FORMAT.read_path(SAMPLE_DATA / "fields" / name) for name in ("ground_truth", "anchors", "rules")]
    return {letter: fields.evaluate(sides[0], side) for letter, side in zip("AB", sides[1:], strict=True)}


def fields_behind(app: AppTest) -> int:
    """How many fields the view lists behind the chosen number, by its own words and by its table."""
    said = next(matched for each in app.caption if (matched := re.match(r"([\d,]+) fields?: ", each.value)))
    count = int(said[1].replace(",", ""))
    tables = [each.value for each in app.dataframe if "Document" in each.value and "Predicted" in each.value]
    assert sum(map(len, tables)) == count
    return count


class TestFields:
    # What the columns of the table of field types open.
    COLUMNS: ClassVar = {
        "TP": "true_positive", "Below": "below_threshold", "Missed": "missed", "Spur.": "spurious",
        "Truth": "ground_truth", "Pred.": "predictions",
    }  # fmt: skip

    @pytest.mark.parametrize("letter", ["A", "B"])
    def test_every_count_of_the_table_opens_that_many_fields(
        self, monkeypatch: pytest.MonkeyPatch, letter: str
    ) -> None:
        app = start(monkeypatch, FIELDS, model=str(LETTERS[letter] + 1))
        table = next(each.value for each in app.dataframe if "Spur." in each.value)
        result = field_results()[letter]
        for _, row in table.iterrows():
            label = None if row["Field"] == ALL_FIELDS else row["Field"]
            for column, link in self.COLUMNS.items():
                assert len(linked_rows(result, link, iou=0.5, label=label)) == row[column], (row["Field"], column)

    def test_a_count_lists_its_fields(self, monkeypatch: pytest.MonkeyPatch) -> None:
        result = field_results()["A"]
        label = result.compared.classes[0]
        for address in ({"behind": "missed"}, {"behind": "ground_truth", "field": label}):
            number = len(linked_rows(result, address["behind"], iou=0.5, label=address.get("field")))
            assert self.opened(monkeypatch, "A", **address) == number > 0

    @staticmethod
    def opened(monkeypatch: pytest.MonkeyPatch, letter: str, **address: str) -> int:
        app = start(monkeypatch, FIELDS, model=str(LETTERS[letter] + 1), **address)
        app.session_state["field_tab"] = "Fields behind the number"
        return fields_behind(dashboard.fine(app.run()))

    def test_every_cell_of_value_by_box_opens_that_many_fields(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, FIELDS)
        for link in VALUE_BOX:
            said = app.button(key=f"linked_{link}").label.split("**")[1]
            assert fields_behind(dashboard.fine(app.button(key=f"linked_{link}").click().run())) == int(said)

    def test_every_bin_of_the_confidence_opens_its_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for letter, result in field_results().items():
            counts = result.confidence().calibration.count.tolist()
            assert [len(linked_rows(result, f"{BIN}{at}", iou=0.5)) for at in range(len(counts))] == counts
            fullest = int(np.argmax(counts))
            assert self.opened(monkeypatch, letter, behind=f"{BIN}{fullest}") == counts[fullest]

    def test_the_least_sure_are_as_many_as_the_sentence_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, FIELDS)
        text = " ".join(dashboard.words(app))
        said = re.findall(r"in ([\d,]+) of [\d,]+ values", text)
        assert len(said) == len(LETTERS)
        for letter, number in zip(LETTERS, said, strict=True):
            shown = dashboard.fine(app.button(key=f"linked_least_{letter}").click().run())
            assert fields_behind(shown) == int(number.replace(",", ""))

    def test_every_page_of_the_strip_lists_what_it_says(self) -> None:
        for result in field_results().values():
            pages = FieldPages(result.compared)
            for link in ("problems", "missed", "spurious", "below_threshold", "value_wrong_box_right"):
                rows = linked_rows(result, link, iou=0.5)
                counts = pages.counts(rows)
                assert {place for place, count in counts.items() if count} <= set(pages.every)
                for code, index in pages.every:
                    paper = Paper(code, index, (595.0, 842.0), SHARES)
                    drawn = page_data(result, pages, paper, iou=0.5, kept=rows)
                    assert len(drawn.mistakes) == counts.get((code, index), 0), (link, code, index)


class TestPosters:
    def test_every_row_opens_its_poster_with_the_same_numbers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, POSTERS)
        table = next(each.value for each in app.dataframe if "Result" in each.value)
        assert f"{len(table):,} · model A, worst first" in " ".join(dashboard.words(app))
        passed = sum(result.startswith("✓") for result in table["Result"])
        assert f"{passed} of {len(table)}" in dashboard.words(app)
        # The worst, the best, and some between.
        for at, row in list(table.iterrows())[:: (len(table) - 1) // 3]:
            app.session_state["poster_table_A"] = {"selection": {"cells": [[at, "Poster"]], "rows": [], "columns": []}}
            app.run()
            dashboard.fine(app.run())
            body = next(each for each in dashboard.html_blocks(app) if "ls-four" in each)
            numbers = dashboard.read_html(body).words
            for column in table.columns[2:]:
                assert any(word.endswith(f"{row[column]:.3f}") for word in numbers), (row["Poster"], column)
            assert row["Poster"] in dashboard.words(app)

    def test_the_page_lists_the_words_that_it_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for letter in LETTERS:
            data = dashboard.viewer(start(monkeypatch, POSTERS, poster_of=letter))
            listed = [mistake["status"] for mistake in data["mistakes"]]
            assert (listed.count("FN"), listed.count("FP")) == (data["counts"]["FN"], data["counts"]["FP"])
            assert data["head"] == f"{listed.count('FN')} missing, {listed.count('FP')} extra on the page"

    def test_the_lists_of_words_are_as_long_as_they_say(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, POSTERS, part="text")
        body = next(each for each in dashboard.html_blocks(app) if "ls-lists" in each)
        sections = re.findall(r"<h3>([^<]*) <b>([\d,]+)</b></h3><div>(.*?)</div>", body)
        assert len(sections) == 5
        for title, number, words in sections:
            assert words.count("<span>") == int(number.replace(",", "")), title


class TestPixelConfusion:
    @pytest.mark.parametrize("name", ["lines", "blocks"])
    def test_every_cell_opens_its_pages_and_their_pixels(self, name: str) -> None:
        result = pixel_result(name)
        confusion = result.whole.matrices.confusion[0]
        for (row, column), number in np.ndenumerate(confusion):
            facts = cell_facts(result, row, column)
            assert facts.pixels == pytest.approx(number)
            assert len(facts.behind) == facts.pages
            assert sum(each.pixels for each in facts.behind) == pytest.approx(number)

    def test_the_tinted_pixels_are_those_of_the_list(self) -> None:
        result = pixel_result("lines")
        confusion = result.whole.matrices.confusion[0].copy()
        np.fill_diagonal(confusion, 0.0)
        single = 0
        for row, column in zip(*np.nonzero(confusion), strict=True):
            page, counted = cell_facts(result, row, column, limit=1).behind[0]
            region = result.cell_region(page, row, column)
            # A pixel with several labels is a part of several cells, and is tinted whole in each.
            assert region.pixels >= counted - 1e-6
            single += region.pixels == pytest.approx(counted)
        assert single

    def test_the_view_says_and_lists_the_pages_of_the_cell(self, monkeypatch: pytest.MonkeyPatch) -> None:
        result = pixel_result("lines")
        for row, column in (("Text", "Background"), ("Table", "Text"), ("Text", "Text")):
            app = start(monkeypatch, "pages/pixel_confusion.py", row=row, column=column)
            facts = cell_facts(result, result.classes.index(row), result.classes.index(column))
            table = next(each.value for each in app.dataframe if "Pixels" in each.value)
            assert len(table) == facts.pages
            text = " ".join(dashboard.words(app))
            assert f"{facts.pages} of {len(result.dataset.page_index)} pages" in text
            assert f"on {facts.pages:,} of " in text
            tint = next(each for each in dashboard.every_component(app) if "tint" in each)
            assert f"{tint['tint']['pixels']:,} pixels" in tint["caption"]
            assert tint["tint"]["pixels"] >= table["Pixels"].iloc[0] - 1e-6


class TestCompareKinds:
    """The filters above the panes: each opens as many pages as it says, with as many things as it says."""

    @pytest.mark.parametrize("kind", ["boxes", "pixels", "fields", "posters"])
    def test_every_filter_opens_its_pages_and_what_is_on_them(self, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
        app = start(monkeypatch, COMPARE, compare=kind)
        for each in pair(app)["filters"]:
            pages, things = (int(n.replace(",", "")) for n in re.findall(r"(\d[\d,]*) [a-z]+", each["words"]))
            assert each["pages"] == pages
            app.session_state[State.pair_show.key] = each["name"]
            strip = pair(dashboard.fine(app.run()))["strip"]
            assert len(strip) == pages, each
            # The bar of a page is what is changed there, or what the filter keeps.
            counted = sum(entry["gained"] + (entry["lost"] if each["name"] == "changed" else 0) for entry in strip)
            assert counted == things, each

    def test_what_a_filter_keeps_is_named_with_the_numbers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = pair(start(monkeypatch, COMPARE))
        address = {"label": "Table", "within": whole["page"]["document"], "doc": whole["page"]["document"]}
        kept = pair(start(monkeypatch, COMPARE, page=str(whole["page"]["index"] + 1), **address))
        assert whole.get("scope", "") == ""
        assert kept["scope"] == "boxes of Table in school-census.pdf"
        assert whole["panes"][0]["words"] == "misses 1 that B finds"
        assert kept["panes"][0]["words"] == "Table: misses none that B finds"

    def test_every_cause_opens_its_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        causes = pair(start(monkeypatch, COMPARE))["causes"]
        # The most frequent, and every fifth of the others.
        for cause in (causes[0], *causes[1::5]):
            data = pair(start(monkeypatch, COMPARE, cause=cause["key"]))
            said = re.fullmatch(r"(?:(\d+) solved, (\d+) new|(\d+) box(?:es)?) on (\d+) pages?", cause["boxes"])
            assert said, cause["boxes"]
            boxes = sum(int(number) for number in said.groups()[:3] if number)
            assert len(data["strip"]) == int(said[4]), cause["title"]
            assert sum(entry["gained"] for entry in data["strip"]) == boxes, cause["title"]


class TestCauses:
    def test_more_like_this_are_as_many_as_the_link_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        causes = dashboard.viewer(start(monkeypatch, PAGE_BROWSER))["causes"]
        assert causes
        for cause in causes:
            app = start(monkeypatch, GALLERY, question=json.dumps({"cause": cause["family"]}), charts="causes")
            assert f"<small>{cause['alike'] + 1} times, " in dashboard.gallery_heading(app), cause["title"]

    def test_every_row_of_the_causes_opens_its_times_mistakes_and_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, GALLERY, charts="causes")
        table = next(each.value for each in app.dataframe if "Cause" in each.value)
        for at, row in list(table.iterrows())[::3]:
            family = list(box_result(0).causes.alike)[int(str(at))]
            said = dashboard.gallery_heading(
                start(monkeypatch, GALLERY, question=json.dumps({"cause": family}), charts="causes")
            )
            numbers = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) (?:times?|mistakes?|pages?)", said)]
            assert numbers == [row["Times"], row["Mistakes"], row["Pages"]], (row["Cause"], said)


class TestSlices:
    @pytest.mark.parametrize(("of", "measure"), [("A", "recall"), ("B", "precision")])
    def test_every_slice_opens_its_boxes_and_lists_its_pages(
        self, monkeypatch: pytest.MonkeyPatch, of: str, measure: str
    ) -> None:
        app = start(monkeypatch, "pages/slices.py", of_models=of, slice_measure=measure)
        slices = [one for each in dashboard.every_component(app) for one in each.get("slices", [])]
        for one in slices:
            boxes = int(one["boxes"].split(" ")[0].replace(",", ""))
            asked = [[each["attribute"], each["op"], each["value"]] for each in json.loads(one["conditions"])]
            question = json.dumps({"slice": {"measure": measure, "conditions": asked}})
            gallery = start(monkeypatch, GALLERY, question=question, model=str(LETTERS[of] + 1))
            assert f"<small>{one['boxes']} in " in " ".join(dashboard.html_blocks(gallery)), one["title"]
            assert sum(page["boxes"] for page in one["pages"]) == boxes or int(
                one["places"].split()[0].replace(",", "")
            ) > len(one["pages"])


class TestSuspects:
    def test_every_kind_lists_as_many_as_it_says(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv(FINDINGS_VARIABLE, str(tmp_path / "findings.sqlite"))
        app = start(monkeypatch, "pages/suspects.py")
        said = [text.rsplit(" ", 1) for text in next(e for e in app.button_group if e.key == "suspect_kind").options]
        numbers = {name.lower(): int(number.replace(",", "")) for name, number in said}
        assert numbers.pop("all") == sum(numbers.values())
        for kind, number in numbers.items():
            shown = start(monkeypatch, "pages/suspects.py", suspected=kind)
            lists = [each["suspects"] for each in dashboard.every_component(shown) if "suspects" in each]
            assert sum(map(len, lists)) == number, kind


class TestModels:
    def test_every_pair_opens_in_compare_with_its_difference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(monkeypatch, "pages/models.py")
        table = next(each.value for each in app.dataframe if "" in each.value)
        for row in range(len(table)):
            for column in range(len(table)):
                if row == column:
                    continue
                app.session_state["rank_pair"] = (row, column)
                dashboard.fine(app.run())
                compared = dashboard.fine(next(e for e in app.button if e.label == "Open in Compare").click().run())
                data = next(each for each in dashboard.every_component(compared) if "ledger" in each)
                assert f"F1 {table[str(column)][row]}" in " ".join(dashboard.words(compared)), data["sentence"]
                dashboard.go(app, "pages/models.py")


def pair(app: AppTest) -> dict[str, Any]:
    """What the two panes of Compare were given."""
    return next(each for each in dashboard.every_component(app) if "strip" in each)


def board(app: AppTest) -> dict[str, Any]:
    return next(each for each in dashboard.every_component(app) if "ledger" in each)


def ledger_numbers(data: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Every count of boxes of the board: how many, in which words, and what it opens."""
    for cell in data["ledger"]:
        yield cell["boxes"], cell["words"], cell["link"]
    for row in data["false_positives"]:
        yield row["boxes"], row["title"], row["link"]
    for row in data["labels"]:
        for cell in row["cells"]:
            yield cell["boxes"], cell["words"], cell["link"]
