import { isUtf8 } from 'node:buffer';
import { Failure, invalid } from '../lib/failure.ts';
import { type BodyLimits, besideMedia, tooLarge } from './body-limits.ts';

/** Values and field names of a body, at most. A parsed value needs much more memory than its text. */
const maxValues = 50_000;
/** A body up to this size cannot exceed `maxValues`, in bytes. */
const maxUncheckedBytes = 48 * 1024;
/** A shorter text is never an inline medium, in characters. */
const minMediaLength = 256;
/** Deeper values are refused by `requirePlainValues`. */
const maxDepth = 100;

const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c];
const [bracket, closingBracket, brace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const space = 0x20;

/**
 * Parses a JSON body. Values are counted before they are created. Inline media (data URLs and Base64) do not count as
 * text.
 *
 * @throws Failure 400 for invalid JSON or too many values, 413 for too much text
 */
export function parseJsonBody(chunks: readonly Buffer[], { textBytes }: BodyLimits): unknown {
  const [first] = chunks;
  const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw invalid('body', 'is not valid UTF-8.');
  const isSmall = bytes.length <= Math.min(maxUncheckedBytes, textBytes);
  const requireText = (mediaBytes: number) => {
    if (bytes.length - mediaBytes > textBytes) throw tooLarge('body', textBytes, besideMedia);
  };
  if (!isSmall) requireText(scan(bytes));
  const value = parseJson(bytes.toString('utf8'), 'body');
  if (bytes.length > textBytes) requireText(mediaBytesIn(value, bytes.includes('\\/')));
  return value;
}

/** @throws Failure 400 when a text has more values than a body may have. `field` is its name in messages. */
export function parseJsonText(text: string, field: string): unknown {
  const bytes = Buffer.from(text);
  if (bytes.length > maxUncheckedBytes) scan(bytes);
  return parseJson(text, field);
}

/** Counts values and returns the bytes of texts that are long enough for inline media. */
function scan(bytes: Buffer): number {
  let values = 1;
  let longTextBytes = 0;
  let isOpened = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte <= space) continue;
    // A comma precedes a value, a colon follows a name, and a bracket that is not closed at once precedes a value.
    const opens = byte === bracket || byte === brace;
    if (byte === comma || byte === colon || opens) values += 1;
    else if (isOpened && (byte === closingBracket || byte === closingBrace)) values -= 1;
    isOpened = opens;
    if (values > maxValues + 1) break;
    if (byte !== quote) continue;
    const end = textEnd(bytes, at + 1);
    if (end - at > minMediaLength) longTextBytes += end - at;
    at = end;
  }
  if (values > maxValues) throw invalid('body', `has more than ${maxValues} values and names of fields.`);
  return longTextBytes;
}

/** Index of the quote that ends a text, or the length of the body. */
function textEnd(bytes: Buffer, from: number): number {
  for (let at = from; ; at += 1) {
    at = bytes.indexOf(quote, at);
    if (at < 0) return bytes.length;
    let backslashes = 0;
    while (at - backslashes > from && bytes[at - backslashes - 1] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

/** Bytes of all inline media. `hasEscapedSlashes`: each of their slashes may take two bytes, as PHP writes them. */
function mediaBytesIn(value: unknown, hasEscapedSlashes: boolean, depth = 0): number {
  if (typeof value === 'string') {
    if (!isMedium(value)) return 0;
    return value.length + (hasEscapedSlashes ? value.split('/').length - 1 : 0);
  }
  if (typeof value !== 'object' || value === null || depth > maxDepth) return 0;
  let sum = 0;
  for (const inner of Object.values(value)) sum += mediaBytesIn(inner, hasEscapedSlashes, depth + 1);
  return sum;
}

const base64 = /^[A-Za-z0-9+/]*=*$/;

/** Whether a text is a data URL or Base64. */
function isMedium(text: string): boolean {
  if (text.length < minMediaLength) return false;
  const head = text.slice(0, minMediaLength);
  return (/^data:/i.test(head) || base64.test(head)) && !/[^ -~]/.test(text);
}

function parseJson(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reported = cause instanceof Error ? cause.message : '';
    const reason = reported.replace(/[\s"']+\.{0,3}.*is not valid JSON.*$/s, '').trim();
    const problem = `is not valid JSON${reason === '' ? '' : ` (${reason})`}.`;
    throw new Failure(400, 'invalid_request', `${field}: ${problem}`, { cause });
  }
}
