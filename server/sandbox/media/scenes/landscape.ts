import { hex } from '../drawing/colours.ts';
import type { Rectangle } from '../drawing/yuv-picture.ts';
import type { Dice } from './dice.ts';
import type { Palette } from './palette.ts';
import type { PromptWords } from './prompt-words.ts';
import { drawSubject } from './subjects.ts';

/** What surrounds the subjects of a scene, in its own measure: its frame is 1 high. */

export interface Land {
  words: PromptWords;
  palette: Palette;
  dice: Dice;
  /** Height of the horizon, from 0 at the top of the frame to 1 at its foot. */
  horizon: number;
  /** Width of the frame. */
  width: number;
}

/** Something that stands in the scene; what stands lower is nearer and drawn later. */
export interface Thing {
  foot: number;
  element: string;
}

/** What would be smaller than a fortieth of the picture is left out, so that a wide view costs no more than a near one. */
const maxCells = 40;

/** The cells of a raster that a view touches; none when they are too many. */
function cells(view: Rectangle, width: number, height: number): { name: string; x: number; y: number }[] {
  if (view.width / width > maxCells || view.height / height > maxCells * 2) return [];
  const found: { name: string; x: number; y: number }[] = [];
  // One more on every side: what stands in a cell may reach out of it.
  for (let row = Math.floor(view.y / height) - 1; row * height <= view.y + view.height + 3 * height; row++)
    for (let column = Math.floor(view.x / width) - 1; column * width <= view.x + view.width + width; column++)
      found.push({ name: `${column},${row}`, x: column * width, y: row * height });
  return found;
}

export function drawSky({ words, palette, dice, horizon, width }: Land, view: Rectangle): string {
  const isNight = words.light === 'night';
  const [x, y] = [dice.between('sun x', 0.1, 0.9) * width, horizon * dice.between('sun y', 0.15, 0.55)];
  const fill = hex(isNight ? palette.pale : palette.sky[1]);
  const sun = [0.16, 0.11, 0.07].map(
    (radius, index) =>
      `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}" fill-opacity="${0.25 + index * 0.3}"/>`,
  );
  const above = cells(view, 0.3, 0.16).filter((cell) => cell.y < horizon - 0.2);
  const [stars, clouds] = isNight ? [above, []] : [[], above];
  return (
    gradient('sky', horizon - 1, horizon, palette.sky) +
    `<rect x="${view.x}" y="${view.y}" width="${view.width}" height="${view.height}" fill="url(#sky)"/>` +
    stars.map((cell) => drawStars(cell, dice)).join('') +
    sun.join('') +
    clouds.map((cell) => drawCloud(cell, dice)).join('')
  );
}

function drawStars({ name, x, y }: { name: string; x: number; y: number }, dice: Dice): string {
  return [0, 1, 2]
    .map((index) => {
      const of = (what: string) => dice.roll(`${what} ${index} of ${name}`);
      const place = `cx="${x + of('star x') * 0.3}" cy="${y + of('star y') * 0.16}"`;
      return `<circle ${place} r="${0.002 + of('star') * 0.004}" fill="#fff"/>`;
    })
    .join('');
}

function drawCloud({ name, x, y }: { name: string; x: number; y: number }, dice: Dice): string {
  if (!dice.happens(`cloud ${name}`, 0.3)) return '';
  const [left, top] = [x + dice.roll(`cloud x ${name}`) * 0.2, y + dice.roll(`cloud y ${name}`) * 0.1];
  const size = dice.between(`cloud size ${name}`, 0.5, 1.2);
  const puffs = [
    [0, 0, 0.09, 0.03],
    [0.05, -0.02, 0.06, 0.035],
    [-0.06, -0.01, 0.05, 0.025],
  ];
  return puffs
    .map(
      ([dx = 0, dy = 0, rx = 0, ry = 0]) =>
        `<ellipse cx="${left + dx * size}" cy="${top + dy * size}" rx="${rx * size}" ry="${ry * size}" fill="#fff" fill-opacity=".6"/>`,
    )
    .join('');
}

/** Hills behind the horizon, or the buildings of a city. */
export function drawRidges(land: Land, view: Rectangle): string {
  const { palette, horizon, words } = land;
  const hills = palette.ridges
    .map((colour, index) =>
      drawHills(land, view, { name: `ridge ${index}`, height: 0.2 - index * 0.08, fill: hex(colour) }),
    )
    .join('');
  const buildings = words.ground === 'city' ? cells({ ...view, y: horizon, height: 0 }, 0.13, 1) : [];
  const row = new Map(buildings.map(({ x }) => [Math.round(x / 0.13), x]));
  return hills + Array.from(row, ([column, x]) => drawBuilding(land, column, x)).join('');
}

