import type { EngineEvent, EngineInstance } from '@echogarden/espeak-ng-emscripten';
import type { Utterance, Word } from './commands.ts';

/** Package name of the engine, an optional dependency. */
export const espeakPackage = '@echogarden/espeak-ng-emscripten';

/** Output samples per second of the engine. */
export const engineSampleRate = 22050;

/** The optional engine package is not installed. */
export class EngineMissing extends Error {}

/** Loads the speech engine. Throws `EngineMissing` if its package is not installed. */
export async function loadEspeak(module: string): Promise<Espeak> {
  const loaded = await import(module).catch((cause: unknown) => {
    throw new EngineMissing(`The speech engine ${module} is not installed`, { cause });
  });
  const { eSpeakNGWorker } = await (loaded as typeof import('@echogarden/espeak-ng-emscripten')).default();
  return new Espeak(new eSpeakNGWorker());
}

/** Mono samples in -1…1, and word times in milliseconds. */
interface Speech {
  samples: Float32Array;
  words: Word[];
}

export class Espeak {
  readonly #instance: EngineInstance;

  constructor(instance: EngineInstance) {
    this.#instance = instance;
  }

  /** Synthesizes one utterance. Throws if its voice does not exist. */
  speak(utterance: Utterance): Speech {
    const engine = this.#instance;
    if (engine.set_voice(utterance.voice) !== 0) throw new Error(`No engine voice ${utterance.voice}`);
    engine.set_rate(utterance.wordsPerMinute);
    engine.set_pitch(utterance.pitch);
    engine.set_range(utterance.range);

    const { markup, offsets } = escapeText(utterance.text);
    const parts: Int16Array[] = [];
    const events: EngineEvent[] = [];
    engine.synthesize(markup, (samples, newEvents) => {
      parts.push(samples);
      events.push(...newEvents);
      return undefined;
    });
    const samples = joinSamples(parts);
    return {
      samples,
      words: wordsFromEvents(utterance.text, events, offsets, (samples.length * 1000) / engineSampleRate),
    };
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes the text for the engine's SSML parser. `offsets` maps positions in the markup to offsets in the text. */
function escapeText(text: string): { markup: string; offsets: number[] } {
  const offsets: number[] = [];
  let markup = '';
  let offset = 0;
  for (const character of text) {
    const written = entities[character] ?? character;
    for (const _ of written) offsets.push(offset);
    markup += written;
    offset += character.length;
  }
  return { markup, offsets };
}

function joinSamples(parts: readonly Int16Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let position = 0;
  for (const part of parts) for (const sample of part) joined[position++] = sample / 32768;
  return joined;
}

/** Converts engine events to words. A word ends at the next word or at the next pause. */
function wordsFromEvents(
  text: string,
  events: readonly EngineEvent[],
  offsets: readonly number[],
  end: number,
): Word[] {
  const starts = events.filter((event) => event.type === 'word');
  const pauses = events.filter((event) => event.type === 'end' || (event.type === 'phoneme' && !event.id));
  const words: Word[] = [];
  for (const [position, start] of starts.entries()) {
    const next = starts[position + 1];
    const beginIndex = offsets[start.text_position - 1] ?? text.length;
    const limit = next ? (offsets[next.text_position - 1] ?? text.length) : text.length;
    const spelled = text.slice(beginIndex, limit).replace(/[\s\p{P}\p{S}]+$/u, '');
    if (spelled === '') continue;
    const beginTime = start.audio_position;
    const nextTime = next?.audio_position ?? end;
    const pause = pauses.find((event) => event.audio_position > beginTime)?.audio_position ?? end;
    const endTime = Math.round(Math.max(beginTime, Math.min(pause, nextTime)));
    words.push({ text: spelled, beginIndex, endIndex: beginIndex + spelled.length, beginTime, endTime });
  }
  return words;
}
