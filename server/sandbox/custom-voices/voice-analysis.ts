/** What is measured of a voice in a recording. */
interface VoiceAnalysis {
  /** Median of the voiced parts in Hz; 0 without any. */
  fundamental: number;
  /** Where the voiced parts' energy lies, in Hz: root mean square of frequency. */
  brightness: number;
  /** Root mean square of the voiced parts, of samples in -1…1. */
  level: number;
  /** Length of the voiced parts. */
  voicedSeconds: number;
}

const analysisRate = 8000;
const frameSeconds = 0.04;
/** From one frame to the next; what lies between is left out, which a median does not miss. */
const hopSeconds = 0.08;
const [lowest, highest] = [60, 450];
/** Frames more than 30 dB below the loudest are pauses. */
const pauseLevel = 10 ** (-30 / 20);
/** Least autocorrelation of a voiced frame. */
const voicedLikeness = 0.6;
/** A longer period must fit this much better than a shorter one: every multiple of the period fits, too. */
const longerPeriodMargin = 0.03;

/** Measures pitch, brightness and level of mono samples, frame by frame. */
export function analyseVoice(samples: Float32Array, sampleRate: number): VoiceAnalysis {
  const { signal, rate } = decimate(samples, sampleRate);
  const frame = Math.round(rate * frameSeconds);
  const hop = Math.round(rate * hopSeconds);
  const reach = frame + Math.ceil(rate / lowest) + 1;
  const frames: { start: number; level: number }[] = [];
  for (let start = 0; start + reach <= signal.length; start += hop) {
    frames.push({ start, level: levelOf(signal.subarray(start, start + frame)) });
  }
  const loudest = frames.reduce((most, { level }) => Math.max(most, level), 0);

  const fundamentals: number[] = [];
  let [energy, slopeEnergy] = [0, 0];
  for (const { start, level } of frames) {
    if (level === 0 || level < loudest * pauseLevel) continue;
    const period = findPeriod(signal, start, frame, rate);
    if (period === undefined) continue;
    fundamentals.push(rate / period);
    for (let index = start + 1; index < start + frame; index++) {
      const sample = signal[index] ?? 0;
      energy += sample ** 2;
      slopeEnergy += (sample - (signal[index - 1] ?? 0)) ** 2;
    }
  }
  fundamentals.sort((first, second) => first - second);
  return {
    fundamental: fundamentals[Math.floor(fundamentals.length / 2)] ?? 0,
    brightness: energy === 0 ? 0 : (Math.sqrt(slopeEnergy / energy) * rate) / (2 * Math.PI),
    level: fundamentals.length === 0 ? 0 : Math.sqrt(energy / (fundamentals.length * (frame - 1))),
    voicedSeconds: fundamentals.length * hopSeconds,
  };
}

/** Brings the samples near the rate of the analysis; averaging is filter enough for a pitch. */
function decimate(samples: Float32Array, sampleRate: number): { signal: Float32Array; rate: number } {
  const step = Math.max(1, Math.round(sampleRate / analysisRate));
  const signal = new Float32Array(Math.floor(samples.length / step));
  for (let index = 0; index < signal.length; index++) {
    let sum = 0;
    for (let offset = 0; offset < step; offset++) sum += samples[index * step + offset] ?? 0;
    signal[index] = sum / step;
  }
  return { signal, rate: sampleRate / step };
}

/** The period of a voiced frame in samples, by normalized autocorrelation. */
function findPeriod(signal: Float32Array, start: number, frame: number, rate: number): number | undefined {
  let [best, period] = [voicedLikeness, 0];
  for (let lag = Math.floor(rate / highest); lag <= rate / lowest; lag++) {
    const likeness = likenessAt(signal, start, frame, lag);
    if (likeness > best + (period === 0 || lag < period * 1.5 ? 0 : longerPeriodMargin))
      [best, period] = [likeness, lag];
  }
  return period === 0 ? undefined : refine(signal, start, frame, period);
}

/** Moves the peak between the samples with a parabola through its neighbours. */
function refine(signal: Float32Array, start: number, frame: number, lag: number): number {
  const [before, at, after] = [
    likenessAt(signal, start, frame, lag - 1),
    likenessAt(signal, start, frame, lag),
    likenessAt(signal, start, frame, lag + 1),
  ];
  const curve = before - 2 * at + after;
  return curve >= 0 ? lag : lag + Math.max(-0.5, Math.min(0.5, (before - after) / (2 * curve)));
}

function likenessAt(signal: Float32Array, start: number, frame: number, lag: number): number {
  let [product, power, shiftedPower] = [0, 1e-9, 1e-9];
  for (let index = start; index < start + frame; index++) {
    const [sample = 0, shifted = 0] = [signal[index], signal[index + lag]];
    product += sample * shifted;
    power += sample * sample;
    shiftedPower += shifted * shifted;
  }
  return product / Math.sqrt(power * shiftedPower);
}

function levelOf(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}
