/** Decodes at a low rate: a waveform needs no more, and long songs stay small in memory. */
const decodeRateHz = 8_000;
/** Measured parts of a sound. A drawing combines them into as many bars as it has space for. */
const peakCount = 480;
/** Width of a bar with the space after it. */
const barWidthPx = 4;

export interface Waveform {
  /** Loudest sample of each part, from 0 to 1, relative to the loudest of all. */
  peaks: readonly number[];
  durationSeconds: number;
}

/** Decodes a file and measures it. Throws if the browser does not know the format. */
export async function readWaveform(file: Blob): Promise<Waveform> {
  const context = new OfflineAudioContext(1, 1, decodeRateHz);
  const audio = await context.decodeAudioData(await file.arrayBuffer());
  return { peaks: peaksOf(audio.getChannelData(0)), durationSeconds: audio.duration };
}

function peaksOf(samples: Float32Array): readonly number[] {
  const peaks = partsOf(samples, peakCount).map(loudestOf);
  const loudest = loudestOf(peaks) || 1;
  return peaks.map((peak) => peak / loudest);
}

/** Splits values into parts of about the same length. */
function partsOf<Values extends { length: number; slice(start: number, end: number): Values }>(
  values: Values,
  count: number,
): readonly Values[] {
  const length = values.length / count;
  return Array.from({ length: count }, (_, part) => {
    const start = Math.floor(part * length);
    return values.slice(start, Math.max(Math.floor((part + 1) * length), start + 1));
  });
}

function loudestOf(values: Iterable<number>): number {
  let loudest = 0;
  for (const value of values) loudest = Math.max(loudest, Math.abs(value));
  return loudest;
}

/** Returns how many bars fit into a width. */
export const barsIn = (widthPx: number): number => Math.max(1, Math.floor(widthPx / barWidthPx));

/** Returns the path of an SVG with a view box of `count` by 100. Silence is a dot. */
export const barPath = (peaks: readonly number[], count: number): string =>
  partsOf<readonly number[]>(peaks, count)
    .map(loudestOf)
    .map((peak, bar) => `M${bar + 0.5} ${50 - peak * 44}V${50 + peak * 44 + 0.1}`)
    .join('');
