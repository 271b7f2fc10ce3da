/** Seconds per energy measurement. */
const frame = 0.01;

/** Returns the correlation of the energy increases with those one beat later, -1 to 1. */
export function beatStrength(samples: Float32Array, rate: number, tempo: number): number {
  const length = Math.round(rate * frame);
  const energies: number[] = [];
  for (let start = 0; start + length <= samples.length; start += length) {
    let energy = 0;
    for (let index = start; index < start + length; index++) energy += (samples[index] ?? 0) ** 2;
    energies.push(Math.log10(energy + 1e-6));
  }
  const rises = energies.map((energy, index) => Math.max(0, energy - (energies[index - 1] ?? energy)));
  const mean = rises.reduce((sum, rise) => sum + rise, 0) / rises.length;
  // A beat is rarely a whole number of frames, so a stroke is also counted in the neighboring frames.
  const centred = rises.map(
    (rise, index) => Math.max(rise, 0.7 * Math.max(rises[index - 1] ?? 0, rises[index + 1] ?? 0)) - mean,
  );
  const lag = Math.round(60 / tempo / frame);
  let [product, power] = [0, 0];
  for (const [index, value] of centred.entries()) {
    product += value * (centred[index + lag] ?? 0);
    power += value ** 2;
  }
  return product / power;
}

/** Returns the power of the twelve pitch classes, starting with C, in three octaves. */
export function pitchClasses(samples: Float32Array, rate: number): number[] {
  return Array.from({ length: 12 }, (_, index) =>
    [48, 60, 72].reduce(
      (sum, octave) => sum + powerAt(samples, (440 * 2 ** ((octave + index - 69) / 12)) / rate),
      0,
    ),
  );
}

/** Goertzel algorithm. `frequency` is in periods per sample. */
function powerAt(samples: Float32Array, frequency: number): number {
  const turn = 2 * Math.cos(2 * Math.PI * frequency);
  let [last, before] = [0, 0];
  for (const sample of samples) [last, before] = [sample + turn * last - before, last];
  return last ** 2 + before ** 2 - turn * last * before;
}
