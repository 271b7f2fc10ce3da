/** Options of a request that slow its speech down. */
export interface Pace {
  /** Factor on the speed, 0.5 to 2. */
  rate?: unknown;
  /** How to speak, in words. */
  instruction?: unknown;
}

/** Seconds that a text takes at the most, and then each of its characters: measured on engines in all languages. */
const slowest = { text: 0.5, blank: 0.1, letter: 0.4, w: 0.6, sign: 1, eastAsian: 1.2, other: 2.8 };
/** The most that words such as "slowly, sadly" stretch speech. */
const slowestManner = 2.5;

/** Blanks; letters, of which one has a long name; digits, signs and line ends; kana, common ideographs, hangul; others. */
const kinds =
  /([^\S\n])|([A-VX-Za-vx-z])|([Ww])|([\u0021-\u007e\n])|([\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3])|[^]/gu;

/**
 * Seconds that no engine is expected to exceed in speaking a text, whatever its script: numbers are read out, signs
 * and emoji named, and what is no word or in a script that the voice lacks is spelled. An ordinary sentence takes a
 * fifth of it.
 */
export function maxSpeechSeconds(text: string, { rate, instruction }: Pace = {}): number {
  let seconds = slowest.text;
  for (const [, blank, letter, w, sign, eastAsian] of text.matchAll(kinds)) {
    if (blank !== undefined) seconds += slowest.blank;
    else if (letter !== undefined) seconds += slowest.letter;
    else if (w !== undefined) seconds += slowest.w;
    else if (sign !== undefined) seconds += slowest.sign;
    else seconds += eastAsian === undefined ? slowest.other : slowest.eastAsian;
  }
  const slowed = typeof rate === 'number' && rate > 0 && rate < 1 ? seconds / Math.max(rate, 0.5) : seconds;
  return typeof instruction === 'string' && instruction !== '' ? slowed * slowestManner : slowed;
}

/** The form of audio, as settings and parameters name it. */
export interface AudioForm {
  format?: unknown;
  sample_rate?: unknown;
  /** kbit/s. */
  bit_rate?: unknown;
}

/** What a task of the duplex protocol makes unless it says otherwise. */
export const inferenceForm = { format: 'mp3', sample_rate: 22_050, bit_rate: 32 };

/** Bytes of audio in a byte of Base64. */
export const base64Share = 0.75;
/** What a frame has beside its Base64, nearly. */
export const envelope = 200;

/** Seconds that so many bytes of audio last. What the form leaves out is `standard`. */
export function audioSeconds(bytes: number, form: AudioForm, standard: Required<AudioForm>): number {
  const pick = (name: 'sample_rate' | 'bit_rate') => Number(form[name] ?? standard[name]);
  const format = form.format ?? standard.format;
  if (format === 'opus') return bytes / (pick('bit_rate') * 125);
  // MPEG audio at the bit rate that is usual for the sample rate.
  if (format === 'mp3') return bytes / (pick('sample_rate') < 32_000 ? 8_000 : 16_000);
  return bytes / (2 * pick('sample_rate'));
}
