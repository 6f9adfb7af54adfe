"""Where a line's letters really stand: the ink of the page's canvas.

pdf.js's text layer sets a run of text in a font of the system, stretched to the
run's length: its ends are known, words within it stand where that font puts
them, which may be pixels away. The canvas has the letters themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

REACH = 8  # CSS pixels from a word of the text layer to the ink that is its own, at most
GAP = 0.15  # of the line's height: what parts words; letters stand closer

Run = tuple[float, float]  # from, to: ink without a gap

# inkOf(canvas, reach)(rect): the runs of ink along a rectangle and `reach` beyond its ends, in CSS pixels of
# the window: from left to right, and from top to bottom. Lines above and below reach into its edges, which
# are left out.
INK = """
const inkOf = (canvas, reach) => {
  const at = canvas.getBoundingClientRect();
  const dots = canvas.width / at.width;
  const context = canvas.getContext("2d");
  const runs = (rect, along) => {
    const across = 1 - along, origin = [at.left, at.top], thin = (rect[across + 2] - rect[across]) / 5;
    const from = [0, 0], to = [0, 0];
    [from[along], to[along]] = [rect[along] - reach, rect[along + 2] + reach];
    [from[across], to[across]] = [rect[across] + thin, rect[across + 2] - thin];
    const [x, y] = from.map((edge, axis) => Math.max(0, Math.round((edge - origin[axis]) * dots)));
    const right = Math.min(canvas.width, Math.round((to[0] - origin[0]) * dots));
    const bottom = Math.min(canvas.height, Math.round((to[1] - origin[1]) * dots));
    if (right <= x || bottom <= y) return [];
    const { data, width, height } = context.getImageData(x, y, right - x, bottom - y);
    const light = [];
    for (let i = 0; i < data.length; i += 4) light.push(data[i] + data[i + 1] + data[i + 2]); // of 765
    const paper = [...light].sort((a, b) => a - b)[light.length >> 1]; // most of a line is paper
    const found = [], count = along ? height : width;
    for (let place = 0, open = null; place <= count; place += 1) {
      const inked = place < count && light.some((value, i) =>
        (along ? Math.floor(i / width) : i % width) === place && Math.abs(value - paper) > 150);
      if (inked) open ??= place;
      else if (open !== null) (found.push([open, place]), (open = null));
    }
    return found.map((run) => run.map((edge) => (edge + [x, y][along]) / dots + origin[along]));
  };
  return (rect) => [runs(rect, 0), runs(rect, 1)];
};
"""


@dataclass(frozen=True, slots=True)
class Ink:
    """The runs of ink along one line; ``gap`` in CSS pixels parts its words."""

    runs: list[Run]
    gap: float

    def words(self) -> list[Run]:
        out: list[Run] = []
        for start, end in self.runs:
            if out and start - out[-1][1] < self.gap:
                out[-1] = (out[-1][0], end)
            else:
                out.append((start, end))
        return out

    def end_near(self, place: float, side: int) -> float | None:
        """Where the ink begins (side 0) or ends (1) that the text layer has at this place."""
        ends = [word[side] for word in self.words()]
        nearest = min(ends, key=lambda end: abs(end - place), default=None)
        return nearest if nearest is not None and abs(nearest - place) <= REACH else None
