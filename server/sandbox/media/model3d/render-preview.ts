import { type Color, hex } from '../drawing/colors.ts';
import { encodeWebp } from '../images/encode.ts';
import { rasterize, svgElement } from '../images/rasterize.ts';
import type { ModelPlan } from '../jobs.ts';
import { createMesh, cross, normalize, subtract } from './mesh.ts';
import { chooseColor, chooseShape, type Point } from './shape.ts';
import { createTextureSvg } from './texture.ts';

/** Width and height of the image. */
const side = 512;
const around = 64;
const along = 40;
const light = normalize([0.4, 0.7, 0.8]);
/** The camera looks slightly from above and from the right. Angles are in radians. */
const tilt = 0.45;
const turn = -0.5;

/** Renders the model as a WebP with flat-shaded triangles in the colors of its texture. */
export async function renderModelPreview(plan: ModelPlan): Promise<Uint8Array<ArrayBuffer>> {
  const colorAt = await readTexture(plan);
  const { positions, textureCoordinates, indices } = createMesh(chooseShape(plan.prompt), around, along);
  const triangles: { depth: number; element: string }[] = [];
  for (let at = 0; at < indices.length; at += 3) {
    const corners = Array.from(indices.subarray(at, at + 3));
    const [first, second, third] = corners.map((index) => toCamera(positions, index));
    if (!first || !second || !third) continue;
    const normal = normalize(cross(subtract(second, first), subtract(third, first)));
    if (normal[2] <= 0) continue;
    const brightness = 0.35 + 0.65 * Math.max(0, dot(normal, light));
    const corner = corners[0] ?? 0;
    const color = colorAt(textureCoordinates[corner * 2] ?? 0, textureCoordinates[corner * 2 + 1] ?? 0);
    triangles.push({
      depth: first[2] + second[2] + third[2],
      element: polygon([first, second, third], shade(color, brightness)),
    });
  }
  // The nearest triangles are drawn last.
  triangles.sort((first, second) => first.depth - second.depth);
  const body = `<rect width="100%" height="100%" fill="#e8eaed"/>${triangles.map(({ element }) => element).join('')}`;
  const size = { width: side, height: side };
  const data = await rasterize(svgElement(size, body), ({ pixels }) => Uint8Array.from(pixels));
  return await encodeWebp({ ...size, data });
}

async function readTexture(plan: ModelPlan): Promise<(u: number, v: number) => Color> {
  if (plan.textureSize === undefined) return () => chooseColor(plan.prompt);
  const size = 128;
  const pixels = await rasterize(createTextureSvg(plan, size), (raster) => Uint8Array.from(raster.pixels));
  return (u, v) => {
    const [x, y] = [Math.min(size - 1, Math.floor(u * size)), Math.min(size - 1, Math.floor(v * size))];
    const at = (y * size + x) * 4;
    return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
  };
}

/** Transforms a vertex to camera coordinates. */
function toCamera(positions: Float32Array, index: number): Point {
  const [x = 0, y = 0, z = 0] = positions.subarray(index * 3, index * 3 + 3);
  const [turned, back] = [x * Math.cos(turn) + z * Math.sin(turn), z * Math.cos(turn) - x * Math.sin(turn)];
  return [turned, y * Math.cos(tilt) - back * Math.sin(tilt), back * Math.cos(tilt) + y * Math.sin(tilt)];
}

function polygon(points: readonly Point[], fill: string): string {
  const coordinates = points.map(([x, y]) => `${(side / 2) * (1 + x * 0.62)},${(side / 2) * (1 - y * 0.62)}`);
  // A stroke in the same color closes the gaps between neighboring triangles.
  return `<polygon points="${coordinates.join(' ')}" fill="${fill}" stroke="${fill}" stroke-width="0.7"/>`;
}

function shade([red, green, blue]: Color, brightness: number): string {
  return hex([Math.round(red * brightness), Math.round(green * brightness), Math.round(blue * brightness)]);
}

function dot(first: Point, second: Point): number {
  return first[0] * second[0] + first[1] * second[1] + first[2] * second[2];
}
