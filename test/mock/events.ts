import type { OperationId } from '../../generated/operations.ts';
import { isObject, type JsonObject } from '../../openapi/tools/document.ts';
import { exampleOf, rewritten } from './examples.ts';
import { inChunks, mediaOf } from './media.ts';

const spokenPieces = 4;

/** The events of a documented stream with the model that was asked for, each with the empty line after it. */
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

/** A spoken text as native events, as the models of a route send them: pieces that play when they are joined. */
export function spokenEvents(model: string, format: string | undefined): string[] {
  const sentences = /^(voxa|alpha-audio)/.test(model);
  if (model.startsWith('beta/')) return betaEvents();
  const operation = sentences ? 'synthesizeSpeech' : 'generateMultimodalSpeech';
  const [piece, last] = documentedEvents(operation, sentences ? 'sentence' : 'pcm', undefined).map(dataOf);
  const type = sentences ? mediaTypeOf(format ?? 'mp3') : 'audio/pcm';
  const audio = mediaOf(type) ?? Buffer.alloc(0);
  const pieces = inChunks(audio, spokenPieces).map((bytes) =>
    rewritten(
      piece ?? {},
      (text) => text,
      (key, value) => (key === 'data' ? bytes.toString('base64') : value),
    ),
  );
  return [...pieces, last ?? {}].map(written);
}

function betaEvents(): string[] {
  const whole = exampleOf('generateMultimodalSpeech', 'beta');
  const { output, ...rest } = isObject(whole) ? whole : {};
  const pieces = inChunks(mediaOf('audio/mpeg') ?? Buffer.alloc(0), spokenPieces);
  return pieces
    .map((piece, index) => ({ audio: piece.toString('hex'), status: index + 1 < pieces.length ? 1 : 2 }))
    .map((data) => ({ ...rest, output: { ...(isObject(output) && output), data } }))
    .map(written);
}

/** The media type of a speech format. */
export function mediaTypeOf(format: string): string {
  const types: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', opus: 'audio/ogg' };
  return types[format] ?? `audio/${format}`;
}

const dataOf = (event: string): JsonObject =>
  JSON.parse(/^data:(.*)$/m.exec(event)?.[1] ?? '{}') as JsonObject;

const written = (data: unknown, index: number): string =>
  `id:${index + 1}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
