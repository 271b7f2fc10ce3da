import { type Color, hex, hsl } from '../drawing/colors.ts';
import { createRandom, deriveSeed } from '../drawing/random.ts';
import { charAdvance, glyphHeight, lineHeight, textPath, toPrintable, wrapText } from '../drawing/text.ts';
import { YuvFrame } from '../drawing/yuv-frame.ts';
import { imageElement, rasterize, svgElement } from '../images/rasterize.ts';
import type { ClipPlan, Reference } from './clip-plan.ts';
import { captionArea, referenceTiles, textScale, watermarkArea } from './layout.ts';

const captionLines = 3;
/** Text of the watermark. */
const watermarkText = 'AI GENERATED';

/** Returns the colors of a clip: the first two for the background, the third for the ball. */
export function clipColors({
  caption,
  seed,
}: Pick<ClipPlan, 'caption' | 'seed'>): readonly [Color, Color, Color] {
  const random = createRandom(deriveSeed(caption, seed));
  const hue = random();
  return [hsl(hue, 0.55, 0.3), hsl(hue + 0.1 + random() * 0.2, 0.6, 0.55), hsl(hue + 0.5, 0.9, 0.6)];
}

/**
 * Draws the static layers behind the moving parts: the image at the start and, with a last frame, the image at the end.
 */
export async function drawLayers(plan: ClipPlan): Promise<{ start: YuvFrame; end: YuvFrame }> {
  const start = await drawLayer(plan, plan.firstFrame);
  const end = plan.lastFrame ? await drawLayer(plan, plan.lastFrame) : start;
  return { start, end };
}

async function drawLayer(plan: ClipPlan, frame: Uint8Array | undefined): Promise<YuvFrame> {
  const whole = { x: 0, y: 0, width: plan.width, height: plan.height };
  const background = frame ? imageElement(frame, 'image/png', whole, 'slice') : drawBackground(plan);
  const body = `<rect width="100%" height="100%"/>${background}${drawReferences(plan)}${drawCaption(plan)}${drawWatermark(plan)}`;
  return await rasterize(svgElement(plan, body), ({ pixels }) =>
    YuvFrame.fromRgba(pixels, plan.width, plan.height),
  );
}

function drawBackground(plan: ClipPlan): string {
  const [first, second] = clipColors(plan);
  const random = createRandom(deriveSeed(plan.caption, plan.seed + 1));
  const shapes = Array.from({ length: 7 }, () => {
    const [x, y, radius] = [
      random() * plan.width,
      random() * plan.height,
      (0.05 + random() * 0.2) * plan.height,
    ];
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${hex(hsl(random(), 0.5, 0.5))}" fill-opacity="0.25"/>`;
  });
  return (
    `<defs><linearGradient id="sky" x2="1" y2="1"><stop stop-color="${hex(first)}"/>` +
    `<stop offset="1" stop-color="${hex(second)}"/></linearGradient></defs>` +
    `<rect width="100%" height="100%" fill="url(#sky)"/>${shapes.join('')}`
  );
}

function drawReferences({ references, ...plan }: ClipPlan): string {
  const tiles = referenceTiles(plan, references.length);
  return references
    .map((reference, index) => {
      const tile = tiles[index];
      return tile ? drawReference(reference, tile, textScale(plan) / 2) : '';
    })
    .join('');
}

function drawReference(
  { label, image }: Reference,
  tile: { x: number; y: number; width: number; height: number },
  scale: number,
): string {
  const { x, y, width, height } = tile;
  const foot = lineHeight * scale + scale * 2;
  const text = toPrintable(label).slice(0, Math.max(0, Math.floor(width / (charAdvance * scale)) - 1));
  return (
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#334"/>` +
    (image ? imageElement(image, 'image/png', { ...tile, height: height - foot }, 'slice') : '') +
    `<rect x="${x}" y="${y + height - foot}" width="${width}" height="${foot}" fill="#111"/>` +
    `<path d="${textPath(text, x + 3 * scale, y + height - foot + 3 * scale, scale)}" fill="#fff"/>`
  );
}

function drawCaption(plan: ClipPlan): string {
  const { x, y, width, height } = captionArea(plan);
  const scale = textScale(plan);
  const columns = Math.floor((width * 0.94) / (charAdvance * scale));
  const lines = wrapText(toPrintable(plan.caption).trim(), columns, captionLines);
  if (lines.length === 0) return '';
  const top = y + Math.round((height - (lines.length * lineHeight - 3) * scale) / 2);
  const path = lines.map((line, index) =>
    textPath(line, x + Math.round(width * 0.03), top + index * lineHeight * scale, scale),
  );
  return (
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill-opacity="0.65"/>` +
    `<path d="${path.join('')}" fill="#fff"/>`
  );
}

function drawWatermark(plan: ClipPlan): string {
  if (!plan.watermark) return '';
  const scale = textScale(plan);
  const [width, height] = [watermarkText.length * charAdvance * scale, glyphHeight * scale];
  const { x, y } = watermarkArea(plan, width, height);
  return `<path d="${textPath(watermarkText, x, y, scale)}" fill="#fff" fill-opacity="0.8"/>`;
}
