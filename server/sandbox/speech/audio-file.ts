import type { AudioFormat, AudioSettings } from './commands.ts';
import { completeFlac } from './encoders/flac.ts';
import { completeWav, wavHeader } from './encoders/wav.ts';

/**
 * Concatenates the chunks of a stream to a file and sets the length in its header. PCM can be converted to a WAV file.
 * `seconds` is the length of the audio.
 */
export function concatenateAudio(
  chunks: readonly Uint8Array[],
  { format, sampleRate, channels }: AudioSettings,
  seconds: number,
  fileFormat: AudioFormat = format,
): Buffer {
  const wrapped =
    fileFormat === 'wav' && format === 'pcm' ? [wavHeader(sampleRate, channels, 0), ...chunks] : chunks;
  const file = Buffer.concat(wrapped);
  if (fileFormat === 'wav') completeWav(file);
  if (fileFormat === 'flac') completeFlac(file, Math.round(seconds * sampleRate));
  return file;
}
