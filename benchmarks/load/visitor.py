"""A visitor without a browser: WebSockets that speak the protocols of Streamlit and of the live channel.

It shows elements of the script or newer live parts, as a browser does, and requests the page again at the end of a run.
"""

import asyncio
import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.load.live_client import LiveClient

MESSAGE_BYTES = 2**26
FULL_RUN = ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
PART = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
EARLY = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN
ITERATES = re.compile(r"<dt>iterations</dt><dd>(\d+)")
LIVE = re.compile(r'data-live="([^"]+)" data-sent="([^"]+)"')
UNDER_WAY = ("Waiting", "Running.", "Reading the data")


@dataclass
class Visitor:
    """One open tab. All times are of `time.monotonic()`.

    cards: the HTML of the runs' cards. texts: all texts, by their position or by the name of their live part. first_at:
    time of the first iterate, live or by the script. over_at: time at which the script had drawn the end. goes_to: the
    address to which the page sends the browser. sliders: the data of each slider. live: the connection for runs and
    sliders.
    """

    address: str
    page: str = "converge"
    query: str = ""
    cookie: str = ""
    cards: str = ""
    first_at: float = 0.0
    over_at: float = 0.0
    full_runs: int = 0
    texts: dict[tuple[int, ...] | str, str] = field(default_factory=dict)
    values: dict[str, tuple[str, Any]] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    sliders: dict[str, dict[str, Any]] = field(default_factory=dict)
    goes_to: str = ""
    _hashes: dict[str, ForwardMsg] = field(default_factory=dict)
    _script: str = ""
    _over: str = ""
    _part_of: dict[str, str] = field(default_factory=dict)
    _drawn: Counter[str] = field(default_factory=Counter)
    _sent: dict[str, float] = field(default_factory=dict)
    _early: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin without a connection."""
        self.live = LiveClient(self._take_live)

    async def open(self) -> None:
        """Connect, load the page, and go on receiving."""
        host = urlsplit(self.address).netloc
        assert host.startswith(("127.0.0.1:", "localhost:")), "the load driver stays on this machine"
        self.socket: ClientConnection = await connect(
            f"ws://{host}/_stcore/stream", subprotocols=["streamlit", "none"], max_size=MESSAGE_BYTES, open_timeout=60,
            additional_headers={"Cookie": self.cookie} if self.cookie else None, origin=None, compression=None,
        )  # fmt: skip
        self._news = asyncio.Condition()
        self._receiver = asyncio.create_task(self._receive())
        await self.rerun()
        await self.until(lambda: self.full_runs > 0)

    async def close(self) -> None:
        """Close the tab."""
        # First what would follow once more.
        self._receiver.cancel()
        await asyncio.gather(self._receiver, return_exceptions=True)
        await self.live.close()
        await self.socket.close()

    async def until(self, holds: Any, seconds: float = 240.0) -> None:
        """Return once `holds()`; TimeoutError after so many seconds."""
        try:
            async with asyncio.timeout(seconds), self._news:
                await self._news.wait_for(holds)
        except TimeoutError as error:
            error.add_note(f"{self}\nits connections: {self._receiver}, {self.live.receiver}")
            raise

    def shows(self, words: str) -> bool:
        """Return whether the tab shows some words."""
        return any(words in text for text in self.texts.values())

    async def press(self, key: str) -> None:
        """Press a button, by the end of its key."""
        (name,) = [name for name in self.buttons if name.endswith(key)]
        if key == "converge-run":
            self.cards, self.first_at, self.over_at = "", 0.0, 0.0
        await self.live.act()
        await self.rerun(trigger=name)

    async def touch(self, key: str, value: Any) -> float:
        """Set a widget, by the end of its key, and return the seconds until the page's script has answered."""
        (name,) = [name for name in self.values if name.endswith(key)]
        self.values[name] = self.values[name][0], value
        own = self._part_of.get(name, "")
        before, started = self.full_runs + self._drawn[own], time.monotonic()
        await self.live.act()
        await self.rerun(changed=name)
        await self.until(lambda: self.full_runs + self._drawn[own] > before)
        return time.monotonic() - started

    async def rerun(self, trigger: str = "", over: str = "", changed: str = "") -> None:
        """Ask for a run of the script: for a pressed button, a changed widget, or the stream of a run that is over."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self._script
        state.page_name = "" if self._script else self.page
        state.cached_message_hashes.extend(self._hashes)
        for name, (kind, value) in self.values.items():
            widget = state.widget_states.widgets.add(id=name)
            setattr(widget, kind, value)
        if trigger:
            state.widget_states.widgets.add(id=trigger, trigger_value=True)
        if over:
            event = json.dumps([{"event": "over", "value": over}])
            state.widget_states.widgets.add(id=self._over, json_trigger_value=event)
        state.fragment_id = self._part_of.get(trigger or changed or (over and self._over), "")
        await self.socket.send(message.SerializeToString())

    async def _receive(self) -> None:
        try:
            async for data in self.socket:
                message = ForwardMsg.FromString(data)
                if message.ref_hash:
                    message = self._hashes[message.ref_hash]
                elif message.metadata.cacheable:
                    self._hashes[message.hash] = message
                self._take(message)
                async with self._news:
                    self._news.notify_all()
        except ConnectionClosed:
            return

    def _take(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "new_session":
                if message.metadata.run.fragment_ids:
                    # Else the part before asked for the whole page.
                    self._drawn.update(self._early)
                self._early = []
            case "navigation":
                self._script = message.navigation.page_script_hash
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "script_finished":
                self.full_runs += message.script_finished == FULL_RUN
                if message.script_finished == PART:
                    self._drawn.update(message.metadata.run.fragment_ids)
                elif message.script_finished == EARLY:
                    # Streamlit sends the same status for a finished part if the next one began before the message left.
                    self._early = list(message.metadata.run.fragment_ids)
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                self._draw(tuple(message.metadata.delta_path), message.delta.new_element, message.delta.fragment_id)

    def _draw(self, place: tuple[int, ...], element: Any, part: str) -> None:
        match element.WhichOneof("type"):
            case "button":
                self.buttons[element.button.id], self._part_of[element.button.id] = element.button.label, part
            case "number_input":
                widget = element.number_input
                self._part_of[widget.id] = part
                value = widget.value if widget.set_value else widget.default
                whole = widget.data_type == widget.INT
                self._hold(widget, "int_value" if whole else "double_value", int(value) if whole else value)
            case "checkbox":
                widget = element.checkbox
                self._hold(widget, "bool_value", widget.value if widget.set_value else widget.default)
            case "selectbox":
                widget = element.selectbox
                self._hold(widget, "string_value", widget.raw_value or widget.options[widget.default])
            case "html" if live := LIVE.search(element.html.body):
                self._show(live[1], element.html.body, float(live[2]), drawn=True)
            case "alert" | "markdown" as kind:
                self.texts[place] = getattr(element, kind).body
            case "progress":
                self.texts[place] = element.progress.text
            case "bidi_component":
                self.texts.pop(place, None)
                self._draw_component(element.bidi_component, part)
            case "exception":
                raise AssertionError(f"the page shows an error: {element.exception.message}")
            case "component" | "empty":
                self.texts.pop(place, None)

    def _draw_component(self, component: Any, part: str) -> None:
        data, events = json.loads(component.json), f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events"
        match component.component_name.removeprefix("lrlab_"):
            case "live":
                self.goes_to = data["to"]
                self._over = self._over or events
                self.live.follow(f"ws://{urlsplit(self.address).netloc}{data['address']}", self.cookie)
            case "status":
                self._over, self._part_of[events] = events, part
            case "slider":
                self.sliders[component.id] = data

    async def _take_live(self, stream: str, parts: dict[str, Any], at: float, over: bool) -> None:
        for name, html in parts.items():
            if isinstance(html, str):
                self._show(name, html, at)
        if over:
            await self.rerun(over=stream)
        async with self._news:
            self._news.notify_all()

    def _show(self, name: str, html: str, sent: float, drawn: bool = False) -> None:
        """Show words, drawn by the script of the page or live; as a browser does, older ones that come late do not."""
        if sent < self._sent.get(name, 0.0):
            return
        self.texts[name], self._sent[name] = html, sent
        if name == "converge.cards":
            self.cards = html
            if not self.first_at and any(int(count) for count in ITERATES.findall(html)):
                self.first_at = time.monotonic()
            if drawn and not self.over_at and not any(words in html for words in UNDER_WAY):
                self.over_at = time.monotonic()

    def _hold(self, widget: Any, kind: str, value: Any) -> None:
        if widget.set_value or widget.id not in self.values:
            self.values[widget.id] = kind, value
