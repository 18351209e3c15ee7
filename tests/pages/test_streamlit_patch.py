"""What the reader asked for holds, however close together the messages of the browser come."""

import functools
import json
import tomllib
from typing import Any
from unittest.mock import Mock, patch

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from pages.app import streamlit_patch
from tests.browser.conftest import ROOT
from tests.dashboard import fine, press, texts


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the server; the methods of Streamlit come back afterwards."""
    for owner, name in streamlit_patch._METHODS:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    assert streamlit_patch.protect_messages()


def _judging() -> None:
    """A view with two acts: during the first the reader presses something else, during the second the reader leaves."""
    import streamlit as st

    from pages.app.state import state
    from tests import dashboard

    def judge(leaves: bool) -> None:
        dashboard.send_message(stop=leaves)
        state.box, state.pair_visits = "p1", state.pair_visits + 1

    st.button("Judge", on_click=judge, args=(False,))
    st.button("Judge and leave", on_click=judge, args=(True,))


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("act", ["Judge", "Judge and leave"])
def test_a_callback_is_handled_once_and_whole_although_another_message_comes(act: str) -> None:
    app = AppTest.from_function(_judging, default_timeout=60).run()
    press(app, act)
    assert (app.session_state["box"], app.session_state["pair_visits"]) == ("p1", 1)
    if act == "Judge":
        assert [button.label for button in app.button] == ["Judge", "Judge and leave"], "the message that waited"
        app.button[0].click().run()
        assert app.session_state["pair_visits"] == 2


def _leaving() -> None:
    """A view whose run after the press of its button is ended before it reaches the button."""
    import streamlit as st

    from pages.app import widgets
    from pages.app.state import State, go_to_page
    from tests import dashboard

    if st.session_state.pop("busy", False):
        dashboard.send_message()
    st.empty()
    st.caption(f"leads to {State.next_view.pop()}")
    widgets.button_to_view("there.py", "Show pages", go_to_page, "a.pdf", 3, key="way")


@pytest.mark.usefixtures("whole")
def test_a_button_that_leads_to_another_view_holds_although_another_message_ends_the_run() -> None:
    app = AppTest.from_function(_leaving, default_timeout=60).run()
    app.session_state["busy"] = True
    fine(app.button[0].click().run())
    assert (app.session_state["doc"], app.session_state["page"]) == ("a.pdf", 3)
    assert texts(app.caption) == ["leads to there.py"]


def test_without_it_streamlit_ends_the_callback_for_the_next_message() -> None:
    """What `callbacks` is for; when a later Streamlit does better, this fails and the module can go."""
    app = AppTest.from_function(_judging, default_timeout=60).run()
    app.button[0].click().run()
    assert "box" not in app.session_state


def _meet_before_callbacks(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A press, and another message that comes when a run has taken it and not begun."""
    begin = LocalScriptRunner._set_execing_flag

    def meet(runner: LocalScriptRunner) -> Any:
        monkeypatch.setattr(LocalScriptRunner, "_set_execing_flag", begin)
        runner.request_rerun(RerunData())
        return begin(runner)

    monkeypatch.setattr(LocalScriptRunner, "_set_execing_flag", meet)
    press(app, "Judge")


@pytest.mark.usefixtures("whole")
def test_a_press_is_handled_although_another_message_comes_before_its_run_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = AppTest.from_function(_judging, default_timeout=60).run()
    _meet_before_callbacks(app, monkeypatch)
    assert (app.session_state["box"], app.session_state["pair_visits"]) == ("p1", 1)


