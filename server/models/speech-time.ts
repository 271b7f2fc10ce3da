/** Options of a request that slow its speech down. */
export interface Pace {
  /** Factor of the speed, 0.5 to 2. */
  rate?: unknown;
  /** Manner of speaking, as a text. */
  instruction?: unknown;
}

/** Maximum seconds per text, and per character by kind. Measured on engines in all languages. */
const slowest = { text: 0.5, blank: 0.1, letter: 0.4, w: 0.6, sign: 1, eastAsian: 1.2, other: 2.8 };
/** Maximum factor by which an instruction such as "slowly, sadly" stretches speech. */
const slowestManner = 2.5;

/** Blanks; letters; the letter W, whose name is long; digits, signs and line ends; kana, ideographs and hangul. */
const kinds =
  /([^\S\n])|([A-VX-Za-vx-z])|([Ww])|([\u0021-\u007e\n])|([\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3])|[^]/gu;

/**
 * Upper bound of the seconds that an engine needs for a text in any script. Engines read numbers out, name signs and
 * emoji, and spell what is not a word or not in the voice's script. An ordinary sentence takes a fifth of it.
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

export interface AudioForm {
  format?: unknown;
  sample_rate?: unknown;
  /** kbit/s. */
  bit_rate?: unknown;
}

/** Default form of a task in the duplex protocol. */
export const inferenceForm = { format: 'mp3', sample_rate: 22_050, bit_rate: 32 };

/** Bytes of audio per byte of Base64. */
export const base64Share = 0.75;
/** Approximate bytes of an audio frame in addition to its Base64. */
export const envelope = 200;

/** Returns the seconds of audio in a number of bytes. `standard` has the defaults of the form. */
export function audioSeconds(bytes: number, form: AudioForm, standard: Required<AudioForm>): number {
  const valueOf = (name: 'sample_rate' | 'bit_rate') => Number(form[name] ?? standard[name]);
  const format = form.format ?? standard.format;
  if (format === 'opus') return bytes / (valueOf('bit_rate') * 125);
  // MP3 with the usual bit rate for the sample rate.
  if (format === 'mp3') return bytes / (valueOf('sample_rate') < 32_000 ? 8_000 : 16_000);
  return bytes / (2 * valueOf('sample_rate'));
}
