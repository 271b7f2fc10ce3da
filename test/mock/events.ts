import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import type { AudioSettings } from '../../server/sandbox/speech/commands.ts';
import { exampleOf, mapValues } from './examples.ts';
import { sampleChunks } from './sample-audio.ts';

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

/** Returns speech as native events in the format of a model. The joined chunks are playable. `fileUrl` leads to all audio. */
export async function speechEvents(
  { family, protocols }: CatalogueModel,
  settings: AudioSettings,
  fileUrl: string,
): Promise<string[]> {
  const chunks = await sampleChunks(settings, audioChunks);
  if (family === 'beta') return betaEvents(chunks);
  const [operation, name] = protocols.includes('multimodal')
    ? (['generateMultimodalSpeech', 'pcm'] as const)
    : (['synthesizeSpeech', 'sentence'] as const);
  const [chunk = {}, last = {}] = documentedEvents(operation, name, undefined).map(dataOf);
  const withField = (event: JsonObject, field: string, replacement: string) =>
    mapValues(
      event,
      (text) => text,
      (key, value) => (key === field ? replacement : value),
    );
  const events = chunks.map((bytes) => withField(chunk, 'data', bytes.toString('base64')));
  return [...events, withField(last, 'url', fileUrl)].map(formatEvent);
}

function betaEvents(chunks: readonly Buffer[]): string[] {
  const example = exampleOf('generateMultimodalSpeech', 'beta');
  const { output, usage, ...rest } = isObject(example) ? example : {};
  return chunks
    .map((chunk, index) => {
      const isLast = index + 1 === chunks.length;
      const data = { audio: chunk.toString('hex'), status: isLast ? 2 : 1 };
      const reported = { ...(isObject(usage) && usage), ...(isLast && { cost: costOf(usage) }) };
      return { ...rest, output: { ...(isObject(output) && output), data }, usage: reported };
    })
    .map(formatEvent);
}

/** Returns the charge of a usage at a price of one quota for each unit. */
export function costOf(usage: Json | undefined): number {
  const { characters, total_tokens: tokens } = isObject(usage) ? usage : {};
  return Number(tokens ?? characters ?? 0);
}

const dataOf = (event: string): JsonObject =>
  JSON.parse(/^data:(.*)$/m.exec(event)?.[1] ?? '{}') as JsonObject;

const formatEvent = (data: unknown, index: number): string =>
  `id:${index + 1}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
