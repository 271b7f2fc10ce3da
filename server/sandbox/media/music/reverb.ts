import { songRate } from './instruments/tone.ts';

/** Delays of the comb filters in seconds, different for both sides. */
const combDelays = [
  [0.0297, 0.0371, 0.0411, 0.0437],
  [0.0303, 0.0361, 0.0419, 0.0449],
] as const;
const allPassDelays = [0.005, 0.0017] as const;
const feedback = 0.78;

/** Returns the reverb of a mono signal for both sides, without the dry signal. */
export function createReverb(samples: Float32Array): [left: Float32Array, right: Float32Array] {
  const [left, right] = combDelays.map((echoes) => {
    const sum = new Float32Array(samples.length);
    for (const seconds of echoes) addCombFilter(samples, sum, Math.round(seconds * songRate));
    for (const seconds of allPassDelays) applyAllPass(sum, Math.round(seconds * songRate));
    return sum;
  });
  return [left ?? samples, right ?? samples];
}

/** Adds a comb filter with a low-pass filter in its feedback loop. */
function addCombFilter(samples: Float32Array, into: Float32Array, delay: number): void {
  const line = new Float32Array(delay);
  let [position, filtered] = [0, 0];
  for (let index = 0; index < samples.length; index++) {
    const echo = line[position] ?? 0;
    filtered += 0.6 * (echo - filtered);
    line[position] = (samples[index] ?? 0) + feedback * filtered;
    position = position + 1 === delay ? 0 : position + 1;
    into[index] = (into[index] ?? 0) + 0.25 * echo;
  }
}

/** Applies an all-pass filter in place. */
function applyAllPass(samples: Float32Array, delay: number): void {
  const line = new Float32Array(delay);
  let position = 0;
  for (let index = 0; index < samples.length; index++) {
    const delayed = line[position] ?? 0;
    const input = (samples[index] ?? 0) + 0.5 * delayed;
    line[position] = input;
    position = position + 1 === delay ? 0 : position + 1;
    samples[index] = delayed - 0.5 * input;
  }
}