def test_without_it_streamlit_drops_that_press(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why the replaced method is that of the safe state, which ends before it calls the other one."""
    app = AppTest.from_function(_judging, default_timeout=60).run()
    _meet_before_callbacks(app, monkeypatch)
    assert "box" not in app.session_state


def _heard(*messages: str, part: str | None = None) -> list[list[Any]]:
    """The events that one run hears of messages that came before it began, by component."""
    requests = ScriptRequests()
    for events in messages:
        states = WidgetStates()
        states.widgets.add(id="list" if events else "choice", json_trigger_value=events)
        requests.request_rerun(RerunData(widget_states=states, fragment_id=part))
    states = requests.on_scriptrunner_ready().rerun_data.widget_states or WidgetStates()
    return [json.loads(each.json_trigger_value) for each in states.widgets if each.json_trigger_value]


_VERDICT, _LATER_VERDICT, _WISH = ({"event": event, "value": at} for at, event in enumerate(["judge", "judge", "want"]))


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("part", [None, "part"], ids=["whole view", "part"])
@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ([[_VERDICT], [_WISH]], [_VERDICT, _WISH]),
        ([[_VERDICT], [_WISH], [_LATER_VERDICT]], [_WISH, _LATER_VERDICT]),
        ([[_VERDICT], [_LATER_VERDICT, _WISH]], [_LATER_VERDICT, _WISH]),
        ([[_VERDICT], ["no event"]], [_VERDICT, "no event"]),
    ],
)
def test_messages_that_wait_together_are_heard_with_all_their_events_the_later_of_each_name(
    sent: list[list[Any]], heard: list[Any], part: str | None
) -> None:
    assert _heard(*map(json.dumps, sent), part=part) == [heard]
    assert _heard(json.dumps(sent[0]), "", part=part) == [sent[0]], "one without an event of the component"


def test_without_it_an_event_is_lost_where_its_component_sends_another_one() -> None:
    """What `_joined` is for; when this fails, it can go."""
    assert _heard(json.dumps([_VERDICT]), json.dumps([_WISH])) == [[_WISH]]


def test_a_message_drops_none_that_no_run_has_begun_with() -> None:
    """With fast reruns, which are Streamlit's own choice, the run of the waiting one would be ended for the next."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert [_runs_of_two_messages(fast) for fast in (settings["runner"]["fastReruns"], True)] == [1, 2]


def _runs_of_two_messages(fast: bool) -> int:
    """How many runners a session makes of two messages that come before a run begins."""
    session: Any = Mock(_scriptrunner=None)
    runners: list[ScriptRequests] = []

    def make(data: RerunData) -> None:
        runners.append(ScriptRequests())
        runners[-1].request_rerun(data)
        session._scriptrunner = runners[-1]

    session._create_scriptrunner = make
    with patch("streamlit.config.get_option", return_value=fast):
        for page in "ab":
            AppSession.request_rerun(session, _said(page))
    return len(runners)


def _of_two_parts() -> None:
    import streamlit as st

    from pages.app.state import state

    def visit() -> None:
        state.pair_visits += 1

    def show() -> None:
        state.page = (state.page or 0) + 1

    @st.fragment
    def part() -> None:
        st.button("Inside", on_click=show)

    st.button("Outside", on_click=visit)
    part()
    st.caption(f"{state.pair_visits} outside, {state.page or 0} inside")


def _press(app: AppTest, labels: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = app.session_state
    while not isinstance(session, SessionState):
        session = session._state
    known = session._new_widget_state.widget_metadata.values()
    part = next(each.fragment_id for each in known if each.fragment_id)
    named = functools.partial(RerunData, fragment_id_queue=[part])
    monkeypatch.setattr("streamlit.testing.v1.local_script_runner.RerunData", named)
    for button in app.button:
        if button.label in labels:
            button.click()
    fine(app.run())


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("pressed", [{"Outside"}, {"Outside", "Inside"}], ids=["outside", "both"])
def test_a_message_about_more_than_its_part_is_answered_by_the_whole_view(
    pressed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = AppTest.from_function(_of_two_parts, default_timeout=60).run()
    _press(app, pressed, monkeypatch)
    assert texts(app.caption) == [f"1 outside, {int('Inside' in pressed)} inside"]


@pytest.mark.usefixtures("whole")
def test_a_message_about_its_part_runs_that_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = AppTest.from_function(_of_two_parts, default_timeout=60).run()
    _press(app, {"Inside"}, monkeypatch)
    assert app.session_state["page"] == 1
    assert not any(text.endswith("1 inside") for text in texts(app.caption))


def test_without_it_what_was_pressed_outside_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the whole view is for; when a later Streamlit does better, this fails and the question can go."""
    app = AppTest.from_function(_of_two_parts, default_timeout=60).run()
    _press(app, {"Outside", "Inside"}, monkeypatch)
    assert app.session_state["pair_visits"] == 1
    assert not any(text.startswith("1 outside") for text in texts(app.caption))


def _sent_after_the_part_began_again() -> list[str | None]:
    """What the browser gets of a whole run whose part runs again before anything was sent."""
    queue = ForwardMsgQueue()
    drawn, ended = ForwardMsg(), ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
    drawn.delta.fragment_id = "part"
    drawn.delta.new_element.text.body = "a list"
    drawn.metadata.delta_path.extend([0, 1])
    queue.enqueue(drawn)
    queue.enqueue(ended)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["part"])
    return [message.WhichOneof("type") for message in queue.flush()]


@pytest.mark.usefixtures("whole")
def test_what_a_part_has_shown_is_sent_although_it_runs_again() -> None:
    assert _sent_after_the_part_began_again() == ["delta", "script_finished"]


def test_without_it_streamlit_says_that_the_run_ended_without_its_part() -> None:
    """What `_kept` is for: the browser takes the part away then. When this fails, it can go."""
    assert _sent_after_the_part_began_again() == ["script_finished"]


class _Session:
    """What stands for a session of Streamlit's."""


def _said(page: str, query: str = "", event: str = "", part: str = "") -> ClientState:
    said = ClientState(page_script_hash=page, query_string=query, fragment_id=part)
    said.widget_states.widgets.add(id="choice", string_value="kept")
    said.widget_states.widgets.add(id="list", json_trigger_value=event)
    return said


@pytest.mark.parametrize("late", [_said("a", "iou=0.6", event="want"), _said("a", "iou=0.6", part="p")])
def test_an_event_of_a_page_that_was_just_left_does_not_lead_back(late: ClientState) -> None:
    heard: list[tuple[str, str]] = []
    request = streamlit_patch._forward(lambda _, asked: heard.append((asked.page_script_hash, asked.query_string)))
    session: Any = _Session()
    back = [_said("a", "iou=0.6"), _said("b"), _said("a")]
    for message in [_said("a", "iou=0.6", event="want"), _said("b", "iou=0.7"), late, _said("b", event="want"), *back]:
        request(session, message)
    assert heard == [
        ("a", "iou=0.6"),
        ("b", "iou=0.7"),
        ("b", "iou=0.7"),
        ("b", ""),
        ("a", "iou=0.6"),
        ("b", ""),
        ("a", ""),
    ]
    # Another reader has not moved, and the server's own wish to run again names no page.
    request(_Session(), _said("b", event="want"))
    assert heard[-1] == ("b", "")


def renamed(monkeypatch: pytest.MonkeyPatch, *absent: int) -> None:
    methods = enumerate(streamlit_patch._METHODS)
    names = tuple((owner, f"{name}_renamed" if at in absent else name) for at, (owner, name) in methods)
    monkeypatch.setattr(streamlit_patch, "_METHODS", names)


@pytest.mark.parametrize("absent", range(len(streamlit_patch._METHODS)))
def test_nothing_is_changed_where_streamlit_has_another_name(absent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    renamed(monkeypatch, absent)
    before = SafeSessionState.on_script_will_rerun, ScriptRequests.on_scriptrunner_yield
    assert not streamlit_patch.protect_messages()
    # So the dashboard runs on Streamlit as it is, whichever name is another one.
    assert (SafeSessionState.on_script_will_rerun, ScriptRequests.on_scriptrunner_yield) == before


def test_the_dashboard_works_on_streamlit_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    renamed(monkeypatch, *range(len(streamlit_patch._METHODS)))
    app = fine(AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run())
    fine(next(slider for slider in app.slider if slider.label == "IoU threshold").set_value(0.6).run())
    assert app.session_state["iou"] == 0.6
