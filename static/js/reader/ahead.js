// <link rel="preload" as="fetch" href="the PDF"> <script type="module" async>
// What takes longest starts first: pdf.js's worker and the file.

export const worker = new Worker(new URL("../../pdfjs/build/pdf.worker.min.mjs", import.meta.url), { type: "module" });

const PATIENCE = 100; // ms, to take what came while scripts ran
const url = document.querySelector("link[as=fetch]")?.href;
const line = new AbortController();
let [length, whole] = [0, Infinity]; // bytes
const file = url && read().catch(() => {}); // pdf.js will say why

async function read() {
  const { ok, headers, body } = await fetch(url, line);
  if (!ok) return;
  whole = headers.get("Content-Length");
  const bytes = new Uint8Array(whole);
  const reader = body.getReader();
  for (let part; (part = (await reader.read()).value); length += part.length) bytes.set(part, length);
  return bytes;
}

/** The file, if most of it is here; else the line is free for the parts of the first page. */
export async function arrived() {
  await Promise.race([file, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  if (length < whole / 2) line.abort();
  return file;
}
