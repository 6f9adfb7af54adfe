"""Split parsed pages into chunks, the passages that search ranks. A pure function.

A chunk is a few consecutive units of one section, near the target size. The boundaries within a section
minimise a total cost (a shortest path, as TeX breaks lines). Costs penalise chunks far from the target size,
headings separated from their text, and split tables.

Tokens are those of Llama 2's tokenizer, which wordllama's wheel contains. None spans a space between words,
so words are tokenized one by one and cached.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby, islice, pairwise, starmap
from pathlib import Path

import msgspec
from tokenizers import Tokenizer

from pdf.gc_control import cleared_with_memory
from pdf.structure import ParsedPage, ParsedUnit, TableRow


def width(rows: Iterable[TableRow]) -> int:
    """Return the number of columns of the widest row."""
    return max([0, *(max([len(row.head_rows), *(cell.column + 1 for cell in row.cells)]) for row in rows)])


def row_line(row: TableRow, columns: int) -> str:
    """Return a row as Markdown: ``| Revenue | 1,234 | 1,100 |``."""
    return _line(_texts(row, columns))


def head_lines(rows: Sequence[TableRow], columns: int) -> list[str]:
    """Return the Markdown header line and its rule: from these rows, or from the table's stored headers.

    Several header rows are joined column by column. [] where no header is known.
    """
    own = [_texts(row, columns) for row in rows if row.header]
    known = next((row.head_rows for row in rows if any(row.head_rows)), ())
    heads = own or ([[*known, *[""] * (columns - len(known))]] if known else [])
    if not heads:
        return []
    head = [" ".join(text for text in column if text) for column in zip(*heads, strict=True)]
    return [_line(head), _line(["---"] * columns)]


def table_lines(rows: Sequence[TableRow], columns: int, with_head: bool = True) -> list[str]:
    """Return the rows as a Markdown table."""
    head = head_lines(rows, columns) if with_head else []
    return head + [row_line(row, columns) for row in rows if not (head and row.header)]


def _texts(row: TableRow, columns: int) -> list[str]:
    texts = [""] * columns
    for cell in row.cells:
        texts[cell.column] = f"{texts[cell.column]} {cell.text}".strip()
    return texts


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(text.replace("|", "\\|").split()) for text in texts) + " |"


SEPARATOR = " › "

# Costs of a boundary. 1.0 is the cost of a chunk that is empty or twice the target size.
_TOO_FEW_UNITS = 1.0
_ENDS_WITH_HEADING = 4.0  # or with the header of a table
_MIXES_TABLES = 0.5
_SPLITS_TABLE = 0.2
_SPLITS_LEAD_IN = 0.3
# The most tokens of one character: its bytes in UTF-8.
_TOKENS_PER_CHARACTER = 4
# A blank line is two tokens; the text after it may gain one.
_TOKENS_PER_JOINT = 3


class ChunkSizes(msgspec.Struct, frozen=True):
    """Sizes in tokens and units. ``max_tokens`` and ``max_units`` are never exceeded.

    Rows of one table count as one unit: a chunk holds as many as fit, under the repeated header.
    """

    target_tokens: int = 500
    max_tokens: int = 1000
    min_units: int = 2
    max_units: int = 8


class ChunkDraft(msgspec.Struct, frozen=True):
    """One chunk before it has an id.

    Attributes:
        unit_positions: positions of its units in the document's reading order, from 0, consecutive.
            A unit longer than a chunk is in several drafts.
        content: the units' text; tables as Markdown under their caption and header.
        context_header: title › section path › table caption.
    """

    index: int
    unit_positions: tuple[int, ...]
    content: str
    context_header: str
    chunk_type: str
    section_path: tuple[str, ...]
    section_type: str
    page_start: int
    page_end: int
    token_count: int


class _Piece(msgspec.Struct, frozen=True):
    """A unit, or a part of one that is longer than a chunk.

    Attributes:
        columns: of its table; 0 for plain text.
        table: its number; None for plain text.
        head_tokens: tokens of the table's repeated caption and header; 0 where too long to repeat.
    """

    position: int
    page: int
    unit: ParsedUnit
    text: str
    tokens: int
    columns: int = 0
    head_tokens: int = 0
    table: int | None = None


def chunk_pages(
    pages: Iterable[ParsedPage], title: str = "", sizes: ChunkSizes | None = None
) -> list[ChunkDraft]:
    """Return the chunks of a document in reading order; every unit with text is in at least one."""
    sizes = sizes or ChunkSizes()
    pieces = _pieces(pages, sizes)
    groups = [group for section in _sections(pieces) for group in _cut(section, sizes)]
    contents = [_content(group) for group in groups]
    counts = token_counts(contents)
    return [
        _draft(index, group, content, tokens, title)
        for index, (group, content, tokens) in enumerate(zip(groups, contents, counts, strict=True))
    ]


def _pieces(pages: Iterable[ParsedPage], sizes: ChunkSizes) -> list[_Piece]:
    placed = [(page.number, unit) for page in pages for unit in page.units]
    columns = _columns([unit.table for _, unit in placed if unit.table])
    wide = [columns[unit.table.index] if unit.table else 0 for _, unit in placed]
    texts = [_text(unit, count) for (_, unit), count in zip(placed, wide, strict=True)]
    heads = _heads([unit for _, unit in placed], wide)
    distinct = list(dict.fromkeys(heads))
    head_tokens = dict(zip(distinct, token_counts(distinct), strict=True))
    pieces: list[_Piece] = []
    rows = zip(placed, wide, texts, heads, token_counts(texts), strict=True)
    for position, ((page, unit), count, text, head, tokens) in enumerate(rows):
        repeated = head_tokens[head] if head_tokens[head] <= sizes.max_tokens // 4 else 0
        if not unit.text.strip():
            continue
        if tokens + repeated + _TOKENS_PER_JOINT <= sizes.max_tokens:
            table = unit.table.index if unit.table and count else None
            pieces.append(_Piece(position, page, unit, text, tokens, count, repeated, table))
        else:
            pieces += [_Piece(position, page, unit, *part) for part in split_text(unit.text, sizes)]
    return pieces


def _columns(rows: Iterable[TableRow]) -> dict[int, int]:
    """Return the number of columns of each table, by its index."""
    columns: dict[int, int] = {}
    for row in rows:
        columns[row.index] = max(columns.get(row.index, 1), width([row]))
    return columns


def _text(unit: ParsedUnit, columns: int) -> str:
    return row_line(unit.table, columns) if unit.table and unit.table.cells else unit.text


def _heads(units: Iterable[ParsedUnit], columns: Iterable[int]) -> list[str]:
    """Return the caption and header to repeat over each unit where its table is split; '' for other units."""
    shared: dict[tuple[str, tuple[str, ...], int], str] = {}
    heads = []
    for unit, count in zip(units, columns, strict=True):
        if unit.table is None:
            heads.append("")
        elif unit.table.header:
            heads.append(_head(unit.table, count))
        else:
            key = unit.table.caption, unit.table.head_rows, count
            if key not in shared:
                shared[key] = _head(unit.table, count)
            heads.append(shared[key])
    return heads


def _head(row: TableRow, columns: int) -> str:
    return "\n".join([row.caption, *head_lines([row], columns)])


def split_text(text: str, sizes: ChunkSizes) -> list[tuple[str, int]]:
    """Split the text at sentences, else words, into parts of at most the target size, with token counts."""
    longest = max(8, min(sizes.target_tokens, sizes.max_tokens) // _TOKENS_PER_CHARACTER)
    stretch = re.compile(
        rf".{{1,{2 * longest}}}(?:[.!?;]['\")\]”’]*\s+|[。！？；])|.{{1,{longest}}}\s+|.{{1,{longest}}}",
        re.DOTALL,
    )
    stretches = stretch.findall(text)
    parts: list[tuple[str, int]] = []
    for piece, tokens in zip(stretches, token_counts(stretches), strict=True):
        if parts and parts[-1][1] + tokens <= sizes.target_tokens:
            parts[-1] = (parts[-1][0] + piece, parts[-1][1] + tokens)
        else:
            parts.append((piece, tokens))
    return parts


def _sections(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Yield runs of pieces that may share a chunk. Consecutive headings begin one section."""
    section: list[_Piece] = []
    for piece in pieces:
        if section and _begins_section(section[-1].unit, piece.unit):
            yield section
            section = []
        section.append(piece)
    if section:
        yield section


