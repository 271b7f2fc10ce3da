import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { yieldToEventLoop } from '../lib/timers.ts';

/** A text of more characters is written in slices. */
const long = 1024 * 1024;
const slice = 256 * 1024;
/** So many bytes are written before others have a turn. */
const turn = 4 * 1024 * 1024;

/** Whether a value holds a text that takes noticeable time to write. */
export function holdsLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > long;
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) if (holdsLongText(Reflect.get(value, name))) return true;
  return false;
}

/**
 * A JSON value as `JSON.stringify` writes it, in pieces: inline media of many megabytes would keep everybody waiting.
 * Between the pieces others have their turn.
 */
export async function* jsonPieces(value: unknown): AsyncGenerator<Buffer> {
  // Nobody can guess it, so that no text of the value is mistaken for it.
  const mark = randomUUID();
  const texts: string[] = [];
  const outline = JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'string' || inner.length <= long) return inner;
    texts.push(inner);
    return mark;
  });
  let since = 0;
  for (const [index, between] of outline.split(`"${mark}"`).entries()) {
    if (index > 0) {
      yield Buffer.from('"');
      for (const piece of slices(texts[index - 1] ?? '')) {
        yield piece;
        since += piece.length;
        if (since < turn) continue;
        since = 0;
        await yieldToEventLoop();
      }
      yield Buffer.from('"');
    }
    yield Buffer.from(between);
  }
}

/** A JSON value with long texts as the body of a request: its bytes, and how many they are. */
export async function jsonStream(value: unknown): Promise<{ stream: Readable; length: number }> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of jsonPieces(value)) {
    pieces.push(piece);
    length += piece.length;
  }
  return { stream: Readable.from(pieces), length };
}

/** The inside of a JSON text. Halves of a character at the ends of slices are escaped, which means the same. */
function* slices(text: string): Generator<Buffer> {
  for (let from = 0; from < text.length; from += slice)
    yield Buffer.from(JSON.stringify(text.slice(from, from + slice)).slice(1, -1));
}
