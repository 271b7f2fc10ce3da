import { createRandom, deriveSeed } from '../drawing/random.ts';
import type { Scene } from './scene.ts';

/**
 * Named random numbers of a scene. Each depends only on its name and the seed, not on which other numbers are drawn.
 */
export class SceneRandom {
  readonly #seed: number;
  readonly #variations: Scene['variations'];

  constructor({ prompt, seed, variations }: Pick<Scene, 'prompt' | 'seed' | 'variations'>) {
    this.#seed = deriveSeed(prompt, seed);
    this.#variations = variations;
  }

  /** Returns a number from 0 to below 1. Variations change it only slightly. */
  number(name: string): number {
    let value = drawNumber(name, this.#seed);
    for (const { seed, strength } of this.#variations) value += (drawNumber(name, seed) - 0.5) * strength;
    // Reflected at both limits.
    const turn = Math.abs(value) % 2;
    return Math.min(turn > 1 ? 2 - turn : turn, 1 - Number.EPSILON);
  }

  between(name: string, min: number, max: number): number {
    return min + this.number(name) * (max - min);
  }

  /** Returns true with the given probability. Variations do not change the result. */
  chance(name: string, probability: number): boolean {
    return drawNumber(name, this.#seed) < probability;
  }

  /** Returns smooth noise from 0 to 1 along x, with one value per unit. */
  noise(name: string, x: number): number {
    const left = Math.floor(x);
    const share = x - left;
    const smooth = share * share * (3 - 2 * share);
    return this.number(`${name} ${left}`) * (1 - smooth) + this.number(`${name} ${left + 1}`) * smooth;
  }
}

function drawNumber(name: string, seed: number): number {
  return createRandom(deriveSeed(name, seed))();
}
