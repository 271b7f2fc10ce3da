const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const closingBrace = 0x7d;
const running = Buffer.from('"finish_reason":"null"');
const codeKey = Buffer.from('"code"');
/** Key in every event with a usage report. */
export const usageKey: Buffer = Buffer.from('"usage"');
const audioKey = Buffer.from('"data":"');
const idField = Buffer.from('id:');
const typeField = Buffer.from('event:');
const blankLine = Buffer.from('\n\n');

/** Whether an event needs no parsing. Text cannot imitate a key, because quotes in JSON strings are escaped. */
export function isRunning(event: Buffer): boolean {
  if (!event.includes(running) || event.includes(codeKey)) return false;
  const type = event.indexOf(typeField) + typeField.length;
  if (type >= typeField.length && !isResult(event, type)) return false;
  let end = event.length - 1;
  while (event[end] === lineFeed || event[end] === carriageReturn) end -= 1;
  return event[end] === closingBrace;
}

/** Whether the first audio field in a chunk is not empty. */
export function hasAudio(event: Buffer): boolean {
  const at = event.indexOf(audioKey);
  return at >= 0 && event[at + audioKey.length] !== 0x22;
}

/** Whether an event type starts like `result`. */
function isResult(bytes: Buffer, at: number): boolean {
  return bytes[at + (bytes[at] === 0x20 ? 1 : 0)] === 0x72;
}

/**
 * Finds sequences of running events in the usual layout: id and type first, and line feeds only. Searches for exceptions
 * once per chunk instead of once per event, which is much faster.
 */
export class RunningEvents {
  readonly #chunk: Buffer;
  /** Index of the next byte that running events do not have. Undefined before the first search. */
  #nextOther: number | undefined;

  constructor(chunk: Buffer) {
    this.#chunk = chunk;
  }

  /** Returns the index after the consecutive running events from `from`. */
  end(from: number): number {
    const chunk = this.#chunk;
    let at = from;
    for (;;) {
      const type = typeOf(chunk, at);
      if (type < 0 || !isResult(chunk, type)) return at;
      const end = chunk.indexOf(blankLine, type);
      if (end < 0 || end > this.#limit(from) || chunk[end - 1] !== closingBrace) return at;
      const mark = chunk.indexOf(running, type);
      if (mark < 0 || mark > end) return at;
      at = end + blankLine.length;
    }
  }

  haveAudio(from: number, to: number): boolean {
    for (let at = from; at < to; ) {
      const end = this.#chunk.indexOf(blankLine, at) + blankLine.length;
      if (hasAudio(this.#chunk.subarray(at, end))) return true;
      at = end;
    }
    return false;
  }

  /** Returns a copy of the last event in the range with a usage report. */
  lastReport(from: number, to: number): Buffer | undefined {
    const bytes = this.#chunk.subarray(from, to);
    const at = bytes.lastIndexOf(usageKey);
    if (at < 0) return undefined;
    const before = bytes.lastIndexOf(blankLine, at);
    const start = before < 0 ? 0 : before + blankLine.length;
    return Buffer.from(bytes.subarray(start, bytes.indexOf(blankLine, at) + blankLine.length));
  }

  /** Finds the next byte that running events do not have. */
  #limit(from: number): number {
    if (this.#nextOther === undefined || this.#nextOther < from) {
      const places = [this.#chunk.indexOf(codeKey, from), this.#chunk.indexOf(carriageReturn, from)];
      this.#nextOther = Math.min(...places.map((place) => (place < 0 ? Number.POSITIVE_INFINITY : place)));
    }
    return this.#nextOther;
  }
}

/** Index of the type of an event that starts with it, or with an id and a type. -1 for another layout. */
function typeOf(chunk: Buffer, from: number): number {
  let at = from;
  if (startsWith(chunk, idField, at)) {
    at += idField.length;
    while (isDigit(chunk[at])) at += 1;
    if (chunk[at] !== lineFeed) return -1;
    at += 1;
  }
  return startsWith(chunk, typeField, at) ? at + typeField.length : -1;
}

function startsWith(chunk: Buffer, text: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index += 1) if (chunk[at + index] !== text[index]) return false;
  return true;
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
