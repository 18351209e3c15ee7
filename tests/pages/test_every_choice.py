"""Whatever a reader chooses in any view, alone or after other choices: no run ends in an error.

Each view is one session that goes on, so that a choice meets those made before it. What AppTest cannot press, such as a
row of a table or a box on a page, is in the browser tests.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup, Selectbox

from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import COMPARE, EVERY_VIEW, FIELDS, POSTERS, READING, address, fine, start
from tests.pages.test_reading_view import files_of_items

# What takes seconds, and has tests of its own.
SLOW = {"Make the pack", "Read the PDFs"}


class Shown(str):
    """The words of an option, which AppTest otherwise wants as the value behind them."""

    __slots__ = ()


@pytest.fixture(autouse=True)
def _options_by_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Selectbox, ButtonGroup):
        own: Any = kind.format_func

        def words_of(self: object, _own: Any = own) -> Callable[[object], object]:
            return lambda value: value if isinstance(value, Shown) else _own.fget(self)(value)

        monkeypatch.setattr(kind, "format_func", property(words_of))


def choices(app: AppTest) -> Iterator[tuple[str, str, Sequence[Any]]]:
    """Kind and label of each widget with a choice, and values to give it: the first and the last, and back."""
    for selectbox in filter(lambda selectbox: selectbox.options, app.selectbox):
        yield "selectbox", selectbox.label, [Shown(selectbox.options[at]) for at in (-1, 0)]
    for group in filter(lambda group: group.options, app.button_group):
        options = [Shown(group.options[at]) for at in (-1, 0)]
        yield "button_group", group.label, options if group.proto.click_mode == 0 else [[each] for each in options]
    for check in (*app.checkbox, *app.toggle):
        yield check.type, check.label, [not check.value, check.value]
    for slider in app.slider:
        ends = [slider.max, slider.min]
        yield "slider", slider.label, [[end, end] for end in ends] if isinstance(slider.value, list | tuple) else ends


def choose_everything(app: AppTest, *, together: int = 6, but: str = "") -> int:
    """Give each widget of the view, `but` one, its last value and its first one, so many at once; count the choices."""
    listed = [each for each in choices(app) if each[1] != but]
    names = [name for *name, _ in listed]
    chosen = 0
    for at in range(0, len(listed), together):
        some = listed[at : at + together]
        taken = sum([choose(app, kind, label, values[0]) for kind, label, values in some])
        if not taken:
            continue
        fine(app.run())
        chosen += taken + sum([choose(app, kind, label, values[-1]) for kind, label, values in some])
        # Where other widgets came with the last value, those of the first one have to be there before the next.
        if names != [name for *name, _ in choices(app) if name[1] != but]:
            fine(app.run())
    fine(app.run())
    return chosen


def choose(app: AppTest, kind: str, label: str, value: Any) -> bool:
    """Give a widget a value, if it is there and has it; nothing runs."""
    shown: Sequence[Any] = app.get(kind)
    widget = next((each for each in shown if each.label == label), None)
    if widget is None or getattr(widget, "disabled", False):
        return False
    options = value if isinstance(value, list) else [value]
    if any(isinstance(each, Shown) and each not in widget.options for each in options):
        return False
    widget.set_value(value)
    return True


def press_everything(app: AppTest, view: str) -> int:
    """Press each button of the view, from the view again where one has led away, and count them."""
    labels = list(dict.fromkeys(each.label for each in app.button if each.label not in SLOW))
    for label in labels:
        button = next((each for each in app.button if each.label == label and not each.disabled), None)
        if button is not None:
            fine(button.click().run())
            if label not in [each.label for each in app.button]:
                dashboard.go(app, view)
    return len(labels)


@pytest.mark.parametrize("view", EVERY_VIEW)
@pytest.mark.usefixtures("store_path")
def test_the_sample(view: str, tmp_path: Path) -> None:
    # The sample has boxes alone.
    app = start(view, files=files_of_items(tmp_path) if view == READING else None)
    assert choose_everything(app) + press_everything(app, view) > 8


@pytest.mark.parametrize("kind", ["pixels", "fields", "posters"])
@pytest.mark.usefixtures("store_path")
def test_the_sample_in_compare(kind: str) -> None:
    app = start(COMPARE, compare=kind)
    assert address(app)["compare"] == kind
    # The switch of kinds leads to another one and back to boxes; it is among the choices of the view above.
    assert choose_everything(app, but="Compare") > 5
    press_everything(app, COMPARE)
    assert address(app)["compare"] == kind


@pytest.mark.parametrize("view", [view for view in EVERY_VIEW if view not in {FIELDS, POSTERS}])
@pytest.mark.usefixtures("store_path")
def test_few_files_and_many(tmp_path: Path, view: str) -> None:
    """Each view with every number of files: its choices with two of the four, its buttons with the others, in turns."""
    boxes = [box(0.1, 0.1, 0.4, 0.2, label="Text"), box(0.5, 0.5, 0.9, 0.9, label="Table", document="other.pdf")]
    truth = write_file(tmp_path / "truth.json", boxes, side="ground_truth")
    predicted = [write_file(tmp_path / f"{at}.json", boxes[: 1 + at % 2]) for at in range(3)]
    # No ground truth, a ground truth alone, one model, three models.
    for at, (with_truth, models) in enumerate(((False, 2), (True, 0), (True, 1), (True, 3))):
        app = start(view, files=dashboard.workspace(truth if with_truth else None, predicted[:models]))
        if (at + EVERY_VIEW.index(view)) % 2:
            press_everything(app, view)
        else:
            choose_everything(app, together=100)