function drawHills(
  { dice, horizon }: Land,
  view: Rectangle,
  { name, height, fill }: { name: string; height: number; fill: string },
): string {
  const step = 2 ** Math.ceil(Math.log2(view.width / 96));
  const line: string[] = [];
  for (let x = Math.floor(view.x / step) * step; x <= view.x + view.width + step; x += step) {
    const rise = 0.7 * dice.wave(name, x * 3) + 0.3 * dice.wave(`fine ${name}`, x * 11);
    line.push(`${x} ${horizon - height * rise}`);
  }
  const [left, right] = [view.x - step, view.x + view.width + 2 * step];
  return `<path d="M${left} ${horizon + 0.01}L${line.join('L')}L${right} ${horizon + 0.01}z" fill="${fill}"/>`;
}

function drawBuilding({ dice, horizon, palette, words }: Land, column: number, x: number): string {
  const [width, height] = [
    dice.between(`building ${column}`, 0.08, 0.13),
    dice.between(`floors ${column}`, 0.12, 0.42),
  ];
  const lit = words.light === 'day' ? palette.pale : palette.accent;
  let windows = '';
  for (let across = 0.015; across < width - 0.02; across += 0.025)
    for (let up = 0.02; up < height - 0.02; up += 0.035)
      if (dice.happens(`window ${column} ${across} ${up}`, 0.6))
        windows += `M${x + across} ${horizon - up}h.012v-.018h-.012z`;
  return (
    `<rect x="${x}" y="${horizon - height}" width="${width}" height="${height + 0.01}" fill="${hex(palette.ridges[1])}" stroke="${hex(palette.dark)}" stroke-width=".004"/>` +
    `<path d="${windows}" fill="${hex(lit)}"/>`
  );
}

/** The ground, with strokes on it that only show from near. */
export function drawGround({ palette, dice, horizon, words }: Land, view: Rectangle): string {
  const foot = view.y + view.height;
  if (foot <= horizon) return '';
  const strokes = cells({ ...view, height: Math.min(view.height, 2) }, 0.07, 0.035)
    .filter(({ y }) => y > horizon)
    .map(({ name, x, y }) => {
      const length = dice.between(`stroke ${name}`, 0.01, 0.05);
      const [left, top] = [
        x + dice.roll(`stroke x ${name}`) * 0.07,
        y + dice.roll(`stroke y ${name}`) * 0.03,
      ];
      return words.ground === 'meadow'
        ? `M${left} ${top}l.006-${length * 0.6}`
        : `M${left} ${top}q${length / 2}-.01 ${length} 0`;
    });
  return (
    gradient('ground', horizon, horizon + 0.8, palette.ground) +
    `<rect x="${view.x}" y="${horizon}" width="${view.width}" height="${foot - horizon}" fill="url(#ground)"/>` +
    `<path d="${strokes.join('')}" fill="none" stroke="${hex(palette.pale)}" stroke-opacity=".35" stroke-width=".004"/>`
  );
}

/** What stands around on the ground: trees, rocks, little waves. */
export function placeThings(land: Land, view: Rectangle): Thing[] {
  const { dice, horizon, palette, words } = land;
  return cells(view, 0.17, 0.1)
    .filter(({ name, y }) => y >= horizon && dice.happens(`thing ${name}`, 0.32))
    .map(({ name, x, y }) => {
      const foot = y + dice.roll(`thing y ${name}`) * 0.1;
      const size =
        Math.min(0.24, 0.05 + (foot - horizon) * 0.25) * dice.between(`thing size ${name}`, 0.7, 1.3);
      const place = { x: x + dice.roll(`thing x ${name}`) * 0.17, y: foot, size };
      const tree = { ...palette, subject: palette.ground[1], accent: palette.ridges[1] };
      const element =
        words.ground === 'meadow' || words.ground === 'snow'
          ? drawSubject('tree', place, { palette: tree, dice })
          : drawRock(place, hex(words.ground === 'sea' ? palette.sky[1] : palette.ridges[1]));
      return { foot, element };
    });
}

function drawRock({ x, y, size }: { x: number; y: number; size: number }, fill: string): string {
  const half = size / 2;
  return `<path d="M${x - half} ${y}Q${x} ${y - size * 0.7} ${x + half} ${y}z" fill="${fill}" fill-opacity=".7"/>`;
}

function gradient(id: string, top: number, bottom: number, [first, last]: Palette['sky']): string {
  return (
    `<defs><linearGradient id="${id}" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="${top}" y2="${bottom}">` +
    `<stop stop-color="${hex(first)}"/><stop offset="1" stop-color="${hex(last)}"/></linearGradient></defs>`
  );
}
