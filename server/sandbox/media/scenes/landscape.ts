import { hex } from '../drawing/colors.ts';
import type { Rectangle } from '../drawing/yuv-frame.ts';
import type { Palette } from './palette.ts';
import type { PromptWords } from './prompt-words.ts';
import type { SceneRandom } from './scene-random.ts';
import { drawSubject } from './subjects.ts';

/** The surroundings of the subjects, in coordinates of the scene, whose frame has a height of 1. */

export interface Landscape {
  words: PromptWords;
  palette: Palette;
  random: SceneRandom;
  /** Vertical position of the horizon, from 0 at the top of the frame to 1 at the bottom. */
  horizon: number;
  /** Width of the frame. */
  width: number;
}

/** An element of the scene. Elements with a lower foot are nearer and drawn later. */
export interface SceneElement {
  foot: number;
  svg: string;
}

/** Details smaller than a fortieth of the view are omitted, so that a wide view costs no more than a near one. */
const maxCells = 40;

/** Returns the cells of a grid that a view overlaps, or none if there are too many. */
function visibleCells(
  view: Rectangle,
  width: number,
  height: number,
): { name: string; x: number; y: number }[] {
  if (view.width / width > maxCells || view.height / height > maxCells * 2) return [];
  const found: { name: string; x: number; y: number }[] = [];
  // One additional cell on every side, because an element can extend beyond its cell.
  for (let row = Math.floor(view.y / height) - 1; row * height <= view.y + view.height + 3 * height; row++)
    for (let column = Math.floor(view.x / width) - 1; column * width <= view.x + view.width + width; column++)
      found.push({ name: `${column},${row}`, x: column * width, y: row * height });
  return found;
}

export function drawSky({ words, palette, random, horizon, width }: Landscape, view: Rectangle): string {
  const isNight = words.light === 'night';
  const [x, y] = [random.between('sun x', 0.1, 0.9) * width, horizon * random.between('sun y', 0.15, 0.55)];
  const fill = hex(isNight ? palette.pale : palette.sky[1]);
  const sun = [0.16, 0.11, 0.07].map(
    (radius, index) =>
      `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}" fill-opacity="${0.25 + index * 0.3}"/>`,
  );
  const above = visibleCells(view, 0.3, 0.16).filter((cell) => cell.y < horizon - 0.2);
  const [stars, clouds] = isNight ? [above, []] : [[], above];
  return (
    gradient('sky', horizon - 1, horizon, palette.sky) +
    `<rect x="${view.x}" y="${view.y}" width="${view.width}" height="${view.height}" fill="url(#sky)"/>` +
    stars.map((cell) => drawStars(cell, random)).join('') +
    sun.join('') +
    clouds.map((cell) => drawCloud(cell, random)).join('')
  );
}

function drawStars({ name, x, y }: { name: string; x: number; y: number }, random: SceneRandom): string {
  return [0, 1, 2]
    .map((index) => {
      const of = (property: string) => random.number(`${property} ${index} of ${name}`);
      const center = `cx="${x + of('star x') * 0.3}" cy="${y + of('star y') * 0.16}"`;
      return `<circle ${center} r="${0.002 + of('star') * 0.004}" fill="#fff"/>`;
    })
    .join('');
}

