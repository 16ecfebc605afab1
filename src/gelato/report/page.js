"use strict";

// Light or dark: follows the system until the button is pressed.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(dark()));
    button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
})();

// Suggested links: each has its own tbody, so that its explanation moves and hides with it.
(() => {
  const table = document.getElementById("links");
  if (!table) return;
  const rows = Array.from(table.tBodies);
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const cell = (row, key) => row.querySelector(`[data-key="${key}"]`);

  const value = (row, key, kind) => {
    const entry = cell(row, key);
    if (kind !== "number") return entry.textContent;
    return entry.dataset.value === "" ? NaN : Number(entry.dataset.value);
  };

  const sort = (button) => {
    const header = button.closest("th");
    const { sort: key, kind } = button.dataset;
    const before = header.getAttribute("aria-sort");
    // numbers start with the largest, ranks and words with the first
    const first = kind === "number" && key !== "rank" ? "descending" : "ascending";
    const order = before === "none" ? first : before === "ascending" ? "descending" : "ascending";
    const sign = order === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [value(row, key, kind), value(row, "rank", "number"), row]);
    keyed.sort(([a, rankA], [b, rankB]) => {
      if (kind === "number") {
        if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b) || rankA - rankB;
        return sign * (a - b) || rankA - rankB;
      }
      return sign * collator.compare(a, b) || rankA - rankB;
    });
    table.append(...keyed.map((each) => each[2]));
    for (const other of table.tHead.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", order);
  };

  const sought = new Map(rows.map((row) => [
    row,
    ["source", "target", "reason"].map((key) => cell(row, key)?.textContent ?? "").join("\n").toLowerCase(),
  ]));
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");

  const search = (text) => {
    const wanted = text.trim().toLowerCase();
    let count = 0;
    for (const [row, words] of sought) {
      row.hidden = !words.includes(wanted);
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
    nothing.hidden = count > 0;
  };

  const explain = (button) => {
    const row = button.closest("tbody");
    const open = row.querySelector("tr.because");
    if (open) open.remove();
    else row.append(row.querySelector("template").content.cloneNode(true));
    button.setAttribute("aria-expanded", String(!open));
  };

  table.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.sort) sort(button);
    else if (button?.classList.contains("why")) explain(button);
  });
  const field = document.getElementById("search");
  field.addEventListener("input", () => search(field.value));
})();
