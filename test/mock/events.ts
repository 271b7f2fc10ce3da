import type { OperationId } from '../../generated/operations.ts';
import { isObject, type JsonObject } from '../../openapi/tools/document.ts';
import { exampleOf, mapValues } from './examples.ts';
import { mediaOf, splitSamples } from './media.ts';

const audioChunks = 4;

/** Returns the events of a documented stream with the requested model, each with its trailing empty line. */
export function documentedEvents(operation: OperationId, name: string, model: unknown): string[] {
  const stream = exampleOf(operation, name, 'text/event-stream');
  if (typeof stream !== 'string') throw new Error(`${operation} has no stream ${name}`);
  return stream
    .split(/(?<=\n\n)/)
    .map((event) =>
      typeof model === 'string'
        ? event.replace(/"model":"[^"]*"/, `"model":${JSON.stringify(model)}`)
        : event,
    );
}

/** Returns speech as native events in the format of a model. The joined chunks are playable. */
export function speechEvents(model: string, format: string | undefined): string[] {
  const hasSentences = /^(voxa|alpha-audio)/.test(model);
  if (model.startsWith('beta/')) return betaEvents();
  const operation = hasSentences ? 'synthesizeSpeech' : 'generateMultimodalSpeech';
  const [chunk, last] = documentedEvents(operation, hasSentences ? 'sentence' : 'pcm', undefined).map(dataOf);
  const type = hasSentences ? mediaTypeOf(format ?? 'mp3') : 'audio/pcm';
  const audio = mediaOf(type) ?? Buffer.alloc(0);
  const chunks = splitSamples(audio, audioChunks).map((bytes) =>
    mapValues(
      chunk ?? {},
      (text) => text,
      (key, value) => (key === 'data' ? bytes.toString('base64') : value),
    ),
  );
  return [...chunks, last ?? {}].map(formatEvent);
}

function betaEvents(): string[] {
  const example = exampleOf('generateMultimodalSpeech', 'beta');
  const { output, ...rest } = isObject(example) ? example : {};
  const chunks = splitSamples(mediaOf('audio/mpeg') ?? Buffer.alloc(0), audioChunks);
  return chunks
    .map((chunk, index) => ({ audio: chunk.toString('hex'), status: index + 1 < chunks.length ? 1 : 2 }))
    .map((data) => ({ ...rest, output: { ...(isObject(output) && output), data } }))
    .map(formatEvent);
}

/** Returns the media type of a speech format. */
export function mediaTypeOf(format: string): string {
  const types: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', opus: 'audio/ogg' };
  return types[format] ?? `audio/${format}`;
}

const dataOf = (event: string): JsonObject =>
  JSON.parse(/^data:(.*)$/m.exec(event)?.[1] ?? '{}') as JsonObject;

const formatEvent = (data: unknown, index: number): string =>
  `id:${index + 1}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
