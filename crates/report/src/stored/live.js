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
// Two runs are compared: a third tick takes the place of the first.
const ticks = [...document.querySelectorAll("input[name=run]")];
const ticked = ticks.filter((tick) => tick.checked);
const button = document.querySelector("form.compare > button");
for (const tick of ticks) {
  tick.addEventListener("change", () => {
    if (tick.checked) ticked.push(tick);
    else ticked.splice(ticked.indexOf(tick), 1);
    if (ticked.length > 2) ticked.shift().checked = false;
    button.disabled = ticked.length !== 2;
  });
}
if (button) button.disabled = ticked.length !== 2;
