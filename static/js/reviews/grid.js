// <div data-scroll><table role="grid"><thead></thead><tbody></tbody></table></div>
// Renders the visible rows; keyboard navigation as in a spreadsheet.

const ROW = 62; // pixels, as in reviews.css
const AROUND = 8; // rows drawn beyond what is in sight
const WIDTH = 220;
const NARROWEST = 80;
const LIMIT = /^([<>])\s*(-?[\d.,\s]+)$/;

/**
 * @param open called with a cell to show, and whether to edit it
 * @param head called with the column whose head was clicked
 * @param moved called with the cell that the keyboard moved to
 */
export function makeGrid(scroll, states, { open, head, moved }) {
  const table = scroll.querySelector("table");
  const phone = matchMedia("(max-width: 700px)"); // as in reviews.css: one document at a time
  const widths = JSON.parse(localStorage.getItem("review-widths") ?? "{}");
  const grid = {
    cells: new Map(),
    columns: [],
    rows: [],
    shown: [], // filtered and sorted
    drawn: new Map(), // rows on the page, by place
    at: { row: 0, column: 0 },
    sort: null,
    wanted: { state: "", words: "", column: "" },
  };

  const cellAt = (row, column) =>
    grid.shown[row] && grid.columns[column] && grid.cells.get(grid.shown[row].id + grid.columns[column].id);
  const current = () => cellAt(grid.at.row, grid.at.column);

  function show(found) {
    Object.assign(grid, { columns: found.columns, rows: found.rows });
    found.cells.forEach((cell) => grid.cells.set(cell.row + cell.column, cell));
    const [here, asked] = [grid.rows, grid.columns].map((listed) => new Set(listed.map(({ id }) => id)));
    grid.cells.forEach((cell, key) => here.has(cell.row) && asked.has(cell.column) || grid.cells.delete(key));
    arrange();
  }

  /** Filters, sorts and renders the rows. */
  function arrange() {
    const key = (row) => (grid.sort.id === "title" ? row.title : sortable(grid.cells.get(row.id + grid.sort.id)));
    const among = grid.columns.filter(({ id }) => !grid.wanted.column || id === grid.wanted.column);
    const isWanted = (row) => among.some(({ id }) => fits(grid.cells.get(row.id + id), grid.wanted));
    grid.shown = grid.wanted.state || grid.wanted.words ? grid.rows.filter(isWanted) : [...grid.rows];
    if (grid.sort) grid.shown.sort((a, b) => grid.sort.way * compare(key(a), key(b)));
    grid.at.row = Math.max(0, Math.min(grid.shown.length - 1, grid.at.row));
    drawHead();
    redraw();
  }

  function drawHead() {
    const tr = document.createElement("tr");
    if (phone.matches) return table.tHead.replaceChildren(tr);
    tr.append(headOf({ id: "title", title: table.dataset.documents }));
    grid.columns.forEach((column) => tr.append(headOf(column)));
    table.tHead.replaceChildren(tr);
    Object.assign(table, { ariaRowCount: grid.shown.length + 1, ariaColCount: grid.columns.length + 1 });
    table.style.width = `${["title", ...grid.columns.map(({ id }) => id)].reduce((sum, id) => sum + widthOf(id), 0)}px`;
  }

  const widthOf = (id) => widths[id] ?? (id === "title" ? Math.min(280, scroll.clientWidth / 2.5) : WIDTH);

  function headOf(column) {
    const th = document.createElement("th");
    th.scope = "col";
    th.style.width = `${widthOf(column.id)}px`;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", title: column.question ?? "", textContent: column.title });
    if (grid.sort?.id === column.id) th.ariaSort = grid.sort.way > 0 ? "ascending" : "descending";
    button.addEventListener("click", () => (column.question ? head(column) : sortBy(column.id)));
    const order = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
    order.textContent = grid.sort?.id === column.id ? (grid.sort.way > 0 ? "▲" : "▼") : "↕";
    order.ariaLabel = `${table.dataset.sort}: ${column.title}`;
    order.addEventListener("click", () => sortBy(column.id));
    const edge = Object.assign(document.createElement("span"), { className: "resize" });
    edge.addEventListener("pointerdown", (event) => resize(event, column.id, th));
    th.append(button, order, edge);
    if (column.question) th.append(doneOf(grid.rows.map((row) => grid.cells.get(row.id + column.id))));
    return th;
  }

  function resize(event, id, th) {
    const [from, width] = [event.clientX, th.offsetWidth];
    const move = ({ clientX }) => {
      widths[id] = Math.max(NARROWEST, width + clientX - from);
      drawHead();
    };
    event.preventDefault();
    document.addEventListener("pointermove", move);
    const end = () => {
      document.removeEventListener("pointermove", move);
      localStorage.setItem("review-widths", JSON.stringify(widths));
    };
    document.addEventListener("pointerup", end, { once: true });
  }

  function sortBy(id) {
    grid.sort = grid.sort?.id === id ? (grid.sort.way > 0 ? { id, way: -1 } : null) : { id, way: 1 };
    arrange();
  }

  /** Renders all visible rows again; the focus stays on its cell. */
  function redraw() {
    const focused = table.tBodies[0].contains(document.activeElement);
    grid.drawn = new Map();
    draw();
    if (focused) focusCell();
  }

  /** Renders rows that became visible; other visible rows are not changed. */
  function draw() {
    table.classList.toggle("one-document", phone.matches);
    if (phone.matches) return drawDocument();
    const from = Math.max(0, Math.floor(scroll.scrollTop / ROW) - AROUND);
    const to = Math.min(grid.shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + AROUND);
    if (grid.drawn.size && grid.drawn.size === to - from && grid.drawn.has(from)) return;
    const [body, before] = [table.tBodies[0], grid.drawn];
    const inSight = grid.shown.slice(from, to).map((row, index) => [from + index, row]);
    grid.drawn = new Map(inSight.map(([place, row]) => [place, before.get(place) ?? rowOf(row, place)]));
    // The keyboard continues from the last cell, wherever its row is.
    if (body.contains(document.activeElement) && !grid.drawn.has(grid.at.row)) scroll.focus({ preventScroll: true });
    const kept = new Set(grid.drawn.values());
    for (const tr of [...body.children]) if (!kept.has(tr)) tr.remove();
    let next = body.firstChild;
    for (const tr of grid.drawn.values()) {
      if (tr === next) next = next.nextSibling;
      else body.insertBefore(tr, next);
    }
    body.prepend(gap(from));
    body.append(gap(grid.shown.length - to));
  }

  /** Phones: one document, its questions below one another. */
  function drawDocument() {
    grid.drawn = new Map();
    table.style.width = "";
    const row = grid.shown[grid.at.row];
    table.tBodies[0].replaceChildren(...(row ? grid.columns.map((column, place) => lineOf(row, column, place)) : []));
    const [title, number] = document.querySelectorAll("[data-shown-document], [data-shown-number]");
    title.textContent = row?.title ?? "";
    number.textContent = grid.shown.length ? `${grid.at.row + 1} / ${grid.shown.length}` : "0";
  }

  function lineOf(row, column, place) {
    const tr = document.createElement("tr");
    const th = Object.assign(document.createElement("th"), { scope: "row", textContent: column.title });
    tr.append(th, cellOf(grid.cells.get(row.id + column.id), grid.at.row, place));
    return tr;
  }

  function gap(count) {
    const tr = Object.assign(document.createElement("tr"), { hidden: !count, ariaHidden: true });
    tr.style.height = `${count * ROW}px`;
    return tr;
  }

  function rowOf(row, index) {
    const tr = Object.assign(document.createElement("tr"), { ariaRowIndex: index + 2 });
    const th = Object.assign(document.createElement("th"), { scope: "row", title: row.title });
    const link = Object.assign(document.createElement(row.deleted ? "span" : "a"), { tabIndex: -1 });
    if (!row.deleted) link.href = `/documents/${row.document}/`;
    link.append(clip(row.deleted ? `${row.title} (${table.dataset.deleted})` : row.title));
    th.append(link, doneOf(grid.columns.map((column) => grid.cells.get(row.id + column.id))));
    tr.append(th, ...grid.columns.map((column, place) => cellOf(grid.cells.get(row.id + column.id), index, place)));
    return tr;
  }

  function cellOf(cell, row, column) {
    const tabIndex = row === grid.at.row && column === grid.at.column ? 0 : -1;
    const td = Object.assign(document.createElement("td"), { ariaColIndex: column + 2, tabIndex });
    Object.assign(td.dataset, { row, column });
    td.addEventListener("click", () => {
      grid.at = { row, column };
      focusCell();
      open(current());
    });
    if (!cell) return td;
    Object.assign(td.dataset, { state: cell.state, mark: cell.mark });
    if (cell.verdict && cell.state === "found") td.dataset.verdict = cell.verdict;
    td.append(clip(textOf(cell, states)));
    const normal = cell.state === "found" && cell.normal;
    const where = [normal, cell.printed_page, cell.mark && table.dataset[cell.mark], cell.comment && "✎"];
    const small = Object.assign(document.createElement("div"), { className: "where" });
    small.textContent = where.filter(Boolean).join(" · ");
    td.append(small);
    return td;
  }

  function focusCell() {
    const top = grid.at.row * ROW;
    const view = scroll.clientHeight - 2 * ROW; // the head, and a row to look ahead
    if (top < scroll.scrollTop || top > scroll.scrollTop + view) scroll.scrollTop = Math.max(0, top - view / 2);
    draw();
    table.querySelector("td[tabindex='0']")?.setAttribute("tabindex", -1);
    const td = table.querySelector(`[data-row="${grid.at.row}"][data-column="${grid.at.column}"]`);
    if (!td) return;
    td.tabIndex = 0;
    td.focus({ preventScroll: true });
    td.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function go(row, column) {
    grid.at = {
      row: Math.max(0, Math.min(grid.shown.length - 1, row)),
      column: Math.max(0, Math.min(grid.columns.length - 1, column)),
    };
    focusCell();
    moved(current());
  }

  /** Returns the next unchecked cell, continuing at the top. */
  function goToUnchecked() {
    const count = grid.shown.length * grid.columns.length;
    const from = grid.at.row * grid.columns.length + grid.at.column;
    for (let step = 1; step <= count; step += 1) {
      const place = (from + step) % count;
      const [row, column] = [Math.floor(place / grid.columns.length), place % grid.columns.length];
      const cell = cellAt(row, column);
      if (!cell?.answered_by || cell.mark) continue;
      go(row, column);
      return open(cell);
    }
  }

  const page = () => Math.max(1, Math.floor(scroll.clientHeight / ROW) - 1);
  const far = ({ ctrlKey, metaKey }) => (ctrlKey || metaKey ? Infinity : 1);
  const keys = {
    ArrowDown: (event) => go(grid.at.row + far(event), grid.at.column),
    ArrowUp: (event) => go(grid.at.row - far(event), grid.at.column),
    ArrowRight: (event) => go(grid.at.row, grid.at.column + far(event)),
    ArrowLeft: (event) => go(grid.at.row, grid.at.column - far(event)),
    PageDown: () => go(grid.at.row + page(), grid.at.column),
    PageUp: () => go(grid.at.row - page(), grid.at.column),
    Home: ({ ctrlKey }) => go(ctrlKey ? 0 : grid.at.row, 0),
    End: ({ ctrlKey }) => go(ctrlKey ? grid.shown.length - 1 : grid.at.row, grid.columns.length - 1),
    Enter: () => open(current()),
    F2: () => open(current(), true),
    c: ({ ctrlKey, metaKey }) => (ctrlKey || metaKey) && (navigator.clipboard.writeText(current()?.text ?? ""), true),
  };
  scroll.addEventListener("keydown", (event) => {
    const action = (event.target === scroll || event.target.closest("td")) && keys[event.key];
    if (!action || action(event) === false) return;
    event.preventDefault();
  });
  phone.addEventListener("change", arrange);
  scroll.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(scroll);

  return {
    show,
    current,
    sortBy,
    goToUnchecked,
    focus: focusCell,
    cells: () => [...grid.cells.values()],
    turn: (step) => go(grid.at.row + step, grid.at.column),
    filter(asked) {
      grid.wanted = asked;
      scroll.scrollTop = 0;
      grid.at = { row: 0, column: 0 };
      arrange();
    },
  };
}

function clip(text) {
  const div = Object.assign(document.createElement("div"), { className: "clip", textContent: text });
  div.dir = "auto";
  return div;
}

/** Counts filled and checked cells. */
function doneOf(listed) {
  const some = listed.filter(Boolean);
  const done = some.filter(({ state }) => !["empty", "waiting", "running"].includes(state)).length;
  const checked = some.filter(({ mark }) => mark).length;
  const small = Object.assign(document.createElement("div"), { className: "where done" });
  small.textContent = `${done} / ${listed.length}${checked ? ` · ${checked} ✓` : ""}`;
  small.classList.toggle("unfinished", done < listed.length);
  return small;
}

/** Returns whether a cell matches the filter: its state, and its words or a bound of its number. */
export function fits(cell, { state, words }) {
  if (!cell) return false;
  if (state && !(state === "unchecked" ? cell.answered_by && !cell.mark : cell.state === state)) return false;
  const limit = LIMIT.exec(words.trim());
  if (!limit) return cell.text.toLowerCase().includes(words.trim().toLowerCase());
  const [number, bound] = [cell.value?.number, Number(limit[2].replace(/[,\s]/g, ""))];
  return typeof number === "number" && (limit[1] === ">" ? number > bound : number < bound);
}

export const textOf = (cell, states) =>
  ["found", "unclear", "stale"].includes(cell.state) && cell.text ? cell.text : cell.error || states[cell.state];

/** Returns the sort key of a cell: numbers by value, others as text, empty cells last. */
export function sortable(cell) {
  if (!cell || cell.state !== "found") return null;
  return cell.value?.number ?? (typeof cell.value === "string" ? cell.value : cell.text);
}

export function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(b);
}