function drawCloud({ name, x, y }: { name: string; x: number; y: number }, random: SceneRandom): string {
  if (!random.chance(`cloud ${name}`, 0.3)) return '';
  const [left, top] = [
    x + random.number(`cloud x ${name}`) * 0.2,
    y + random.number(`cloud y ${name}`) * 0.1,
  ];
  const size = random.between(`cloud size ${name}`, 0.5, 1.2);
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

/** Draws hills behind the horizon, or the buildings of a city. */
export function drawRidges(land: Landscape, view: Rectangle): string {
  const { palette, horizon, words } = land;
  const hills = palette.ridges
    .map((color, index) =>
      drawHills(land, view, { name: `ridge ${index}`, height: 0.2 - index * 0.08, fill: hex(color) }),
    )
    .join('');
  const buildings = words.ground === 'city' ? visibleCells({ ...view, y: horizon, height: 0 }, 0.13, 1) : [];
  const row = new Map(buildings.map(({ x }) => [Math.round(x / 0.13), x]));
  return hills + Array.from(row, ([column, x]) => drawBuilding(land, column, x)).join('');
}

function drawHills(
  { random, horizon }: Landscape,
  view: Rectangle,
  { name, height, fill }: { name: string; height: number; fill: string },
): string {
  const step = 2 ** Math.ceil(Math.log2(view.width / 96));
  const line: string[] = [];
  for (let x = Math.floor(view.x / step) * step; x <= view.x + view.width + step; x += step) {
    const rise = 0.7 * random.noise(name, x * 3) + 0.3 * random.noise(`fine ${name}`, x * 11);
    line.push(`${x} ${horizon - height * rise}`);
  }
  const [left, right] = [view.x - step, view.x + view.width + 2 * step];
  return `<path d="M${left} ${horizon + 0.01}L${line.join('L')}L${right} ${horizon + 0.01}z" fill="${fill}"/>`;
}

function drawBuilding({ random, horizon, palette, words }: Landscape, column: number, x: number): string {
  const [width, height] = [
    random.between(`building ${column}`, 0.08, 0.13),
    random.between(`floors ${column}`, 0.12, 0.42),
  ];
  const lit = words.light === 'day' ? palette.pale : palette.accent;
  let windows = '';
  for (let across = 0.015; across < width - 0.02; across += 0.025)
    for (let up = 0.02; up < height - 0.02; up += 0.035)
      if (random.chance(`window ${column} ${across} ${up}`, 0.6))
        windows += `M${x + across} ${horizon - up}h.012v-.018h-.012z`;
  return (
    `<rect x="${x}" y="${horizon - height}" width="${width}" height="${height + 0.01}" fill="${hex(palette.ridges[1])}" stroke="${hex(palette.dark)}" stroke-width=".004"/>` +
    `<path d="${windows}" fill="${hex(lit)}"/>`
  );
}

/** Draws the ground with strokes that are only visible in near views. */
export function drawGround({ palette, random, horizon, words }: Landscape, view: Rectangle): string {
  const foot = view.y + view.height;
  if (foot <= horizon) return '';
  const strokes = visibleCells({ ...view, height: Math.min(view.height, 2) }, 0.07, 0.035)
    .filter(({ y }) => y > horizon)
    .map(({ name, x, y }) => {
      const length = random.between(`stroke ${name}`, 0.01, 0.05);
      const [left, top] = [
        x + random.number(`stroke x ${name}`) * 0.07,
        y + random.number(`stroke y ${name}`) * 0.03,
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

/** Places elements on the ground: trees, rocks, small waves. */
export function placeElements(land: Landscape, view: Rectangle): SceneElement[] {
  const { random, horizon, palette, words } = land;
  return visibleCells(view, 0.17, 0.1)
    .filter(({ name, y }) => y >= horizon && random.chance(`thing ${name}`, 0.32))
    .map(({ name, x, y }) => {
      const foot = y + random.number(`thing y ${name}`) * 0.1;
      const size =
        Math.min(0.24, 0.05 + (foot - horizon) * 0.25) * random.between(`thing size ${name}`, 0.7, 1.3);
      const position = { x: x + random.number(`thing x ${name}`) * 0.17, y: foot, size };
      const tree = { ...palette, subject: palette.ground[1], accent: palette.ridges[1] };
      const svg =
        words.ground === 'meadow' || words.ground === 'snow'
          ? drawSubject('tree', position, { palette: tree, random })
          : drawRock(position, hex(words.ground === 'sea' ? palette.sky[1] : palette.ridges[1]));
      return { foot, svg };
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
