import { type Colour, hex } from '../drawing/colours.ts';
import type { ModelPlan } from '../jobs.ts';
import { encodeWebp } from '../pictures/encode.ts';
import { rasterize, svgElement } from '../pictures/rasterize.ts';
import { cross, meshOf, normalize, subtract } from './mesh.ts';
import { colourOf, type Point, shapeOf } from './shape.ts';
import { textureSvg } from './texture.ts';

/** Width and height of the picture. */
const side = 512;
const around = 64;
const along = 40;
const light = normalize([0.4, 0.7, 0.8]);
/** The camera looks a little from above and from the right, in radians. */
const tilt = 0.45;
const turn = -0.5;

/** Draws the model as a WebP, with flat triangles in the colours of its texture. */
export async function renderModelPreview(plan: ModelPlan): Promise<Uint8Array<ArrayBuffer>> {
  const colourAt = await readTexture(plan);
  const { positions, textureCoordinates, indices } = meshOf(shapeOf(plan.prompt), around, along);
  const triangles: { depth: number; element: string }[] = [];
  for (let at = 0; at < indices.length; at += 3) {
    const corners = Array.from(indices.subarray(at, at + 3));
    const [first, second, third] = corners.map((index) => view(positions, index));
    if (!first || !second || !third) continue;
    const normal = normalize(cross(subtract(second, first), subtract(third, first)));
    if (normal[2] <= 0) continue;
    const brightness = 0.35 + 0.65 * Math.max(0, dot(normal, light));
    const corner = corners[0] ?? 0;
    const colour = colourAt(textureCoordinates[corner * 2] ?? 0, textureCoordinates[corner * 2 + 1] ?? 0);
    triangles.push({
      depth: first[2] + second[2] + third[2],
      element: polygon([first, second, third], shade(colour, brightness)),
    });
  }
  // The nearest are drawn last.
  triangles.sort((first, second) => first.depth - second.depth);
  const body = `<rect width="100%" height="100%" fill="#e8eaed"/>${triangles.map(({ element }) => element).join('')}`;
  const size = { width: side, height: side };
  const data = await rasterize(svgElement(size, body), ({ pixels }) => Uint8Array.from(pixels));
  return await encodeWebp({ ...size, data });
}

async function readTexture(plan: ModelPlan): Promise<(u: number, v: number) => Colour> {
  if (plan.textureSize === undefined) return () => colourOf(plan.prompt);
  const size = 128;
  const pixels = await rasterize(textureSvg(plan, size), (raster) => Uint8Array.from(raster.pixels));
  return (u, v) => {
    const [x, y] = [Math.min(size - 1, Math.floor(u * size)), Math.min(size - 1, Math.floor(v * size))];
    const at = (y * size + x) * 4;
    return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
  };
}

/** A vertex as the camera sees it. */
function view(positions: Float32Array, index: number): Point {
  const [x = 0, y = 0, z = 0] = positions.subarray(index * 3, index * 3 + 3);
  const [turned, back] = [x * Math.cos(turn) + z * Math.sin(turn), z * Math.cos(turn) - x * Math.sin(turn)];
  return [turned, y * Math.cos(tilt) - back * Math.sin(tilt), back * Math.cos(tilt) + y * Math.sin(tilt)];
}

function polygon(points: readonly Point[], fill: string): string {
  const place = points.map(([x, y]) => `${(side / 2) * (1 + x * 0.62)},${(side / 2) * (1 - y * 0.62)}`);
  // A line in the same colour closes the gaps between neighbours.
  return `<polygon points="${place.join(' ')}" fill="${fill}" stroke="${fill}" stroke-width="0.7"/>`;
}

function shade([red, green, blue]: Colour, brightness: number): string {
  return hex([Math.round(red * brightness), Math.round(green * brightness), Math.round(blue * brightness)]);
}

function dot(first: Point, second: Point): number {
  return first[0] * second[0] + first[1] * second[1] + first[2] * second[2];
}
