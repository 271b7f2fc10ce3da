import type { Family, StemName } from './instruments/names.ts';
import { reverberate } from './reverb.ts';

/** Stereo in floats; full scale is 1. */
export interface Stereo {
  left: Float32Array;
  right: Float32Array;
}

/** One player in the room, as loud as in the song. */
export interface Track extends Stereo {
  family: Family;
}

/** How one player is heard. */
interface Placing {
  family: Family;
  /** Level of its tones, in decibels below full scale. */
  level: number;
  /** -1 left to 1 right. */
  pan: number;
  /** Reverberation, 0 to 1. */
  space: number;
  /** Distorts: the factor before the bend. */
  drive?: number;
}

/** Samples of one look at the level. */
const block = 4096;
/** The loudest sample of a song and of each of its tracks, to leave room for what MP3 changes. */
const peak = 0.84;

/** Puts a mono player at its place in the room. */
export function placeTrack(samples: Float32Array, { family, level, pan, space, drive }: Placing): Track {
  if (drive !== undefined) distort(samples, drive);
  scale(samples, 10 ** (level / 20) / (loudness(samples) || 1));
  const [echoLeft, echoRight] = space === 0 ? [] : reverberate(samples);
  const angle = ((pan + 1) * Math.PI) / 4;
  const side = (gain: number, echo: Float32Array | undefined) =>
    samples.map((sample, index) => Math.SQRT2 * gain * sample + space * (echo?.[index] ?? 0));
  return { family, left: side(Math.cos(angle), echoLeft), right: side(Math.sin(angle), echoRight) };
}

/** Scales the tracks, all alike, so that neither one of them nor a sum of theirs passes full scale. */
export function balance(tracks: readonly Track[]): void {
  const heard = [...tracks, stemOf(tracks, undefined), stemOf(tracks, 'Instrumental')];
  const loudest = heard.reduce((most, { left, right }) => Math.max(most, peakOf(left), peakOf(right)), 0);
  if (loudest === 0) return;
  for (const { left, right } of tracks) {
    scale(left, peak / loudest);
    scale(right, peak / loudest);
  }
}

/** The sum of the tracks of a stem; of all tracks, the song itself, without a name. */
export function stemOf(tracks: readonly Track[], name: StemName | undefined): Stereo {
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

/** Loudest samples of equally long pieces. */
export function waveformOf({ left, right }: Stereo, pieces: number): number[] {
  const length = Math.ceil(left.length / pieces);
  return Array.from({ length: pieces }, (_, index) => {
    const piece = [left, right].map((side) => peakOf(side.subarray(index * length, (index + 1) * length)));
    return Math.round(1000 * Math.max(...piece)) / 1000;
  });
}

/** Root mean square of those parts in which something sounds. */
function loudness(samples: Float32Array): number {
  const powers: number[] = [];
  for (let start = 0; start < samples.length; start += block) {
    const part = samples.subarray(start, start + block);
    powers.push(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length);
  }
  const loudest = Math.max(0, ...powers);
  const sounding = powers.filter((power) => power > loudest / 100);
  return Math.sqrt(sounding.reduce((sum, power) => sum + power, 0) / (sounding.length || 1));
}

/** A valve amplifier and its box, which lets little of the new harmonics through. */
function distort(samples: Float32Array, drive: number): void {
  const gain = drive / (4 * loudness(samples) || 1);
  let [first, second, slow] = [0, 0, 0];
  for (let index = 0; index < samples.length; index++) {
    const bent = Math.tanh(gain * (samples[index] ?? 0));
    first += 0.45 * (bent - first);
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

function peakOf(samples: Float32Array): number {
  let most = 0;
  for (let index = 0; index < samples.length; index++) most = Math.max(most, Math.abs(samples[index] ?? 0));
  return most;
}
