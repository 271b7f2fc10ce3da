import type { Family, StemName } from './instruments/names.ts';
import { createReverb } from './reverb.ts';

/** Stereo samples. Full scale is 1. */
export interface Stereo {
  left: Float32Array;
  right: Float32Array;
}

/** One stereo track at its level in the mix. */
export interface Track extends Stereo {
  family: Family;
}

/** Mixer settings of one track. */
interface TrackSettings {
  family: Family;
  /** Loudness in decibels relative to full scale. */
  level: number;
  /** Stereo position from -1 (left) to 1 (right). */
  pan: number;
  /** Reverb level, 0 to 1. */
  reverb: number;
  /** Gain before the distortion. Undefined for no distortion. */
  drive?: number;
}

/** Samples per loudness measurement. */
const blockSize = 4096;
/** Peak level of a song and of each of its stems. It leaves headroom, because MP3 encoding changes the peaks. */
const targetPeak = 0.84;

/** Converts mono samples to a stereo track: applies distortion, level, pan and reverb. */
export function createTrack(
  samples: Float32Array,
  { family, level, pan, reverb, drive }: TrackSettings,
): Track {
  if (drive !== undefined) distort(samples, drive);
  scale(samples, 10 ** (level / 20) / (measureLoudness(samples) || 1));
  const [echoLeft, echoRight] = reverb === 0 ? [] : createReverb(samples);
  const angle = ((pan + 1) * Math.PI) / 4;
  const side = (gain: number, echo: Float32Array | undefined) =>
    samples.map((sample, index) => Math.SQRT2 * gain * sample + reverb * (echo?.[index] ?? 0));
  return { family, left: side(Math.cos(angle), echoLeft), right: side(Math.sin(angle), echoRight) };
}

/** Scales all tracks equally, so that no track and no stem exceeds the peak level. */
export function normalizeTracks(tracks: readonly Track[]): void {
  const mixes = [...tracks, mixStem(tracks, undefined), mixStem(tracks, 'Instrumental')];
  const loudest = mixes.reduce(
    (most, { left, right }) => Math.max(most, measurePeak(left), measurePeak(right)),
    0,
  );
  if (loudest === 0) return;
  for (const { left, right } of tracks) {
    scale(left, targetPeak / loudest);
    scale(right, targetPeak / loudest);
  }
}

/** Returns the sum of the tracks of a stem, or of all tracks without a name. */
export function mixStem(tracks: readonly Track[], name: StemName | undefined): Stereo {
  const length = tracks[0]?.left.length ?? 0;
  const sum = { left: new Float32Array(length), right: new Float32Array(length) };
  for (const track of tracks) {
    const belongs =
      name === 'Instrumental' ? track.family !== 'Vocals' : name === undefined || track.family === name;
    if (!belongs) continue;
    addTo(sum.left, track.left);
    addTo(sum.right, track.right);
  }
  return sum;
}

/** Returns the peaks of segments of equal length. */
export function measureWaveform({ left, right }: Stereo, segments: number): number[] {
  const length = Math.ceil(left.length / segments);
  return Array.from({ length: segments }, (_, index) => {
    const peaks = [left, right].map((side) =>
      measurePeak(side.subarray(index * length, (index + 1) * length)),
    );
    return Math.round(1000 * Math.max(...peaks)) / 1000;
  });
}

/** Returns the root mean square of the segments that are not silent. */
function measureLoudness(samples: Float32Array): number {
  const powers: number[] = [];
  for (let start = 0; start < samples.length; start += blockSize) {
    const part = samples.subarray(start, start + blockSize);
    powers.push(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length);
  }
  const loudest = Math.max(0, ...powers);
  const sounding = powers.filter((power) => power > loudest / 100);
  return Math.sqrt(sounding.reduce((sum, power) => sum + power, 0) / (sounding.length || 1));
}

/** Simulates a tube amplifier and its speaker cabinet, which attenuates high harmonics. */
function distort(samples: Float32Array, drive: number): void {
  const gain = drive / (4 * measureLoudness(samples) || 1);
  let [first, second, slow] = [0, 0, 0];
  for (let index = 0; index < samples.length; index++) {
    const shaped = Math.tanh(gain * (samples[index] ?? 0));
    first += 0.45 * (shaped - first);
    second += 0.45 * (first - second);
    slow += 0.008 * (second - slow);
    samples[index] = second - slow;
  }
}

function scale(samples: Float32Array, factor: number): void {
  for (let index = 0; index < samples.length; index++) samples[index] = (samples[index] ?? 0) * factor;
}

function addTo(sum: Float32Array, samples: Float32Array): void {
  for (let index = 0; index < sum.length; index++) sum[index] = (sum[index] ?? 0) + (samples[index] ?? 0);
}

function measurePeak(samples: Float32Array): number {
  let most = 0;
  for (let index = 0; index < samples.length; index++) most = Math.max(most, Math.abs(samples[index] ?? 0));
  return most;
}
