import type { Color } from '../drawing/colors.ts';
import { charAdvance, lineHeight, textPath, toPrintable, wrapText } from '../drawing/text.ts';
import type { Rectangle } from '../drawing/yuv-frame.ts';
import { imageElement, rasterize, svgElement } from '../images/rasterize.ts';
import {
  drawGround,
  drawRidges,
  drawSky,
  type Landscape,
  placeElements,
  type SceneElement,
} from './landscape.ts';
import { mixPalette } from './palette.ts';
import { readPrompt, withoutOptions } from './prompt-words.ts';
import type { ImageSize, Scene } from './scene.ts';
import { SceneRandom } from './scene-random.ts';
import { drawSubject } from './subjects.ts';

/** Position and height of the first subject in the frame, and position of the horizon, per arrangement. */
const arrangements = [
  { x: 0.36, y: 0.82, size: 0.5, horizon: 0.55 },
  { x: 0.52, y: 0.94, size: 0.78, horizon: 0.68 },
  { x: 0.68, y: 0.78, size: 0.4, horizon: 0.42 },
  { x: 0.46, y: 0.76, size: 0.27, horizon: 0.62 },
] as const;
const captionLines = 2;

/** Draws the part of a scene within a view, with the prompt as caption, as opaque RGBA pixels. */
export async function drawScene(scene: Scene, view: Rectangle, size: ImageSize): Promise<Uint8Array> {
  const { frame } = scene;
  // The coordinates below are relative to the scene, whose frame has a height of 1.
  const localView = {
    x: (view.x - frame.x) / frame.height,
    y: (view.y - frame.y) / frame.height,
    width: view.width / frame.height,
    height: view.height / frame.height,
  };
  const scale = size.height / localView.height;
  const body =
    `<rect width="100%" height="100%"/><g transform="scale(${scale}) translate(${-localView.x} ${-localView.y})">` +
    `${await drawWorld(scene, localView)}</g>${drawCaption(withoutOptions(scene.prompt), size)}`;
  return await rasterize(svgElement(size, body), ({ pixels }) => Uint8Array.from(pixels));
}

async function drawWorld(scene: Scene, view: Rectangle): Promise<string> {
  const random = new SceneRandom(scene);
  const words = readPrompt(scene.prompt);
  const arrangement = arrangements[scene.arrangement % arrangements.length] ?? arrangements[0];
  const referenceColors = await meanColors(
    scene.references[scene.arrangement % Math.max(1, scene.references.length)],
  );
  const palette = mixPalette(words, { arrangement: scene.arrangement, referenceColors, random });
  const horizon = arrangement.horizon + random.between('horizon', -0.05, 0.05);
  const land: Landscape = { words, palette, random, horizon, width: scene.frame.width / scene.frame.height };
  const elements = [
    ...placeElements(land, view),
    ...placeSubjects(land, arrangement),
    ...placeReferences(land, scene),
  ];
  elements.sort((first, second) => first.foot - second.foot);
  return (
    drawSky(land, view) +
    drawRidges(land, view) +
    drawGround(land, view) +
    elements.map(({ svg }) => svg).join('')
  );
}

/** Places the subjects that the prompt names, the first one in front. */
function placeSubjects(land: Landscape, { x, y, size }: (typeof arrangements)[number]): SceneElement[] {
  const { random, words, width } = land;
  const names = words.subjects.length > 0 ? words.subjects : (['emblem'] as const);
  return names.map((name, index) => {
    const [offset, sizeFactor] = [[0, 0.3, -0.28][index] ?? 0, 1 - index * 0.35];
    const foot = y - index * 0.06 + random.between(`subject y ${index}`, -0.04, 0.04);
    const position = {
      x: (x + offset * (x > 0.5 ? -1 : 1) + random.between(`subject x ${index}`, -0.05, 0.05)) * width,
      y: foot,
      size: size * sizeFactor * random.between(`subject size ${index}`, 0.88, 1.12),
    };
    return { foot, svg: drawSubject(name, position, land) };
  });
}

/** Places framed reference images in a row. */
function placeReferences(
  { horizon, palette, random, width }: Landscape,
  { references }: Scene,
): SceneElement[] {
  const side = 0.16;
  return references.map((image, index) => {
    const left = 0.04 + index * (side + 0.03) + random.between(`reference ${index}`, 0, 0.02);
    const top = horizon - 0.06;
    const area = { x: left * Math.max(1, width), y: top, width: side, height: side };
    const frame = `<rect x="${area.x - 0.01}" y="${top - 0.01}" width="${side + 0.02}" height="${side + 0.02}" fill="rgb(${palette.dark.join()})"/>`;
    return { foot: top + side, svg: frame + imageElement(image, 'image/png', area, 'slice') };
  });
}

/** Returns the mean colors of the upper, middle and lower third of an image, or none without an image. */
async function meanColors(image: Uint8Array | undefined): Promise<Color[]> {
  if (!image) return [];
  const [width, height] = [24, 24];
  const svg = svgElement(
    { width, height },
    imageElement(image, 'image/png', { x: 0, y: 0, width, height }, 'none'),
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

function drawCaption(prompt: string, { width, height }: ImageSize): string {
  const scale = Math.max(1, Math.round(Math.min(width, height) / 400));
  const columns = Math.floor((width * 0.94) / (charAdvance * scale));
  const lines = wrapText(toPrintable(prompt).trim(), Math.max(4, columns), captionLines);
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
