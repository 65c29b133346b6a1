"use strict";
// What is wider than its place says so: not every screen shows a bar to scroll it by.
const places = new ResizeObserver((all) => requestAnimationFrame(() => all.forEach(({ target }) => {
  target.classList.toggle("wider", target.scrollWidth > target.clientWidth + 1);
})));
document.querySelectorAll(".scroll").forEach((place) => places.observe(place));
// A heading that is pressed sorts its table. Without this script tables keep the order of the plan.
const units = { ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9 };
const measure = (cell) => {
  const text = cell ? cell.textContent.trim() : "";
  const found = /^(?:>= |~)?(-?[\d.]+)(?: (ns|\u00b5s|ms|s)\b)?/.exec(text);
  return { text, figure: found ? Number(found[1]) * (units[found[2]] || 1) : NaN };
};
const compare = (a, b) => {
  if (isNaN(a.figure) || isNaN(b.figure)) {
    return isNaN(a.figure) - isNaN(b.figure) || a.text.localeCompare(b.text, "en", { numeric: true });
  }
  return a.figure - b.figure;
};
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  const width = (row) => row.cells.length;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rows = [...table.tBodies[0].rows].map((row) => [measure(row.cells[column]), row]);
      // Names begin with the first, figures with the largest.
      const first = isNaN(rows[0][0].figure) ? 1 : -1;
      const was = { ascending: 1, descending: -1 }[head.getAttribute("aria-sort")];
      const turn = was ? -was : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
      // Rows with a text in place of figures stay last, whichever way.
      rows.sort((a, b) => width(b[1]) - width(a[1]) || turn * compare(a[0], b[0]));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}