def _begins_section(last: ParsedUnit, unit: ParsedUnit) -> bool:
    if unit is last:
        return False
    if unit.from_picture != last.from_picture:
        return True
    if unit.type == "heading":
        return last.type != "heading"
    return last.type != "heading" and unit.section_path != last.section_path


def _cut(section: Sequence[_Piece], sizes: ChunkSizes) -> list[Sequence[_Piece]]:
    """Split the section into chunks at the boundaries of least total cost (shortest path, backwards)."""
    count = len(section)
    best = [0.0] * (count + 1)
    ends = [count] * count
    cuts = [*starmap(_cost_of_cut, pairwise(section)), 0.0]
    for start in reversed(range(count)):
        best[start], ends[start] = min(
            (cost + cuts[end - 1] + best[end], end) for end, cost in _chunks_from(section, start, sizes)
        )
    chunks, start = [], 0
    while start < count:
        chunks.append(section[start : ends[start]])
        start = ends[start]
    return chunks


def _chunks_from(section: Sequence[_Piece], start: int, sizes: ChunkSizes) -> Iterator[tuple[int, float]]:
    """Yield the possible ends of a chunk from ``start`` and its cost, without that of the boundary.

    A chunk keeps the maximum size, but holds at least one piece.
    """
    units, tokens, mixed = 0, 0, 0.0
    heads: dict[int | None, int] = {}
    last: _Piece | None = None
    for end, piece in enumerate(section[start:], start + 1):
        units += _is_another_unit(last, piece)
        # an upper bound; each table's header counts once
        tokens += piece.tokens + _TOKENS_PER_JOINT + piece.head_tokens - heads.get(piece.table, 0)
        heads[piece.table] = piece.head_tokens
        if last is not None:
            if units > sizes.max_units or tokens > sizes.max_tokens:
                return
            if last.table is not None and last.table != piece.table:
                mixed += _MIXES_TABLES
        filled = tokens / sizes.target_tokens
        lonely = _TOO_FEW_UNITS * max(0.0, 1 - filled) if units < sizes.min_units else 0.0
        yield end, (filled - 1) ** 2 + lonely + mixed
        last = piece


