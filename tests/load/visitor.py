"""A visitor as the server sees one: a websocket that speaks streamlit's protocol as a browser does."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

MESSAGE_BYTES = 2**26
FULL_RUN = ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
ITERATES = re.compile(r"<dt>iterations</dt><dd>(\d+)")
UNDER_WAY = ("Waiting", "Running.", "Reading the data")


@dataclass
class Visitor:
    """One open tab. All times are of `time.monotonic()`; `cards` is the HTML of the runs' cards, `texts` what is read.

    finished_at: when the last full run of the page's script ended; first_at, over_at: when the first iterate of a run
    was shown, and its end.
    """

    address: str
    page: str = "converge"
    query: str = ""
    cookie: str = ""
    cards: str = ""
    first_at: float = 0.0
    over_at: float = 0.0
    bytes: int = 0
    full_runs: int = 0
    session: str = ""
    texts: dict[tuple[int, ...], str] = field(default_factory=dict)
    values: dict[str, tuple[str, Any]] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    _hashes: dict[str, ForwardMsg] = field(default_factory=dict)
    _script: str = ""
    _timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def open(self, session: str = "") -> None:
        """Connect, load the page, and go on receiving; `session` resumes one whose connection was lost."""
        host = urlsplit(self.address).netloc
        assert host.startswith(("127.0.0.1:", "localhost:")), "the load driver stays on this machine"
        protocols: Any = ["streamlit", "none", *([session] if session else [])]
        self.socket: ClientConnection = await connect(
            f"ws://{host}/_stcore/stream", subprotocols=protocols, max_size=MESSAGE_BYTES, open_timeout=60,
            additional_headers={"Cookie": self.cookie} if self.cookie else None, origin=None, compression=None,
        )  # fmt: skip
        self._news = asyncio.Condition()
        self._receiver = asyncio.create_task(self._receive())
        await self.rerun()
        await self.until(lambda: self.full_runs > 0)

    async def close(self) -> None:
        """Close the tab."""
        for timer in self._timers.values():
            timer.cancel()
        await self.socket.close()
        self._receiver.cancel()

    async def until(self, holds: Any, seconds: float = 60.0) -> None:
        """Return once `holds()`; TimeoutError after so many seconds."""
        async with asyncio.timeout(seconds), self._news:
            await self._news.wait_for(holds)

    async def press(self, key: str) -> None:
        """Press a button, by the end of its key."""
        (name,) = [name for name in self.buttons if name.endswith(key)]
        if key == "converge-run":
            self.cards, self.first_at, self.over_at = "", 0.0, 0.0
        await self.rerun(trigger=name)

    async def touch(self, key: str, value: Any) -> float:
        """Set a widget, by the end of its key, and return the seconds until the page's script has answered."""
        (name,) = [name for name in self.values if name.endswith(key)]
        self.values[name] = self.values[name][0], value
        before, started = self.full_runs, time.monotonic()
        await self.rerun()
        await self.until(lambda: self.full_runs > before)
        return time.monotonic() - started

    async def rerun(self, trigger: str = "", fragment: str = "") -> None:
        """Ask for a run of the script, or of one fragment of it."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash, state.fragment_id = self.query, self._script, fragment
        state.page_name = "" if self._script else self.page
        state.is_auto_rerun = bool(fragment)
        state.cached_message_hashes.extend(self._hashes)
        for name, (kind, value) in self.values.items():
            widget = state.widget_states.widgets.add(id=name)
            if kind == "string_array_value":
                widget.string_array_value.data.extend(value)
            else:
                setattr(widget, kind, value)
        if trigger:
            state.widget_states.widgets.add(id=trigger, trigger_value=True)
        await self.socket.send(message.SerializeToString())

    async def _receive(self) -> None:
        try:
            async for data in self.socket:
                self.bytes += len(data)
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
                self.session = message.new_session.initialize.session_id or self.session
                if not message.metadata.run.fragment_ids:
                    self._stop_timers(list(self._timers))
            case "navigation":
                self._script = message.navigation.page_script_hash
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "script_finished":
                self.full_runs += message.script_finished == FULL_RUN
            case "auto_rerun":
                self._stop_timers([message.auto_rerun.fragment_id])
                poll = self._poll(message.auto_rerun.fragment_id, message.auto_rerun.interval)
                self._timers[message.auto_rerun.fragment_id] = asyncio.create_task(poll)
            case "stop_auto_rerun":
                self._stop_timers(message.stop_auto_rerun.fragment_ids)
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                self._draw(tuple(message.metadata.delta_path), message.delta.new_element)

    def _draw(self, place: tuple[int, ...], element: Any) -> None:
        match element.WhichOneof("type"):
            case "button":
                self.buttons[element.button.id] = element.button.label
            case "number_input":
                widget = element.number_input
                value = widget.value if widget.set_value else widget.default
                whole = widget.data_type == widget.INT
                self._hold(widget, "int_value" if whole else "double_value", int(value) if whole else value)
            case "checkbox":
                widget = element.checkbox
                self._hold(widget, "bool_value", widget.value if widget.set_value else widget.default)
            case "selectbox":
                widget = element.selectbox
                self._hold(widget, "string_value", widget.raw_value or widget.options[widget.default])
            case "html" if 'class="lr-runs"' in element.html.body:
                self._draw_cards(element.html.body)
            case "alert" | "markdown" as kind:
                self.texts[place] = getattr(element, kind).body
            case "progress":
                self.texts[place] = element.progress.text
            case "component" | "bidi_component" | "empty":
                self.texts.pop(place, None)

    def _hold(self, widget: Any, kind: str, value: Any) -> None:
        if widget.set_value or widget.id not in self.values:
            self.values[widget.id] = kind, value

    def _draw_cards(self, body: str) -> None:
        self.cards = body
        if not self.first_at and any(int(count) for count in ITERATES.findall(body)):
            self.first_at = time.monotonic()
        if not self.over_at and not any(words in body for words in UNDER_WAY):
            self.over_at = time.monotonic()

    def _stop_timers(self, fragments: Any) -> None:
        for fragment in fragments:
            if timer := self._timers.pop(fragment, None):
                timer.cancel()

    async def _poll(self, fragment: str, interval: float) -> None:
        # As setInterval does: whatever the answer to the last one is.
        while True:
            await asyncio.sleep(interval)
            await self.rerun(fragment=fragment)
