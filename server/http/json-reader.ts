import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { Failure, invalid } from '../lib/failure.ts';
import { yieldToEventLoop } from '../lib/timers.ts';
import { type BodyLimits, besideMedia, tooLarge } from './body-limits.ts';

/** Values and field names of a body, at most. A parsed value needs much more memory than its text. */
const maxValues = 50_000;
/** A larger outline is parsed after a turn of the event loop, in bytes. */
const large = 128 * 1024;
/** A body up to this size is parsed directly: it cannot contain too many values or large media, in bytes. */
const small = 48 * 1024;

const [space, quote, comma, slash, colon, backslash] = [0x20, 0x22, 0x2c, 0x2f, 0x3a, 0x5c];
const [bracket, closingBracket, brace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses JSON incrementally. Values are counted before they are created. Inline media (data URLs and Base64) are collected
 * separately, so that no single step processes many megabytes.
 */
export class JsonReader {
  readonly #limits: BodyLimits;
  readonly #whole: number;
  /** All bytes so far, while the body may be small. Undefined: it is not. */
  #unread: Buffer[] | undefined = [];
  #unreadBytes = 0;
  /** Everything except inline media. Each medium is replaced by its head and a mark. */
  readonly #outline: Buffer[] = [];
  #outlineBytes = 0;
  /** A random mark, which no client can guess. Created with the first medium. */
  #mark = '';
  readonly #media: InlineMedium[] = [];
  #values = 1;
  /** The previous byte opened a list or an object. */
  #opened = false;
  #inText = false;
  /** The previous chunk ended with a backslash. */
  #escaped = false;
  /** Start of the current text. Undefined: it is not a medium. */
  #head: string | undefined = '';
  /** The current text, once it is known to be a medium. */
  #medium: InlineMedium | undefined;

  /** Bodies of up to `whole` bytes are parsed directly. */
  constructor(limits: BodyLimits, whole: number = small) {
    this.#limits = limits;
    this.#whole = Math.min(whole, limits.textBytes);
  }

  /** @throws Failure 413 or 400 that names the limit, as soon as it is passed */
  push(piece: Buffer): void {
    if (this.#unread === undefined) {
      this.#read(piece);
      return;
    }
    this.#unread.push(piece);
    this.#unreadBytes += piece.length;
    if (this.#unreadBytes <= this.#whole) return;
    const pieces = this.#unread;
    this.#unread = undefined;
    for (const one of pieces) this.#read(one);
  }

  #read(piece: Buffer): void {
    const quotes = new Finder(piece, quote);
    const backslashes = new Finder(piece, backslash);
    /** What was not kept yet, and belongs to the outline. */
    let from = 0;
    let at = 0;
    while (at < piece.length) {
      if (!this.#inText) {
        at = this.#readBetween(piece, at);
      } else if (this.#medium !== undefined) {
        const end = quotes.from(at);
        from = at = this.#readMedium(this.#medium, piece, at, end);
      } else {
        at = this.#readText(piece, at, Math.min(quotes.from(at), backslashes.from(at)));
        if (this.#medium === undefined) continue;
        // A text that turned out to be one.
        this.#keep(piece.subarray(from, at));
        from = at;
      }
    }
    if (this.#medium === undefined) this.#keep(piece.subarray(from));
    const { textBytes } = this.#limits;
    if (this.#outlineBytes > textBytes) throw tooLarge('body', textBytes, besideMedia);
  }

  /**
   * The value: at once where the body is small, else as a promise, and others have their turn in between.
   *
   * @throws Failure 400 for invalid JSON
   */
  end(): { value: unknown } | Promise<{ value: unknown }> {
    if (this.#unread === undefined) return this.#endLarge();
    const value = parseJson(textOf(this.#unread), 'body');
    if (hasMediumAsName(value)) throw mediumAsName();
    return { value };
  }

  async #endLarge(): Promise<{ value: unknown }> {
    const outline = Buffer.concat(this.#outline);
    const text = textOf([outline]);
    const value = this.#media.length === 0 ? parseJson(text, 'body') : await this.#join(text);
    // Parsing a large outline takes long.
    if (outline.length > large) await yieldToEventLoop();
    return { value };
  }

  /** Puts the media back in their places. */
  async #join(outline: string): Promise<unknown> {
    const texts = new Map<string, string>();
    for (const [index, medium] of this.#media.entries())
      texts.set(`${this.#mark}${index}`, await medium.text());
    const marked = new RegExp(`${this.#mark}\\d+$`);
    const value = parseJson(outline, 'body', (_name, inner) => {
      const [mark = ''] = typeof inner === 'string' ? (marked.exec(inner) ?? []) : [];
      const text = texts.get(mark);
      texts.delete(mark);
      return text ?? inner;
    });
    if (texts.size > 0) throw mediumAsName();
    return value;
  }

  /** What stands between texts. Gives the place behind the quote that begins the next one. */
  #readBetween(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length && !this.#inText) {
      const byte = piece[at] ?? 0;
      at += 1;
      // Behind a comma stands one more value, and the first one behind a bracket that is not closed at once; before a
      // colon a name.
      const opens = byte === bracket || byte === brace;
      if (byte === comma || byte === colon || opens) this.#values += 1;
      else if (byte === quote) this.#inText = true;
      else if (this.#opened && (byte === closingBracket || byte === closingBrace)) this.#values -= 1;
      if (byte > space) this.#opened = opens;
    }
    if (this.#values > maxValues)
      throw invalid('body', `has more than ${maxValues} values and names of fields.`);
    return at;
  }

  /** Reads a text up to its next escape or its end, or to where it turns out to be a medium. Gives the place behind. */
  #readText(piece: Buffer, at: number, end: number): number {
    if (this.#escaped) {
      this.#escaped = false;
      // Media hold no other escape than that of a slash, which PHP writes.
      if (piece[at] === slash) this.#grow('/');
      else this.#head = undefined;
      return at + 1;
    }
    const free = this.#head === undefined ? Number.POSITIVE_INFINITY : mediaHead - this.#head.length;
    const until = Math.min(end, at + free);
    if (this.#head !== undefined) this.#grow(piece.toString('latin1', at, until));
    if (until < end || until === piece.length || this.#medium !== undefined) return until;
    if (piece[end] === backslash) this.#escaped = true;
    else this.#closeText();
    return end + 1;
  }

  /** Extends the head of a text. A long enough head decides whether it is a medium. */
  #grow(text: string): void {
    if (this.#head === undefined) return;
    this.#head += text;
    if (this.#head.length < mediaHead) return;
    if (isMediaHead(this.#head)) this.#medium = new InlineMedium(this.#head);
    this.#head = undefined;
  }

  /** Gives the place up to which all is read. */
  #readMedium(medium: InlineMedium, piece: Buffer, at: number, end: number): number {
    if (medium.push(piece.subarray(at, end), end === piece.length)) {
      if (end === piece.length) return end;
      this.#mark ||= randomUUID();
      this.#keep(Buffer.from(`${this.#mark}${this.#media.length}`));
      this.#media.push(medium);
      this.#medium = undefined;
      return end;
    }
    // It is a text like any other, then.
    for (const one of medium.pieces) this.#keep(one);
    this.#escaped = medium.escaped;
    this.#medium = undefined;
    return at;
  }

  #closeText(): void {
    this.#inText = false;
    this.#head = '';
  }

  #keep(piece: Buffer): void {
    this.#outline.push(piece);
    this.#outlineBytes += piece.length;
  }
}

/** @throws Failure 400 */
function textOf(pieces: readonly Buffer[]): string {
  const [first] = pieces;
  const bytes = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
  if (!isUtf8(bytes)) throw invalid('body', 'is not valid UTF-8.');
  return bytes.toString('utf8');
}

function mediumAsName(): Failure {
  return invalid('body', 'has a field whose name is an inline medium.');
}

/** Deeper values are refused by `requirePlainValues`. */
const maxDepth = 100;

function hasMediumAsName(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return false;
  for (const name in value) {
    const isMedium =
      name.length >= mediaHead && isMediaHead(name.slice(0, mediaHead)) && !/[^ -~]|["\\]/.test(name);
    if (isMedium || hasMediumAsName(Reflect.get(value, name), depth + 1)) return true;
  }
  return false;
}

/** Finds the next occurrence of a byte. Positions must be requested in ascending order. */
class Finder {
  readonly #piece: Buffer;
  readonly #byte: number;
  #next = -1;

  constructor(piece: Buffer, byte: number) {
    this.#piece = piece;
    this.#byte = byte;
  }

  /** Returns the length of the chunk if there is none. */
  from(place: number): number {
    if (this.#next >= place) return this.#next;
    const found = this.#piece.indexOf(this.#byte, place);
    this.#next = found < 0 ? this.#piece.length : found;
    return this.#next;
  }
}

/**
 * Parses a client's JSON. `field` is its name in messages; `revive` is the reviver of `JSON.parse`.
 *
 * @throws Failure 400 for invalid JSON
 */
export function parseJson(
  text: string,
  field: string,
  revive?: (name: string, value: unknown) => unknown,
): unknown {
  try {
    return JSON.parse(text, revive);
  } catch (cause) {
    const reported = cause instanceof Error ? cause.message : '';
    const reason = reported.replace(/[\s"']+\.{0,3}.*is not valid JSON.*$/s, '').trim();
    const problem = `is not valid JSON${reason === '' ? '' : ` (${reason})`}.`;
    throw new Failure(400, 'invalid_request', `${field}: ${problem}`, { cause });
  }
}

/** Characters that decide whether a text is an inline medium. */
export const mediaHead = 256;
const base64 = /^[A-Za-z0-9+/]*=*$/;
const notPrintable = /[^ -~]/;
/** Chunks that are joined in one turn of the event loop: a few megabytes. */
const turn = 64;

/** Whether a text that begins so is a data URL or Base64. */
export function isMediaHead(head: string): boolean {
  return (/^data:/i.test(head) || base64.test(head)) && !notPrintable.test(head);
}

/** A text of a JSON body that is a data URL or Base64, kept in its chunks. */
export class InlineMedium {
  readonly #head: string;
  /** Chunks after the head. */
  readonly pieces: Buffer[] = [];
  /** The last chunk ended with a backslash, which is in `pieces` only if this is no medium after all. */
  escaped = false;

  constructor(head: string) {
    this.#head = head;
  }

  /** Adds a chunk, which is not the last one if `open`. Returns false and ignores the chunk if this is no medium. */
  push(piece: Buffer, open: boolean): boolean {
    let text = (this.escaped ? '\\' : '') + piece.toString('latin1');
    const isEscaped = text.includes('\\');
    if (isEscaped) text = text.replaceAll('\\/', '/');
    const escaped = open && text.endsWith('\\');
    if (escaped) text = text.slice(0, -1);
    if (text.includes('\\') || notPrintable.test(text)) {
      if (this.escaped) this.pieces.push(Buffer.from('\\'));
      return false;
    }
    this.pieces.push(isEscaped ? Buffer.from(text, 'latin1') : piece);
    this.escaped = escaped;
    return true;
  }

  /** The text. It is joined over several turns of the event loop. */
  async text(): Promise<string> {
    let text = this.#head;
    for (let from = 0; from < this.pieces.length; from += turn) {
      text += Buffer.concat(this.pieces.slice(from, from + turn)).toString('latin1');
      await yieldToEventLoop();
    }
    // The first access flattens the joined string, which takes long.
    text.charCodeAt(0);
    await yieldToEventLoop();
    return text;
  }
}