def _is_another_unit(last: _Piece | None, piece: _Piece) -> bool:
    """Return whether the piece continues neither the unit nor the table before it."""
    if last is None:
        return True
    same_table = last.table is not None and last.table == piece.table
    return piece.position != last.position and not same_table


def _cost_of_cut(last: _Piece, following: _Piece) -> float:
    """Return the cost of a boundary between the two."""
    same_table = last.table is not None and last.table == following.table
    if last.unit.type == "heading" or (same_table and last.unit.table and last.unit.table.header):
        return _ENDS_WITH_HEADING
    if same_table:
        return _SPLITS_TABLE
    leads_in = last.unit.type == "caption" or last.unit.text.rstrip().endswith(":")
    return _SPLITS_LEAD_IN if leads_in or following.unit.continues else 0.0


def _content(pieces: Sequence[_Piece]) -> str:
    parts: list[str] = []
    for table, run in groupby(pieces, key=lambda piece: piece.table):
        if table is None:
            for piece in run:
                if piece.unit.continues and parts:
                    parts[-1] = f"{parts[-1].rstrip()} {piece.text}"
                else:
                    parts.append(piece.text)
        else:
            parts += _table_parts(list(run), "\n".join(parts))
    return "\n\n".join(part.strip() for part in parts)


def _table_parts(run: Sequence[_Piece], before: str) -> list[str]:
    """Return caption and Markdown of rows of one table, without a caption that directly precedes it."""
    rows = [piece.unit.table for piece in run if piece.unit.table]
    repeats = run[0].head_tokens > 0
    if not all(row.cells for row in rows):
        return [piece.text for piece in run]
    lines = table_lines(rows, run[0].columns, with_head=repeats)
    caption = rows[0].caption if repeats and rows[0].caption not in before else ""
    return [part for part in (caption, "\n".join(lines)) if part]


