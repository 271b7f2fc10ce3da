import type { Colour } from '../drawing/colours.ts';
import { advance, lineHeight, spellable, textPath, wrapText } from '../drawing/text.ts';
import type { Rectangle } from '../drawing/yuv-picture.ts';
import { imageElement, rasterize, svgElement } from '../pictures/rasterize.ts';
import { Dice } from './dice.ts';
import { drawGround, drawRidges, drawSky, type Land, placeThings, type Thing } from './landscape.ts';
import { mixPalette } from './palette.ts';
import { readPrompt, withoutSwitches } from './prompt-words.ts';
import type { PictureSize, Scene } from './scene.ts';
import { drawSubject } from './subjects.ts';

/** Where the first subject stands in the frame and how tall it is, and where the horizon is, for each arrangement. */
const arrangements = [
  { x: 0.36, y: 0.82, size: 0.5, horizon: 0.55 },
  { x: 0.52, y: 0.94, size: 0.78, horizon: 0.68 },
  { x: 0.68, y: 0.78, size: 0.4, horizon: 0.42 },
  { x: 0.46, y: 0.76, size: 0.27, horizon: 0.62 },
] as const;
const captionLines = 2;

/** Draws what a view shows of a scene, with the prompt as its caption, as opaque RGBA pixels. */
export async function drawScene(scene: Scene, view: Rectangle, size: PictureSize): Promise<Uint8Array> {
  const { frame } = scene;
  // From here on in the scene's own measure: its frame is 1 high.
  const seen = {
    x: (view.x - frame.x) / frame.height,
    y: (view.y - frame.y) / frame.height,
    width: view.width / frame.height,
    height: view.height / frame.height,
  };
  const scale = size.height / seen.height;
  const body =
    `<rect width="100%" height="100%"/><g transform="scale(${scale}) translate(${-seen.x} ${-seen.y})">` +
    `${await drawWorld(scene, seen)}</g>${drawCaption(withoutSwitches(scene.prompt), size)}`;
  return await rasterize(svgElement(size, body), ({ pixels }) => Uint8Array.from(pixels));
}

async function drawWorld(scene: Scene, view: Rectangle): Promise<string> {
  const dice = new Dice(scene);
  const words = readPrompt(scene.prompt);
  const arrangement = arrangements[scene.arrangement % arrangements.length] ?? arrangements[0];
  const lent = await coloursOf(scene.references[scene.arrangement % Math.max(1, scene.references.length)]);
  const palette = mixPalette(words, { arrangement: scene.arrangement, lent, dice });
  const horizon = arrangement.horizon + dice.between('horizon', -0.05, 0.05);
  const land: Land = { words, palette, dice, horizon, width: scene.frame.width / scene.frame.height };
  const things = [
    ...placeThings(land, view),
    ...placeSubjects(land, arrangement),
    ...placeReferences(land, scene),
  ];
  things.sort((first, second) => first.foot - second.foot);
  return (
    drawSky(land, view) +
    drawRidges(land, view) +
    drawGround(land, view) +
    things.map(({ element }) => element).join('')
  );
}

/** The subjects that the prompt names, the first one in front. */
function placeSubjects(land: Land, { x, y, size }: (typeof arrangements)[number]): Thing[] {
  const { dice, words, width } = land;
  const names = words.subjects.length > 0 ? words.subjects : (['emblem'] as const);
  return names.map((name, index) => {
    const [aside, smaller] = [[0, 0.3, -0.28][index] ?? 0, 1 - index * 0.35];
    const foot = y - index * 0.06 + dice.between(`subject y ${index}`, -0.04, 0.04);
    const place = {
      x: (x + aside * (x > 0.5 ? -1 : 1) + dice.between(`subject x ${index}`, -0.05, 0.05)) * width,
      y: foot,
      size: size * smaller * dice.between(`subject size ${index}`, 0.88, 1.12),
    };
    return { foot, element: drawSubject(name, place, land) };
  });
}

/** Reference pictures stand in a row, framed. */
function placeReferences({ horizon, palette, dice, width }: Land, { references }: Scene): Thing[] {
  const side = 0.16;
  return references.map((picture, index) => {
    const left = 0.04 + index * (side + 0.03) + dice.between(`reference ${index}`, 0, 0.02);
    const top = horizon - 0.06;
    const place = { x: left * Math.max(1, width), y: top, width: side, height: side };
    const frame = `<rect x="${place.x - 0.01}" y="${top - 0.01}" width="${side + 0.02}" height="${side + 0.02}" fill="rgb(${palette.dark.join()})"/>`;
    return { foot: top + side, element: frame + imageElement(picture, 'image/png', place, 'slice') };
  });
}

/** The mean colours of the upper, the middle and the lower third of a picture; none without one. */
async function coloursOf(picture: Uint8Array | undefined): Promise<Colour[]> {
  if (!picture) return [];
  const [width, height] = [24, 24];
  const svg = svgElement(
    { width, height },
    imageElement(picture, 'image/png', { x: 0, y: 0, width, height }, 'none'),
  );
  const pixels = await rasterize(svg, (raster) => Uint8Array.from(raster.pixels));
  return [0, 1, 2].map((third) => {
    const part = pixels.subarray((third * pixels.length) / 3, ((third + 1) * pixels.length) / 3);
    const mean = (channel: number) => {
      let sum = 0;
      for (let at = channel; at < part.length; at += 4) sum += part[at] ?? 0;
      return Math.round((sum * 4) / part.length);
    };
    return [mean(0), mean(1), mean(2)];
  });
}

function drawCaption(prompt: string, { width, height }: PictureSize): string {
  const scale = Math.max(1, Math.round(Math.min(width, height) / 400));
  const columns = Math.floor((width * 0.94) / (advance * scale));
  const lines = wrapText(spellable(prompt).trim(), Math.max(4, columns), captionLines);
  if (lines.length === 0) return '';
  const strip = (lines.length * lineHeight + 3) * scale;
  const text = lines.map((line, index) =>
    textPath(line, Math.round(width * 0.03), height - strip + (3 + index * lineHeight) * scale, scale),
  );
  return (
    `<rect y="${height - strip}" width="${width}" height="${strip}" fill-opacity=".55"/>` +
    `<path d="${text.join('')}" fill="#fff"/>`
  );
}
