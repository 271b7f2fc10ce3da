import type { Exchange } from '../http/exchange.ts';
import { readText } from '../reading.ts';
import { joinAudio } from '../speech/audio-file.ts';
import { translateEngineError } from './refusals.ts';
import { type SpeechSettings, utterancesOf } from './speech.ts';

/** Speaks a short text as one file, for previews. */
export async function speakText(
  { services, signal }: Exchange,
  text: string,
  settings: SpeechSettings,
): Promise<Buffer> {
  let length = 0;
  const pieces: Buffer[] = [];
  const sentences = readText(text);
  try {
    const spoken = services.engine.speak(
      utterancesOf({ ...settings, text, sentences }),
      settings.audio,
      signal,
    );
    for await (const { chunks, seconds } of spoken) {
      length += seconds;
      pieces.push(...chunks.map(({ data }) => data));
    }
  } catch (error) {
    throw translateEngineError(error);
  }
  return joinAudio(pieces, settings.audio, length);
}
