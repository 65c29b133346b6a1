"use strict";
// Tags that are chosen show their rows; the choice stands in the address. Without this script all rows are shown.
const rows = [...document.querySelectorAll("tr[data-tags]")];
const tags = [...new Set(rows.flatMap((row) => row.dataset.tags.split(" ")))].sort();
const chosen = () => new Set(new URLSearchParams(location.hash.slice(1)).getAll("tag"));
const boxes = tags.map((tag) => {
  const box = document.createElement("input");
  box.type = "checkbox";
  box.value = tag;
  box.addEventListener("change", () => {
    const words = boxes.filter((one) => one.checked).map((one) => ["tag", one.value]);
    history.replaceState(null, "", `#${new URLSearchParams(words)}`);
    show();
  });
  return box;
});
const show = () => {
  const wanted = chosen();
  boxes.forEach((box) => { box.checked = wanted.has(box.value); });
  rows.forEach((row) => {
    row.hidden = wanted.size > 0 && !row.dataset.tags.split(" ").some((tag) => wanted.has(tag));
  });
};
const field = document.createElement("fieldset");
const legend = document.createElement("legend");
legend.textContent = "Show only";
field.append(legend, ...boxes.map((box) => {
  const label = document.createElement("label");
  label.append(box, ` ${box.value}`);
  return label;
}));
document.getElementById("filters").append(field);
addEventListener("hashchange", show);
show();
