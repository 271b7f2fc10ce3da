import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { yieldToEventLoop } from '../lib/timers.ts';

/** A longer text is written in slices. */
const longTextLength = 1024 * 1024;
const sliceLength = 256 * 1024;
/** Bytes written before yielding to the event loop. */
const maxBytesPerTick = 4 * 1024 * 1024;

/** Whether a value contains a text that takes noticeable time to write. */
export function holdsLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > longTextLength;
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) if (holdsLongText(Reflect.get(value, name))) return true;
  return false;
}

/** Writes JSON in chunks and yields to the event loop between them, because inline media may have many megabytes. */
export async function* jsonChunks(value: unknown): AsyncGenerator<Buffer> {
  // Random, so that no text in the value equals it.
  const placeholder = randomUUID();
  const texts: string[] = [];
  const outline = JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'string' || inner.length <= longTextLength) return inner;
    texts.push(inner);
    return placeholder;
  });
  let bytesInTick = 0;
  for (const [index, between] of outline.split(`"${placeholder}"`).entries()) {
    if (index > 0) {
      yield Buffer.from('"');
      for (const chunk of textChunks(texts[index - 1] ?? '')) {
        yield chunk;
        bytesInTick += chunk.length;
        if (bytesInTick < maxBytesPerTick) continue;
        bytesInTick = 0;
        await yieldToEventLoop();
      }
      yield Buffer.from('"');
    }
    yield Buffer.from(between);
  }
}

/** Writes a JSON value with long texts as a request body with a known length. */
export async function jsonStream(value: unknown): Promise<{ stream: Readable; length: number }> {
  const chunks: Buffer[] = await Readable.from(jsonChunks(value)).toArray();
  return { stream: Readable.from(chunks), length: chunks.reduce((sum, { length }) => sum + length, 0) };
}

/** Writes the inside of a JSON string. A surrogate pair cut by a slice is escaped, which means the same. */
function* textChunks(text: string): Generator<Buffer> {
  for (let from = 0; from < text.length; from += sliceLength)
    yield Buffer.from(JSON.stringify(text.slice(from, from + sliceLength)).slice(1, -1));
}
