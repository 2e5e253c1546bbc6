const text = document.getElementById("data").textContent;
const data = JSON.parse(text);
const at = id => document.getElementById(id);
const named = k => k < 0 ? "no label" : `“${data.classes[k]}”`;
const percent = p => (100 * p).toFixed(1) + " %";

// decided has the class of rows, or null of a skipped one; it outlives the page, if that may be.
const hash = [...text].reduce((h, c) => Math.imul(h ^ c.codePointAt(0), 16777619), 1);
const store = `uma-gpu review ${hash}`;
let decided = new Map();
try {
  decided = new Map(JSON.parse(localStorage.getItem(store) || "[]"));
} catch { /* without storage, the page forgets */ }
let shown = [], current = 0, saved = true;

function element(tag, words, attributes = {}) {
  const e = document.createElement(tag);
  e.textContent = words;
  for (const [name, value] of Object.entries(attributes)) {
    e.setAttribute(name, value);
  }
  return e;
}

function csv() {
  const cell = s => /^$|^[#\s]|[",;\t\r\n]|\s$/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  const now = new Set(data.rows.filter((_, i) => decided.get(i) != null).map(r => r.row));
  const before = (data.checked ?? []).filter(([row]) => !now.has(row));
  const lines = ["row,label", ...before.map(line => line.map(cell).join(","))];
  data.rows.forEach((r, i) => {
    if (decided.get(i) != null) {
      lines.push(cell(r.row) + "," + cell(data.classes[decided.get(i)]));
    }
  });
  return lines.join("\n") + "\n";
}

function decide(k) {
  decided.set(shown[current], k);
  changed();
  const next = shown.findIndex((i, n) => n > current && !decided.has(i));
  go(next < 0 ? Math.min(current + 1, shown.length - 1) : next);
}

function undo() {
  decided.delete(shown[current]);
  changed();
  go(current);
}

function changed() {
  saved = false;
  try {
    localStorage.setItem(store, JSON.stringify([...decided]));
  } catch { /* as above */ }
}

function go(n) {
  current = Math.max(0, Math.min(n, shown.length - 1));
  at("list").childNodes.forEach((item, k) => {
    const button = item.firstChild, i = shown[k], is = decided.get(i);
    button.setAttribute("aria-current", k === current);
    button.firstChild.textContent = !decided.has(i) ? "" : is === null ? "–" : "✓";
  });
  at("list").childNodes[current]?.scrollIntoView({block: "nearest"});
  draw();
  const right = [...decided.values()].filter(k => k !== null).length;
  at("count").textContent = `${right} decided, ${decided.size - right} skipped, ` +
    `${data.rows.length - decided.size} left`;
  at("csv").value = csv();
}

function draw() {
  const i = shown[current], r = data.rows[i], choices = at("choices");
  at("row").hidden = !r;
  if (!r) {
    return;
  }
  at("name").textContent = `Row ${r.name}`;
  at("what").replaceChildren("labelled ", element("b", named(r.given), {class: "given"}),
    ", likely ", element("b", named(r.suggested), {class: "suggested"}), ` (${percent(r.sure)})`);
  at("reason").textContent = r.reason;
  const add = (words, key, k, kind) => {
    const b = element("button", words + " ", {"aria-pressed": decided.has(i) && decided.get(i) === k});
    b.append(element("kbd", key));
    b.className = kind;
    b.addEventListener("click", () => decide(k));
    choices.append(b);
  };
  choices.replaceChildren();
  add(`Accept ${named(r.suggested)}`, "A", r.suggested, "main");
  if (r.given >= 0 && r.given !== r.suggested) {
    add(`Keep ${named(r.given)}`, "K", r.given, "");
  }
  const other = element("select", "", {id: "other", "aria-label": "another class"});
  other.append(element("option", "Another class… (C)", {value: ""}));
  data.classes.forEach((name, k) => other.append(element("option", name, {value: k})));
  if (decided.get(i) != null) {
    other.value = decided.get(i);
  }
  other.addEventListener("change", () => other.value && decide(+other.value));
  choices.append(other);
  add("Skip", "S", null, "");
  table(r);
}

// table compares the values of a row with its nearest neighbours, one column each.
function table(r) {
  const line = (tag, title, cells, same) => {
    const tr = document.createElement("tr");
    tr.append(element("th", title, {scope: "row"}));
    cells.forEach((words, k) => {
      const kind = same === undefined ? "" : k && same[k] === r.given ? "given" :
        k && same[k] === r.suggested ? "suggested" : "";
      tr.append(element(tag, words, tag === "th" ? {scope: "col"} : {class: kind}));
    });
    return tr;
  };
  const given = [r.given, ...r.near.map(n => n.given)];
  at("values").replaceChildren(
    line("th", "", ["this row", ...r.near.map(n => `near: ${n.name}`)]),
    line("td", "label", given.map(named), given),
    ...data.columns.map((name, j) => line("td", name,
      [r.values[j], ...r.near.map(n => n.values[j])])));
}

function fill() {
  const which = at("which").value;
  shown = data.rows.map((_, i) => i).filter(i => data.rows[i][which]);
  at("list").replaceChildren(...shown.map((i, n) => {
    const r = data.rows[i], item = document.createElement("li");
    const b = element("button", "", {"aria-current": false});
    b.append(element("span", ""), element("span", `${r.name}: ${named(r.given)}`),
      element("span", percent(r.wrong)));
    b.addEventListener("click", () => go(n));
    item.append(b);
    return item;
  }));
  at("note").textContent = which === "next" ?
    "Until 50 rows are checked these are drawn by chance: only such rows tell how many labels are wrong." :
    "Suspects come first; the share is the probability that the label is wrong." +
    (data.more ? ` ${data.more} more are left out.` : "");
  const open = shown.findIndex(i => !decided.has(i));
  go(open < 0 ? 0 : open);
}

at("save").addEventListener("click", () => {
  const a = element("a", "", {download: "checked.csv"});
  a.href = URL.createObjectURL(new Blob([csv()], {type: "text/csv"}));
  a.click();
  saved = true;
  at("text").open = true;
});
addEventListener("beforeunload", e => saved || e.preventDefault());
addEventListener("keydown", e => {
  const key = e.key.toLowerCase(), r = data.rows[shown[current]];
  if (!r || e.ctrlKey || e.metaKey || e.altKey || /SELECT|TEXTAREA/.test(e.target.tagName)) {
    return;
  }
  const act = {a: () => decide(r.suggested), k: () => r.given >= 0 && decide(r.given),
    s: () => decide(null), u: undo, c: () => at("other").focus(), arrowdown: () => go(current + 1),
    arrowup: () => go(current - 1)}[key];
  if (act) {
    e.preventDefault();
    act();
  }
});
for (const [value, words] of [["suspect", "suspects"], ["next", "to check next"]]) {
  const n = data.rows.filter(r => r[value]).length;
  if (n) {
    at("which").append(element("option", `${words} (${n})`, {value}));
  }
}
at("which").addEventListener("change", fill);
fill();
