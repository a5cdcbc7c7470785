// Words that change while a run is alive: HTML of the server, or the newer one that came by the live channel.

export default function ({ data, parentElement }) {
  const place = parentElement.querySelector(".lrlab-words");
  place.lrlab = data;
  place.classList.toggle("lrlab-small", data.small);
  const show = () => {
    const live = window.lrlabLive?.shown[place.lrlab.name];
    const html = live && live.at > place.lrlab.sent ? live.value : place.lrlab.html;
    if (place.shown === html) return;
    place.shown = html;
    place.innerHTML = html;
  };
  show();
  place.follow ??= ({ detail }) => {
    if (!place.isConnected) return window.removeEventListener("lrlab-live", place.follow);
    if (detail.includes(place.lrlab.name)) show();
  };
  window.addEventListener("lrlab-live", place.follow);
}
