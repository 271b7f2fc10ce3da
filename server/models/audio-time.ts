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
