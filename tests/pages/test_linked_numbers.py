"""Every number that opens something opens exactly that many: a walk over the views on the sample data.

A number is read where the view writes it, is opened as a reader would open it, and what opens is counted there.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.charts import boxes as charts
from evaluator.compare.ledger import ledger
from evaluator.components.compare.pair_list import boxes_of, listed_pages
from evaluator.components.viewer import mistake_filter, page_overlay
from evaluator.components.viewer.mistake_filter import MistakeFilter
from evaluator.data.issues import count_of, displayed, name_in_list
from evaluator.matching.box_items import (
    Query,
    asked_boxes,
    asks_for_matches,
    class_confusion,
    count_asked,
    held_of,
    in_query,
    items,
)
from evaluator.matching.causes import CausesPartial, FamilyTotal, family_title
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.protocols.fields.drill_down import BIN, VALUE_BOX, linked_rows
from evaluator.protocols.pixel.cells import cell_facts
from pages.app.state import State
from pages.views.fields.tables import _COUNTS
from tests import dashboard
from tests.dashboard import COMPARE, GALLERY, OVERVIEW, PAGE_BROWSER, component, fine, start, table, viewer, words
from tests.sample_results import box_result, field_results, pixel_result, sample

TITLES = {ERROR_TYPES["document"][name].chip: name for name in DOCUMENT}
LETTERS = {"A": 0, "B": 1}
Bars = list[dict[tuple[str, str], int]]


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    drawn: Bars = []
    draw = charts.mistakes_by_label

    def recorded(labels: Any, mistakes: Mapping[str, Any], **given: Any) -> Any:
        numbers = {
            (label, letter): int(n) for letter, row in mistakes.items() for label, n in zip(labels, row, strict=True)
        }
        drawn.append({bar: number for bar, number in numbers.items() if number})
        return draw(labels, mistakes, **given)

    monkeypatch.setattr(charts, "mistakes_by_label", recorded)
    return drawn


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def opened(app: AppTest) -> int:
    match = re.search(
        r"([\d,]+) mistakes?(?: \([^)]*\))?,? (?:at [\d,]+ places? )?on [\d,]+ pages?", dashboard.toolbar(app)
    )
    assert match
    return whole(match[1])


@cache
def listed(model: int, chosen: MistakeFilter) -> int:
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


def browser(model: int, **address: str) -> int:
    return opened(start(PAGE_BROWSER, model=str(model + 1), **address))


def gallery(**question: Any) -> str:
    return dashboard.toolbar(start(GALLERY, question=json.dumps(question)))


@pytest.mark.parametrize("model", [0, 1])
def test_a_mistake_of_a_label_or_document_is_the_same_in_every_list(model: int) -> None:
    columns = mistake_filter.mistake_columns(box_result(model), box_result(model).mistakes)
    counts = mistake_filter.label_counts(columns, len(sample().labels))
    for label, count in zip(sample().labels, counts.tolist(), strict=True):
        assert listed(model, MistakeFilter(label=label)) == count, label
    counts = mistake_filter.document_counts(columns, len(sample().documents))
    assert int(counts.sum()) == len(box_result(model).mistakes)
    for document, count in zip(sample().documents, counts.tolist(), strict=True):
        assert listed(model, MistakeFilter(document=document.doc_id)) == count
    duplicates = columns.kind == DOCUMENT.index("duplicate")
    assert (columns.truth_label[duplicates] == -1).all(), "what it repeats does not make it one of that label"


@pytest.mark.usefixtures("store_path")
def test_every_count_of_a_cause_opens_its_wrong_boxes_and_places() -> None:
    app = start(OVERVIEW)
    sides = [(card, side) for card in component(app, "cards")["cards"] for side in card["sides"]]
    for card, side in sides:
        if side.get("empty"):
            continue
        dashboard.send_event(app, "cards", "open", side["key"])
        assert dashboard.title(app) == "Grid"
        assert dashboard.toolbar(app).startswith(card["title"][:30])
        opened = component(app, "cards")["cards"]
        wrong = sum(box["status"] in ("FP", "FN") for place in opened for box in place["boxes"])
        assert f"{count_of(wrong, 'wrong box')} at {count_of(len(opened), 'place')}" == side["words"]
        assert dashboard.address(app).get("model", "1") == str(LETTERS[side["letter"]] + 1)
        dashboard.go(app, OVERVIEW)


@pytest.mark.usefixtures("store_path")
def test_all_causes_and_all_labels_are_as_many_as_their_words_say() -> None:
    app = start(OVERVIEW)
    (link,) = [dashboard.plain(each.proto.label) for each in app.get("page_link") if each.proto.page == "findings"]
    assert link == count_of(len(component(start(dashboard.FINDINGS), "answered")["rows"]), "cause").join(["All ", ""])
    assert component(app, "cells")["every"] == f"All {count_of(len(sample().labels), 'label')}"
    dashboard.send_event(app, "cells", "every", True)
    assert list(table(app, "Precision")["Label"]) == ["All labels", *sample().labels]
    assert dashboard.address(app) == {"charts": "labels"}
    dashboard.send_event(app, "cells", "label", "Figure")
    assert dashboard.toolbar(app).startswith("Label: Figure | ")


def assert_bars(numbers: dict[tuple[str, str], int], by: str) -> None:
    assert numbers
    for (bar, letter), number in numbers.items():
        chosen = MistakeFilter(label=bar) if by == "Label" else MistakeFilter(names=(TITLES[bar],))
        assert listed(LETTERS[letter], chosen) == number, bar


def test_a_bar_opens_the_page_browser_with_nothing_hidden() -> None:
    app = start(OVERVIEW, within="school-census.pdf", score_range="0.9-1")
    dashboard.send_event(app, "bars", "boxes", {"letter": "B", "status": "FN"})
    assert f" | {count_of(box_result(1).micro.fn[0], 'box')} in " in dashboard.toolbar(app)
    assert viewer(app)["model"]["name"] == "blocks 1.0"


def test_every_document_opens_its_mistakes() -> None:
    documents = table(start(OVERVIEW, charts="documents"), "Mistakes, A")
    names = {name_in_list(document.name): document.doc_id for document in sample().documents}
    assert documents["Mistakes, A"].is_monotonic_decreasing
    assert documents["Pages"].sum() == sample().pages
    assert set(documents["Document"]) == set(names)
    for _, row in documents.iterrows():
        for letter, model in LETTERS.items():
            assert listed(model, MistakeFilter(document=names[row["Document"]])) == row[f"Mistakes, {letter}"]
    worst = documents.iloc[0]
    assert browser(0, within=names[worst["Document"]]) == worst["Mistakes, A"]


@pytest.mark.parametrize("model", [0, 1])
def test_every_cell_of_the_gallery_opens_its_boxes(model: int) -> None:
    result = box_result(model)
    confusion, every = class_confusion(result), items(result)
    names: list[str | None] = [*confusion.labels, None]
    for (row, column), boxes in np.ndenumerate(confusion.counts):
        if boxes:
            cell = names[row], names[column]
            chosen = every.take(np.flatnonzero(in_query(every, Query(cell=cell))))
            assert count_asked(chosen, Query(cell=cell)) == boxes


@pytest.mark.parametrize(("model", "iou"), [(0, 0.5), (1, 0.75)])
def test_every_count_of_the_labels_opens_exactly_its_boxes(model: int, iou: float) -> None:
    result = box_result(model, iou)
    rows = [(label, result.per_label.row(code)) for code, label in enumerate(result.matching.labels)]
    for label, counts in ((None, result.micro.row(0)), *rows):
        for status, number in (("TP", counts["tp"]), ("FP", counts["fp"]), ("FN", counts["fn"])):
            question = Query(status=status, label=label)
            every = items(result, matched=asks_for_matches(question))
            chosen = every.take(np.flatnonzero(in_query(every, question)))
            assert count_asked(chosen, question) == number, question
            keep = np.zeros(len(result.mistakes), dtype=bool)
            keep[chosen.mistake[chosen.mistake >= 0]] = True
            asked = asked_boxes(result, question)
            assert asked is not None
            kept = page_overlay.FilteredMistakes(result.mistakes, keep, held_of(chosen, asked))
            drawn = [page_overlay.page_data(result, row, kept=kept) for row in np.unique(chosen.page).tolist()]
            assert sum(getattr(page.counts, status) for page in drawn) == number, question
            assert sum(len(page.mistakes) for page in drawn) == len(chosen), question
            full = [box for page in drawn for box in page.boxes if box.mistake and not box.other]
            assert sum(box.status == status for box in full) == number, question


def test_a_cell_of_the_gallery_says_how_many_boxes_it_opened() -> None:
    confusion = class_confusion(box_result(0))
    at = confusion.labels.index("Text")
    for cell, row, column in ((("Text", None), at, -1), ((None, "Text"), -1, at), (("Text", "Text"), at, at)):
        assert f" | {confusion.counts[row, column]:,} boxes in " in gallery(cell=cell)


def test_what_the_filter_hides_of_a_number_is_said() -> None:
    asked = json.dumps({"name": "missed"})
    assert "hides" not in dashboard.toolbar(start(GALLERY, question=asked))
    missed = int(box_result(0).mistakes.counts[DOCUMENT.index("missed")])
    left = listed(0, MistakeFilter(names=("missed",), label="Table"))
    heading = dashboard.toolbar(start(GALLERY, label="Table", question=asked))
    assert heading.count(f"the filter hides {missed - left}") == 1


def test_the_filter_of_the_gallery_is_the_one_of_the_page_browser() -> None:
    for address in ({"label": "Text"}, {"label": "Section-header"}, {"score": "0.3-0.6"}, {"fit": "0.2-0.4"}):
        own = re.search(r"in ([\d,]+) mistake", dashboard.toolbar(start(GALLERY, **address)))
        assert own, address
        assert whole(own[1]) == browser(0, **address), address


def test_every_count_of_boxes_in_compare_opens_that_many(bars: Bars) -> None:
    everything = ledger(box_result(0), box_result(1))
    for boxes, said, link in ledger_numbers(component(start(COMPARE), "ledger")):
        part = everything.only(labels={link["label"]}) if link["label"] else everything
        rows = listed_pages(part, link["show"])
        pages = re.search(r"on ([\d,]+) pages?", said)
        assert pages is None or len(rows) == whole(pages[1]), said
        assert int(boxes_of(part.per_page, link["show"])[rows].sum()) == boxes, said
    for numbers, by in zip(bars[-2:], ("Name", "Label"), strict=True):
        assert_bars(numbers, by)


def ledger_numbers(data: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, str]]]:
    for cell in (*data["ledger"], *(cell for row in data["labels"] for cell in row["cells"])):
        yield cell["boxes"], cell["words"], cell["link"]
    for row in data["false_positives"]:
        yield row["boxes"], row["title"], row["link"]


def fields_behind(app: AppTest) -> int:
    said = next(matched for each in app.caption if (matched := re.match(r"([\d,]+) fields?: ", each.value)))
    tables = [each.value for each in app.dataframe if "Document" in each.value and "Predicted" in each.value]
    assert sum(map(len, tables)) == whole(said[1])
    return whole(said[1])


def fields_opened(letter: str, **address: str) -> int:
    app = start(dashboard.FIELDS, model=str(LETTERS[letter] + 1), **address)
    app.session_state["field_tab"] = "Fields behind the number"
    return fields_behind(fine(app.run()))


def test_a_count_lists_its_fields() -> None:
    result = field_results()["A"]
    for address in ({"behind": "missed"}, {"behind": "ground_truth", "field": result.compared.classes[0]}):
        number = len(linked_rows(result, address["behind"], iou=0.5, label=address.get("field")))
        assert fields_opened("A", **address) == number > 0


def test_every_number_of_values_opens_that_many_fields() -> None:
    app = start(dashboard.FIELDS)
    said = re.findall(r"in ([\d,]+) of [\d,]+ values", " ".join(words(app)))
    numbers = {link: app.button(key=f"linked_{link}").label.split("**")[1] for link in VALUE_BOX}
    numbers |= {f"least_{letter}": number for letter, number in zip(LETTERS, said, strict=True)}
    for link, number in numbers.items():
        assert fields_behind(fine(app.button(key=f"linked_{link}").click().run())) == whole(number), link


def test_the_fullest_bin_of_the_confidence_opens_its_values() -> None:
    for letter, result in field_results().items():
        counts = result.confidence().calibration.count.tolist()
        fullest = int(np.argmax(counts))
        assert fields_opened(letter, behind=f"{BIN}{fullest}") == counts[fullest]


def test_every_row_opens_its_poster_with_the_same_numbers() -> None:
    app = start(dashboard.POSTERS)
    posters = table(app, "Result")
    assert f"{len(posters):,} · model A, worst first" in " ".join(words(app))
    assert f"{sum(result.startswith('✓') for result in posters['Result'])} of {len(posters)}" in words(app)
    # The worst, the best, and some between.
    for at, row in list(posters.iterrows())[:: (len(posters) - 1) // 3]:
        app.session_state["poster_table_A"] = {"selection": {"cells": [[at, "Poster"]], "rows": [], "columns": []}}
        app.run()
        numbers = dashboard.read_html(dashboard.block(fine(app.run()), "ls-four")).words
        for column in posters.columns[2:]:
            assert any(word.endswith(f"{row[column]:.3f}") for word in numbers), (row["Poster"], column)
        assert row["Poster"] in words(app)


def test_the_words_of_a_poster_are_as_many_as_its_lists_say() -> None:
    for letter in LETTERS:
        data = viewer(start(dashboard.POSTERS, poster_of=letter))
        statuses = [mistake["status"] for mistake in data["mistakes"]]
        assert (statuses.count("FN"), statuses.count("FP")) == (data["counts"]["FN"], data["counts"]["FP"])
        assert data["head"] == f"{statuses.count('FN')} missing, {statuses.count('FP')} extra on the page"
    body = dashboard.block(start(dashboard.POSTERS, part="text"), "ls-lists")
    sections = re.findall(r"<h3>([^<]*) <b>([\d,]+)</b></h3><div>(.*?)</div>", body)
    assert len(sections) == 5
    for title, number, listed_words in sections:
        assert listed_words.count("<span>") == whole(number), title


def test_the_view_says_and_lists_the_pages_of_a_cell_of_pixels() -> None:
    result = pixel_result("lines")
    for row, column in (("Text", "Background"), ("Table", "Text"), ("Text", "Text")):
        app = start(dashboard.PIXELS, row=row, column=column)
        facts = cell_facts(result, result.classes.index(row), result.classes.index(column))
        behind = table(app, "Pixels")
        assert len(behind) == facts.pages
        text = " ".join(words(app))
        assert f"{facts.pages} of {len(result.dataset.page_index)} pages" in text
        assert f"on {facts.pages:,} of " in text
        tint = component(app, "tint")
        assert f"{tint['tint']['pixels']:,} pixels" in tint["caption"]
        assert tint["tint"]["pixels"] >= behind["Pixels"].iloc[0] - 1e-6


@pytest.mark.parametrize("kind", ["boxes", "pixels", "fields", "posters"])
def test_every_filter_of_compare_opens_its_pages_and_what_is_on_them(kind: str) -> None:
    app = start(COMPARE, compare=kind)
    for each in component(app, "strip")["filters"]:
        pages, things = (whole(n) for n in re.findall(r"(\d[\d,]*) [a-z]+", each["words"]))
        app.session_state[State.pair_show.key] = each["name"]
        strip = component(fine(app.run()), "strip")["strip"]
        # The bar of a page is what is changed there, or what the filter keeps.
        counted = sum(entry["gained"] + (entry["lost"] if each["name"] == "changed" else 0) for entry in strip)
        assert (each["pages"], len(strip), counted) == (pages, pages, things), each


def test_what_a_filter_keeps_is_named_with_the_numbers() -> None:
    every = component(start(COMPARE, show="changed"), "strip")
    page = every["page"]
    address = {"label": "Table", "within": page["document"], "doc": page["document"], "page": str(page["index"] + 1)}
    kept = component(start(COMPARE, **address), "strip")
    assert (every.get("scope", ""), kept["scope"]) == ("", "boxes of Table in school-census.pdf")
    assert every["panes"][0]["words"] == "misses 1 that B finds"
    assert kept["panes"][0]["words"] == "Table: misses none that B finds"


def totals_of(model: int) -> dict[str, FamilyTotal]:
    totals = CausesPartial.of(box_result(model).causes, sample().page_document).totals
    return {family_title(family): total for family, total in totals.items()}


def test_more_like_this_are_as_many_as_the_link_says() -> None:
    causes = viewer(start(PAGE_BROWSER))["causes"]
    assert causes
    for cause in causes:
        assert f", at {cause['alike'] + 1} place" in gallery(cause=cause["family"]), cause["title"]


def test_every_cause_of_the_grid_opens_its_mistakes_places_and_pages() -> None:
    totals = totals_of(0)
    for family in list(box_result(0).causes.alike)[::3]:
        said, total = gallery(cause=family), totals[family_title(family)]
        nouns = r"([\d,]+) (?:wrong box(?:es)?|places?|mistakes?|pages?)"
        numbers = [whole(n) for n in re.findall(nouns, said.rpartition("|")[2])]
        assert numbers == [total.boxes, total.mistakes, total.places, total.pages], said


@pytest.mark.parametrize(("of", "measure"), [("A", "recall"), ("B", "precision")])
def test_every_slice_opens_its_boxes_and_lists_its_pages(of: str, measure: str) -> None:
    for one in component(start(dashboard.SLICES, of_models=of, slice_measure=measure), "slices")["slices"]:
        asked = [[each["attribute"], each["op"], each["value"]] for each in json.loads(one["conditions"])]
        question = json.dumps({"slice": {"measure": measure, "conditions": asked}})
        shown = start(GALLERY, question=question, model=str(LETTERS[of] + 1))
        assert f" | {one['boxes']} in " in dashboard.toolbar(shown), one["title"]
        on_pages = sum(page["boxes"] for page in one["pages"])
        assert on_pages == whole(one["boxes"].split()[0]) or whole(one["places"].split()[0]) > len(one["pages"])


@pytest.mark.usefixtures("store_path")
def test_every_kind_of_suspects_lists_as_many_as_it_says() -> None:
    said = [text.rsplit(" ", 1) for text in start(dashboard.SUSPECTS).button_group(key="suspect_kind").options]
    numbers = {name.lower(): whole(number) for name, number in said}
    assert numbers.pop("all") == sum(numbers.values())
    for kind, number in numbers.items():
        shown = start(dashboard.SUSPECTS, suspected=kind)
        lists = [each["suspects"] for each in dashboard.every_component(shown) if "suspects" in each]
        assert sum(map(len, lists)) == number, kind


def test_every_pair_of_models_opens_in_compare_with_its_difference() -> None:
    app = start(dashboard.MODELS)
    pairs = table(app, "")
    for row, column in np.argwhere(~np.eye(len(pairs), dtype=bool)).tolist():
        app.session_state["rank_pair"] = (row, column)
        compared = dashboard.press(fine(app.run()), "Open in Compare")
        assert component(compared, "ledger")
        assert f"F1 {pairs[str(column)][row]}" in " ".join(words(compared))
        dashboard.go(app, dashboard.MODELS)


def test_every_kind_of_mistake_of_the_filter_opens_as_many() -> None:
    for option in start(GALLERY).button_group(key="mistake_names").options:
        title, _, number = dashboard.plain(option).rpartition(" ")
        assert opened(start(GALLERY, mistakes=TITLES[title])) == whole(number), title


def test_every_page_of_the_strip_lists_as_many_mistakes_as_it_says() -> None:
    for model in LETTERS.values():
        for entry in viewer(start(PAGE_BROWSER, model=str(model + 1)))["strip"]:
            page = sample().page_row(entry["document"], entry["index"])
            assert page is not None
            assert len(page_overlay.page_data(box_result(model), page).mistakes) == entry["mistakes"], entry["document"]


def test_all_differences_and_those_of_a_page_are_as_many_as_their_words_say() -> None:
    app = start(COMPARE)
    pages = component(app, "strip")
    (here,) = [entry for entry in pages["strip"] if entry["current"]]
    assert len(pages["differences"]) == here["gained"] + here["lost"]
    (every,) = [button.label for button in app.button if button.label.startswith("All ")]
    tables = component(dashboard.press(app, every), "ledger")["tables"]
    assert every == f"All {count_of(len(tables[-1]['rows']), 'difference')}"


@pytest.mark.parametrize("letter", LETTERS)
def test_every_count_of_a_field_type_lists_its_fields(letter: str) -> None:
    app, result = start(dashboard.FIELDS, model=str(LETTERS[letter] + 1)), field_results()[letter]
    types = table(app, "Box too far off")
    classes = {displayed(name): name for name in result.compared.classes}
    for title, (_, link) in _COUNTS.items():
        for name, count in zip(types["Field"], types[title], strict=True):
            rows = linked_rows(result, link, iou=0.5, label=classes.get(name))
            assert len(rows) == count, (name, title)
