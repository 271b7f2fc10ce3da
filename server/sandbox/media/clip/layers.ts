import { chance, seedOf } from '../drawing/chance.ts';
import { type Colour, hex, hsl } from '../drawing/colours.ts';
import { advance, glyphHeight, lineHeight, spellable, textPath, wrapText } from '../drawing/text.ts';
import { YuvPicture } from '../drawing/yuv-picture.ts';
import { imageElement, rasterize, svgElement } from '../pictures/rasterize.ts';
import type { ClipPlan, Reference } from './clip-plan.ts';
import { captionPlace, referencePlaces, textScale, watermarkPlace } from './layout.ts';

const captionLines = 3;
/** What a watermarked clip says. */
const watermarkText = 'AI GENERATED';

/** The colours of a clip: the first two make the background, the third is the ball. */
export function clipColours({
  caption,
  seed,
}: Pick<ClipPlan, 'caption' | 'seed'>): readonly [Colour, Colour, Colour] {
  const next = chance(seedOf(caption, seed));
  const hue = next();
  return [hsl(hue, 0.55, 0.3), hsl(hue + 0.1 + next() * 0.2, 0.6, 0.55), hsl(hue + 0.5, 0.9, 0.6)];
}

/** What stands still behind the moving parts: the picture at the start and, with a last frame, the one at the end. */
export async function drawLayers(plan: ClipPlan): Promise<{ start: YuvPicture; end: YuvPicture }> {
  const start = await drawLayer(plan, plan.firstFrame);
  const end = plan.lastFrame ? await drawLayer(plan, plan.lastFrame) : start;
  return { start, end };
}

async function drawLayer(plan: ClipPlan, frame: Uint8Array | undefined): Promise<YuvPicture> {
  const whole = { x: 0, y: 0, width: plan.width, height: plan.height };
  const background = frame ? imageElement(frame, 'image/png', whole, 'slice') : drawBackground(plan);
  const body = `<rect width="100%" height="100%"/>${background}${drawReferences(plan)}${drawCaption(plan)}${drawWatermark(plan)}`;
  return await rasterize(svgElement(plan, body), ({ pixels }) =>
    YuvPicture.fromRgba(pixels, plan.width, plan.height),
  );
}

function drawBackground(plan: ClipPlan): string {
  const [first, second] = clipColours(plan);
  const next = chance(seedOf(plan.caption, plan.seed + 1));
  const shapes = Array.from({ length: 7 }, () => {
    const [x, y, radius] = [next() * plan.width, next() * plan.height, (0.05 + next() * 0.2) * plan.height];
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${hex(hsl(next(), 0.5, 0.5))}" fill-opacity="0.25"/>`;
  });
  return (
    `<defs><linearGradient id="sky" x2="1" y2="1"><stop stop-color="${hex(first)}"/>` +
    `<stop offset="1" stop-color="${hex(second)}"/></linearGradient></defs>` +
    `<rect width="100%" height="100%" fill="url(#sky)"/>${shapes.join('')}`
  );
}

function drawReferences({ references, ...plan }: ClipPlan): string {
  const places = referencePlaces(plan, references.length);
  return references
    .map((reference, index) => {
      const place = places[index];
      return place ? drawReference(reference, place, textScale(plan) / 2) : '';
    })
    .join('');
}

function drawReference(
  { label, picture }: Reference,
  place: { x: number; y: number; width: number; height: number },
  scale: number,
): string {
  const { x, y, width, height } = place;
  const foot = lineHeight * scale + scale * 2;
  const text = spellable(label).slice(0, Math.max(0, Math.floor(width / (advance * scale)) - 1));
  return (
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#334"/>` +
    (picture ? imageElement(picture, 'image/png', { ...place, height: height - foot }, 'slice') : '') +
    `<rect x="${x}" y="${y + height - foot}" width="${width}" height="${foot}" fill="#111"/>` +
    `<path d="${textPath(text, x + 3 * scale, y + height - foot + 3 * scale, scale)}" fill="#fff"/>`
  );
}

function drawCaption(plan: ClipPlan): string {
  const { x, y, width, height } = captionPlace(plan);
  const scale = textScale(plan);
  const columns = Math.floor((width * 0.94) / (advance * scale));
  const lines = wrapText(spellable(plan.caption).trim(), columns, captionLines);
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
  const [width, height] = [watermarkText.length * advance * scale, glyphHeight * scale];
  const { x, y } = watermarkPlace(plan, width, height);
  return `<path d="${textPath(watermarkText, x, y, scale)}" fill="#fff" fill-opacity="0.8"/>`;
}
