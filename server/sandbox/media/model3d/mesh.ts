import type { Point, Surface } from './shape.ts';

/** A grid of vertices by row, and triangles with three indices each. */
interface Mesh {
  positions: Float32Array<ArrayBuffer>;
  normals: Float32Array<ArrayBuffer>;
  textureCoordinates: Float32Array<ArrayBuffer>;
  indices: Uint32Array<ArrayBuffer>;
}

const step = 1e-3;

/** Approximates a surface with a grid of `around` by `along` squares. */
export function createMesh(surface: Surface, around: number, along: number): Mesh {
  const count = (around + 1) * (along + 1);
  const positions = new Float32Array(count * 3);
  const normals = new Float32Array(count * 3);
  const textureCoordinates = new Float32Array(count * 2);
  for (let row = 0, vertex = 0; row <= along; row++) {
    for (let column = 0; column <= around; column++, vertex++) {
      const [u, v] = [column / around, row / along];
      positions.set(surface(u, v), vertex * 3);
      normals.set(normalAt(surface, u, v), vertex * 3);
      textureCoordinates.set([u, 1 - v], vertex * 2);
    }
  }
  const indices = new Uint32Array(around * along * 6);
  for (let row = 0, at = 0; row < along; row++) {
    for (let column = 0; column < around; column++, at += 6) {
      const corner = row * (around + 1) + column;
      const above = corner + around + 1;
      indices.set([corner, corner + 1, above, above, corner + 1, above + 1], at);
    }
  }
  return { positions, normals, textureCoordinates, indices };
}

function normalAt(surface: Surface, u: number, v: number): Point {
  // At a pole, all directions meet in one point, so the slope is computed slightly inside.
  const inside = Math.min(1 - 2 * step, Math.max(2 * step, v));
  const across = subtract(surface(u + step, inside), surface(u - step, inside));
  const up = subtract(surface(u, inside + step), surface(u, inside - step));
  return normalize(cross(across, up));
}

export function subtract(first: Point, second: Point): Point {
  return [first[0] - second[0], first[1] - second[1], first[2] - second[2]];
}

export function cross([a, b, c]: Point, [x, y, z]: Point): Point {
  return [b * z - c * y, c * x - a * z, a * y - b * x];
}

export function normalize([x, y, z]: Point): Point {
  const length = Math.hypot(x, y, z);
  return length < 1e-12 ? [0, 1, 0] : [x / length, y / length, z / length];
}
