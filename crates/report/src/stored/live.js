// How far the newest run is, as the server tells it. A page that nobody sees asks for nothing.
for (const live of document.querySelectorAll("[data-events]")) {
  const [line, bar, link] = ["p", "progress", "a"].map((name) => live.querySelector(name));
  let source = null;
  const show = (event) => {
    const now = JSON.parse(event.data);
    line.textContent = now.text;
    bar.max = now.planned;
    bar.value = now.stored;
    bar.hidden = now.has_ended;
    link.href = now.address;
    link.hidden = now.address === "";
  };
  const end = () => {
    source.close();
    line.textContent += " (bookend ui has ended.)";
  };
  const listen = () => {
    if (source) source.close();
    if (document.hidden) return;
    source = new EventSource(live.dataset.events);
    source.addEventListener("message", show);
    source.addEventListener("error", end);
  };
  document.addEventListener("visibilitychange", listen);
  listen();
}