def _draft(index: int, pieces: Sequence[_Piece], content: str, tokens: int, title: str) -> ChunkDraft:
    units = [piece.unit for piece in pieces]
    last = next((unit for unit in reversed(units) if unit.type != "heading"), units[-1])
    path = last.section_path if last.type != "heading" else (*last.section_path, last.text)
    caption = next((unit.table.caption for unit in units if unit.table and unit.table.caption), "")
    return ChunkDraft(
        index=index,
        unit_positions=tuple(dict.fromkeys(piece.position for piece in pieces)),
        content=content,
        context_header=context_header(title, *path, caption),
        chunk_type=chunk_type(unit.type for unit in units),
        section_path=path,
        section_type=last.section_type,
        page_start=pieces[0].page,
        page_end=pieces[-1].page,
        token_count=tokens,
    )


def context_header(*parts: str) -> str:
    """Join ``title › section path › table caption`` without repeated parts."""
    distinct: dict[str, str] = {}
    for part in parts:
        distinct.setdefault(" ".join(part.split()).casefold(), part)
    return SEPARATOR.join(part for key, part in distinct.items() if key)


def chunk_type(types: Iterable[str]) -> str:
    """Return the type of all units but the headings; ``mixed`` where there are several."""
    found = set(types)
    kinds = (found - {"heading"}) or found or {"prose"}
    return kinds.pop() if len(kinds) == 1 else "mixed"


_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
# Special to the tokenizer: its sign for a space, and its special tokens.
_SIGNS = ("▁", "<s>", "</s>", "<unk>")
_FIRST_SPACE = re.compile("(?<! ) ")
# Size of the cache in words, and the longest cached word in characters.
_MOST_KEPT, _LONGEST_KEPT = 100_000, 40
_kept: dict[str, list[int]] = {}
cleared_with_memory(_kept.clear)


def tokens_of_each(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the token ids of each text."""
    words = list(map(_words, texts))
    tokens = _tokens(words)
    return (list(chain.from_iterable(map(tokens.__getitem__, parts))) for parts in words)


def token_counts(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text."""
    words = list(map(_words, texts))
    counts = {word: len(tokens) for word, tokens in _tokens(words).items()}
    return [sum(map(counts.__getitem__, parts)) for parts in words]


def wordllama_file(path: str) -> Path:
    """Return a file of wordllama's wheel without its import, which takes longer than to tokenize a book."""
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("wordllama is not installed: pip install -r requirements.lock")
    return Path(package.origin).parent / path


def _words(text: str) -> list[str]:
    """Split a text into parts that can be tokenized alone, each as if preceded by one space."""
    if " " in (text[:1], text[-1:]) or any(map(text.__contains__, _SIGNS)):
        return [text]
    return _FIRST_SPACE.split(text) if "  " in text else text.split(" ")


def _tokens(texts: Sequence[Sequence[str]]) -> Mapping[str, list[int]]:
    """Return the tokens of each distinct word of the texts."""
    words = set(chain.from_iterable(texts))
    found = {word: tokens for word in words if (tokens := _kept.get(word)) is not None}
    new = list(words - found.keys())
    encoded = _tokenizer().encode_batch_fast(new, add_special_tokens=False)
    found.update(zip(new, (encoding.ids for encoding in encoded), strict=True))
    _keep({word: found[word] for word in new if len(word) <= _LONGEST_KEPT})
    return found


def _keep(tokens: dict[str, list[int]]) -> None:
    """Add tokens to the cache; clear it first when it is full."""
    if len(_kept) + len(tokens) > _MOST_KEPT:
        _kept.clear()
    _kept.update(islice(tokens.items(), _MOST_KEPT))


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(wordllama_file(_FILE)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.model._resize_cache(0)  # cached here already
    return tokenizer
