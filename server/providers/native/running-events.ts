const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const closingBrace = 0x7d;
const running = Buffer.from('"finish_reason":"null"');
const codeKey = Buffer.from('"code"');
/** Stands in every event that reports what was used. */
export const usageKey: Buffer = Buffer.from('"usage"');
const audioKey = Buffer.from('"data":"');
const idField = Buffer.from('id:');
const typeField = Buffer.from('event:');
const blankLine = Buffer.from('\n\n');

/**
 * Whether an event is one of many in a synthesis that goes on, by its bytes alone: most are, and need not be read. A
 * quote inside a JSON string is escaped, so text cannot imitate a key.
 */
export function isRunning(event: Buffer): boolean {
  if (!event.includes(running) || event.includes(codeKey)) return false;
  const type = event.indexOf(typeField) + typeField.length;
  if (type >= typeField.length && !isResult(event, type)) return false;
  let end = event.length - 1;
  while (event[end] === lineFeed || event[end] === carriageReturn) end -= 1;
  return event[end] === closingBrace;
}

/** Whether a piece of a stream has audio in its first event that has the field for it. */
export function hasAudio(event: Buffer): boolean {
  const at = event.indexOf(audioKey);
  return at >= 0 && event[at + audioKey.length] !== 0x22;
}

/** Whether a type begins like `result`. */
function isResult(bytes: Buffer, at: number): boolean {
  return bytes[at + (bytes[at] === 0x20 ? 1 : 0)] === 0x72;
}

/**
 * Finds running events in a piece of a stream by the dozen: those that are written like nearly all of them, an id and a
 * type first, and line feeds only. What else there is to ask of an event is asked of the whole piece at once.
 */
export class RunningEvents {
  readonly #piece: Buffer;
  /** No running event goes as far as this; undefined: not looked for yet. */
  #until: number | undefined;

  constructor(piece: Buffer) {
    this.#piece = piece;
  }

  /** The place behind the running events that begin at `from`, one after the other. */
  end(from: number): number {
    const piece = this.#piece;
    let at = from;
    for (;;) {
      const type = typeOf(piece, at);
      if (type < 0 || !isResult(piece, type)) return at;
      const end = piece.indexOf(blankLine, type);
      if (end < 0 || end > this.#limit(from) || piece[end - 1] !== closingBrace) return at;
      const mark = piece.indexOf(running, type);
      if (mark < 0 || mark > end) return at;
      at = end + blankLine.length;
    }
  }

  /** Whether one of the events in between has audio. */
  haveAudio(from: number, to: number): boolean {
    for (let at = from; at < to; ) {
      const end = this.#piece.indexOf(blankLine, at) + blankLine.length;
      if (hasAudio(this.#piece.subarray(at, end))) return true;
      at = end;
    }
    return false;
  }

  /** A copy of the last of the events in between that reports what was used. */
  lastReport(from: number, to: number): Buffer | undefined {
    const bytes = this.#piece.subarray(from, to);
    const at = bytes.lastIndexOf(usageKey);
    if (at < 0) return undefined;
    const before = bytes.lastIndexOf(blankLine, at);
    const start = before < 0 ? 0 : before + blankLine.length;
    return Buffer.from(bytes.subarray(start, bytes.indexOf(blankLine, at) + blankLine.length));
  }

  /** Where the piece has something else than running events have. */
  #limit(from: number): number {
    if (this.#until === undefined || this.#until < from) {
      const places = [this.#piece.indexOf(codeKey, from), this.#piece.indexOf(carriageReturn, from)];
      this.#until = Math.min(...places.map((place) => (place < 0 ? Number.POSITIVE_INFINITY : place)));
    }
    return this.#until;
  }
}

/** Where the type of an event stands that begins with it, or with an id before it; -1: it begins otherwise. */
function typeOf(piece: Buffer, from: number): number {
  let at = from;
  if (startsWith(piece, idField, at)) {
    at += idField.length;
    while (isDigit(piece[at])) at += 1;
    if (piece[at] !== lineFeed) return -1;
    at += 1;
  }
  return startsWith(piece, typeField, at) ? at + typeField.length : -1;
}

function startsWith(piece: Buffer, text: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index += 1) if (piece[at + index] !== text[index]) return false;
  return true;
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
