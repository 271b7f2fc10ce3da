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
/** Longer than any usage object of the native protocol. */
const span = 512;

/**
 * Watches native JSON or events go by and remembers the last `usage` object, without parsing the rest.
 * A quote inside a JSON string is escaped, so text cannot imitate the key.
 */
export class UsageWatch {
  readonly #unit: Unit;
  #edge: Buffer = Buffer.alloc(0);
  #last: Usage | undefined;
  #audio = false;
  #failed = false;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  push(chunk: Buffer): void {
    const window = this.#edge.length === 0 ? chunk : Buffer.concat([this.#edge, chunk]);
    const at = window.lastIndexOf(usageKey);
    if (at >= 0) this.#read(window, at);
    if (!this.#audio) this.#audio = carriesAudio(window);
    if (!this.#failed) this.#failed = errorEvents.some((line) => window.includes(line));
    // What may be the beginning of a usage object, cut by the edge of the chunk, is looked at again.
    this.#edge = Buffer.from(window.subarray(Math.max(0, window.length - span)));
  }

  /** The last usage seen, cumulative as the protocol has it. */
  get usage(): Usage | undefined {
    return this.#last;
  }

  /** Whether any audio has gone by. */
  get audioSeen(): boolean {
    return this.#audio;
  }

  /** Whether an error event has gone by. In JSON text a line break is escaped, so text cannot imitate one. */
  get failed(): boolean {
    return this.#failed;
  }

  #read(window: Buffer, at: number): void {
    const text = window.toString('latin1', at + usageKey.length, at + usageKey.length + span);
    const end = closingBrace(text);
    if (end < 0) {
      // Cut off: an earlier one in the same window is better than none, and the next chunk brings the rest.
      const earlier = at === 0 ? -1 : window.lastIndexOf(usageKey, at - 1);
      if (earlier >= 0) this.#read(window, earlier);
      return;
    }
    try {
      this.#last = readUsage(this.#unit, JSON.parse(text.slice(0, end))) ?? this.#last;
    } catch {
      // Not JSON: the upstream's own fault, and no usage.
    }
  }
}

function closingBrace(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0 && character === '}') return index + 1;
    if (depth === 0 && character === 'n') return -1;
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
