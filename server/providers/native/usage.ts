import type { Unit } from '../../../generated/catalogue.ts';
import type { Usage } from '../../ledger/metering.ts';

/**
 * Reads a native `usage` object in the model's unit: characters, or input and output tokens.
 * Undefined when it reports nothing usable in that unit.
 */
export function readUsage(unit: Unit, report: unknown): Usage | undefined {
  if (typeof report !== 'object' || report === null) return undefined;
  const inputTokens = count(report, 'input_tokens');
  const outputTokens = count(report, 'output_tokens');
  const units = unit === 'characters' ? count(report, 'characters') : sum(inputTokens, outputTokens);
  if (units === undefined) return undefined;
  return { units, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

/** No request uses more; a larger figure is the upstream's nonsense and must not become a bill. */
const mostUnits = 1e9;

function count(report: object, name: string): number | undefined {
  const value: unknown = (report as Record<string, unknown>)[name];
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostUnits
    ? value
    : undefined;
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}

const usageKey = Buffer.from('"usage":');
const errorEvents = ['\nevent:error\n', '\nevent: error\n'];
/** Longer than any usage object of the native protocol with what follows it in its event. */
const span = 512;
/** So many bytes are looked at together: a stream of small pieces is not searched piece by piece. */
const atOnce = 32 * 1024;
/** So many lines are looked at from the end of a piece: some events, of which not each reports usage. */
const lines = 40;
const lineFeed = 0x0a;

/**
 * Watches native JSON or events go by and remembers the last `usage` object, looking only where one can stand:
 * at the ends of lines. A quote inside a JSON string is escaped, so text cannot imitate the key.
 */
export class UsageWatch {
  readonly #unit: Unit;
  /** The end of what was looked at, so that nothing is cut by the edge between two looks. */
  #tail: Buffer = Buffer.alloc(0);
  #waiting: Buffer[] = [];
  #size = 0;
  #last: Usage | undefined;
  #audio = false;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  push(chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= atOnce) this.#look();
  }

  /** The last usage seen, cumulative as the protocol has it. */
  get usage(): Usage | undefined {
    this.#look();
    // JSON without a line feed at its end has its usage in the tail.
    return this.#read(this.#tail.subarray(-span)) ?? this.#last;
  }

  /** Whether any audio has gone by. */
  get audioSeen(): boolean {
    this.#look();
    return this.#audio;
  }

  /** Whether the last event is an error. In JSON text a line break is escaped, so text cannot imitate one. */
  get failed(): boolean {
    this.#look();
    return errorEvents.some((line) => this.#tail.includes(line));
  }

  #look(): void {
    if (this.#size === 0) return;
    const window = Buffer.concat([this.#tail, ...this.#waiting]);
    this.#waiting = [];
    this.#size = 0;
    this.#lookAtLines(window);
    this.#audio ||= carriesAudio(window);
    this.#tail = window.subarray(-4 * span);
  }

  #lookAtLines(window: Buffer): void {
    let end = window.lastIndexOf(lineFeed);
    for (let line = 0; line < lines && end > 0; line += 1) {
      const start = window.lastIndexOf(lineFeed, end - 1);
      const usage = this.#read(window.subarray(Math.max(start + 1, end - span), end));
      if (usage !== undefined) {
        this.#last = usage;
        return;
      }
      end = start;
    }
  }

  #read(text: Buffer): Usage | undefined {
    const at = text.length < usageKey.length ? -1 : text.lastIndexOf(usageKey);
    if (at < 0) return undefined;
    const value = text.toString('latin1', at + usageKey.length);
    const end = closingBrace(value);
    if (end < 0) return undefined;
    try {
      return readUsage(this.#unit, JSON.parse(value.slice(0, end)));
    } catch {
      // Not JSON: the upstream's own fault, and no usage.
      return undefined;
    }
  }
}

/** The index after the object that a text begins with, or -1 when it does not begin with a whole one. */
function closingBrace(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0 && character !== ' ') return character === '}' ? index + 1 : -1;
  }
  return -1;
}

/** A non-empty `data` or `audio` string: Base64 or hexadecimal audio. */
function carriesAudio(window: Buffer): boolean {
  return ['"data":"', '"audio":"'].some((key) => {
    for (let at = window.indexOf(key); at >= 0; at = window.indexOf(key, at + key.length)) {
      const next = window[at + key.length];
      if (next !== undefined && next !== 0x22) return true;
    }
    return false;
  });
}
