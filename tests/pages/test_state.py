"""What our own code writes into a value that a widget shows stays, whatever the browser still says of the widget.

The browser sends what all its widgets hold with each message, also before it has drawn what the last one changed.
"""

from streamlit.testing.v1 import AppTest


def _thresholds() -> None:
    import streamlit as st

    from pages.app import widgets
    from pages.app.state import State, state

    def better() -> None:
        state.iou, state.order = 0.8, "page"

    def worse() -> None:
        state.iou, state.order = 0.5, "worst"

    called = st.session_state.setdefault("called", [])
    st.slider("IoU threshold", 0.0, 1.0, 0.5, key=State.iou.key, on_change=State.iou.changed(lambda: called.append(1)))
    widgets.switch("Pages", {"worst": "Worst first", "page": "In order"}, State.order)
    st.button("Better", on_click=better)
    st.button("Worse", on_click=worse)
    st.caption(f"{state.iou} {state.order}")


def _shown(app: AppTest) -> tuple[str, float, str | None]:
    assert not app.exception
    return app.caption[0].value, app.slider[0].value, app.button_group[0].value


def test_a_value_that_was_written_outlives_messages_sent_before_it_was_drawn() -> None:
    app = AppTest.from_function(_thresholds, default_timeout=60).run()
    before = app._tree.get_widget_states()
    app.button[0].click().run()
    assert _shown(app) == ("0.8 page", 0.8, "page")
    for _ in range(2):
        app._run(before)
        assert _shown(app) == ("0.8 page", 0.8, "page")
    assert app.session_state["called"] == [], "the old slider calls nothing any more"


def test_a_widget_works_on_after_its_value_was_written_and_written_back() -> None:
    app = AppTest.from_function(_thresholds, default_timeout=60).run()
    app.button[0].click().run()
    app.slider[0].set_value(0.6).run()
    assert _shown(app) == ("0.6 page", 0.6, "page")
    assert app.session_state["called"] == [1]
    old = app._tree.get_widget_states()
    app.button[1].click().run()
    app._run(old)
    assert _shown(app) == ("0.5 worst", 0.5, "worst")
    app.button_group[0].set_value("page").run()
    assert _shown(app) == ("0.5 page", 0.5, "page")
    assert "iou" not in app.session_state, "only of the last widget a message may still come"
    assert app.session_state["iou-2"] == 0.5


def test_the_same_value_written_again_leaves_the_widget_as_it_is() -> None:
    app = AppTest.from_function(_thresholds, default_timeout=60).run()
    app.button[1].click().run()
    app.slider(key="iou").set_value(0.7).run()
    assert _shown(app) == ("0.7 worst", 0.7, "worst")
