/** Decodes at a low rate: a waveform needs no more, and long songs stay small in memory. */
const decodeRateHz = 8_000;
/** The bars of a waveform. */
export const barCount = 140;

export interface Waveform {
  /** Loudest sample of each bar, from 0 to 1, relative to the loudest of all. */
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
  const length = samples.length / barCount;
  const peaks = Array.from({ length: barCount }, (_, bar) =>
    samples
      .subarray(Math.floor(bar * length), Math.floor((bar + 1) * length))
      .reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0),
  );
  const loudest = Math.max(...peaks) || 1;
  return peaks.map((peak) => peak / loudest);
}

/** Returns the bars as the path of an SVG with a view box of `barCount` by 100. Silence is a dot. */
export const barsOf = (peaks: readonly number[]): string =>
  peaks.map((peak, bar) => `M${bar + 0.5} ${50 - peak * 44}V${50 + peak * 44 + 0.1}`).join('');
