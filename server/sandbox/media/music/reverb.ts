import { songRate } from './instruments/tone.ts';

/** Seconds of the echoes of both sides, so that they differ. */
const rooms = [
  [0.0297, 0.0371, 0.0411, 0.0437],
  [0.0303, 0.0361, 0.0419, 0.0449],
] as const;
const diffusers = [0.005, 0.0017] as const;
const feedback = 0.78;

/** Both sides of a mono sound in a room, the sound itself left out. */
export function reverberate(samples: Float32Array): [left: Float32Array, right: Float32Array] {
  const [left, right] = rooms.map((echoes) => {
    const sum = new Float32Array(samples.length);
    for (const seconds of echoes) addEcho(samples, sum, Math.round(seconds * songRate));
    for (const seconds of diffusers) diffuse(sum, Math.round(seconds * songRate));
    return sum;
  });
  return [left ?? samples, right ?? samples];
}

/** A comb filter whose echoes darken. */
function addEcho(samples: Float32Array, into: Float32Array, delay: number): void {
  const line = new Float32Array(delay);
  let [place, dark] = [0, 0];
  for (let index = 0; index < samples.length; index++) {
    const echo = line[place] ?? 0;
    dark += 0.6 * (echo - dark);
    line[place] = (samples[index] ?? 0) + feedback * dark;
    place = place + 1 === delay ? 0 : place + 1;
    into[index] = (into[index] ?? 0) + 0.25 * echo;
  }
}

/** An all-pass filter, in place. */
function diffuse(samples: Float32Array, delay: number): void {
  const line = new Float32Array(delay);
  let place = 0;
  for (let index = 0; index < samples.length; index++) {
    const delayed = line[place] ?? 0;
    const kept = (samples[index] ?? 0) + 0.5 * delayed;
    line[place] = kept;
    place = place + 1 === delay ? 0 : place + 1;
    samples[index] = delayed - 0.5 * kept;
  }
}
