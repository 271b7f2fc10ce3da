import { chance, seedOf } from '../drawing/chance.ts';
import type { Scene } from './scene.ts';

/** The numbers that decide a scene. Each has a name, so that it does not depend on which others are asked for. */
export class Dice {
  readonly #seed: number;
  readonly #variations: Scene['variations'];

  constructor({ prompt, seed, variations }: Pick<Scene, 'prompt' | 'seed' | 'variations'>) {
    this.#seed = seedOf(prompt, seed);
    this.#variations = variations;
  }

  /** From 0 to below 1, and near to what it was before a variation. */
  roll(name: string): number {
    let value = draw(name, this.#seed);
    for (const { seed, strength } of this.#variations) value += (draw(name, seed) - 0.5) * strength;
    // Folded back at both ends.
    const turn = Math.abs(value) % 2;
    return Math.min(turn > 1 ? 2 - turn : turn, 1 - Number.EPSILON);
  }

  between(name: string, min: number, max: number): number {
    return min + this.roll(name) * (max - min);
  }

  /** True with that probability; variations leave it alone. */
  happens(name: string, probability: number): boolean {
    return draw(name, this.#seed) < probability;
  }

  /** Smooth noise from 0 to 1 along x, with a bend at about every unit. */
  wave(name: string, x: number): number {
    const left = Math.floor(x);
    const share = x - left;
    const smooth = share * share * (3 - 2 * share);
    return this.roll(`${name} ${left}`) * (1 - smooth) + this.roll(`${name} ${left + 1}`) * smooth;
  }
}

function draw(name: string, seed: number): number {
  return chance(seedOf(name, seed))();
}
