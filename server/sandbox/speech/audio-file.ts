import type { AudioFormat, AudioSettings } from './commands.ts';
import { completeFlac } from './encoders/flac.ts';
import { completeWav, wavHeader } from './encoders/wav.ts';

/**
 * Joins the pieces of a stream into a file whose header has its length. PCM can be joined into a WAV file too.
 * `seconds` is the length of the audio.
 */
export function joinAudio(
  pieces: readonly Uint8Array[],
  { format, sampleRate, channels }: AudioSettings,
  seconds: number,
  fileFormat: AudioFormat = format,
): Buffer {
  const wrapped =
    fileFormat === 'wav' && format === 'pcm' ? [wavHeader(sampleRate, channels, 0), ...pieces] : pieces;
  const file = Buffer.concat(wrapped);
  if (fileFormat === 'wav') completeWav(file);
  if (fileFormat === 'flac') completeFlac(file, Math.round(seconds * sampleRate));
  return file;
}
