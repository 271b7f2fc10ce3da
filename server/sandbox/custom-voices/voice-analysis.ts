/** Measurements of the voice in a recording. */
interface VoiceAnalysis {
  /** Median of the voiced parts in Hz. 0 without voiced parts. */
  fundamental: number;
  /** Spectral brightness of the voiced parts in Hz: root mean square of the frequency. */
  brightness: number;
  /** Root mean square of the voiced parts, for samples in -1…1. */
  level: number;
  /** Length of the voiced parts. */
  voicedSeconds: number;
}

const analysisRate = 8000;
const frameSeconds = 0.04;
/** Distance between frames. Skipping the audio between them does not affect the median. */
const hopSeconds = 0.08;
const [lowest, highest] = [60, 450];
/** Frames more than 30 dB below the loudest one are pauses. */
const pauseLevel = 10 ** (-30 / 20);
/** Minimum autocorrelation of a voiced frame. */
const minVoicedCorrelation = 0.6;
/** Minimum improvement to prefer a longer period, because every multiple of the period also correlates. */
const longerPeriodMargin = 0.03;

/** Measures pitch, brightness and level of mono samples by frame. */
export function analyzeVoice(samples: Float32Array, sampleRate: number): VoiceAnalysis {
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

/**
 * Reduces the sample rate to about the rate of the analysis. Averaging is a sufficient low-pass filter for pitch
 * detection.
 */
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

/** Returns the period of a voiced frame in samples, by normalized autocorrelation. */
function findPeriod(signal: Float32Array, start: number, frame: number, rate: number): number | undefined {
  let [best, period] = [minVoicedCorrelation, 0];
  for (let lag = Math.floor(rate / highest); lag <= rate / lowest; lag++) {
    const correlation = correlationAt(signal, start, frame, lag);
    if (correlation > best + (period === 0 || lag < period * 1.5 ? 0 : longerPeriodMargin))
      [best, period] = [correlation, lag];
  }
  return period === 0 ? undefined : refine(signal, start, frame, period);
}

/** Interpolates the position of the peak with a parabola through its neighbors. */
function refine(signal: Float32Array, start: number, frame: number, lag: number): number {
  const [before, at, after] = [
    correlationAt(signal, start, frame, lag - 1),
    correlationAt(signal, start, frame, lag),
    correlationAt(signal, start, frame, lag + 1),
  ];
  const curve = before - 2 * at + after;
  return curve >= 0 ? lag : lag + Math.max(-0.5, Math.min(0.5, (before - after) / (2 * curve)));
}

function correlationAt(signal: Float32Array, start: number, frame: number, lag: number): number {
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
