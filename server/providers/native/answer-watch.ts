import type { Unit } from '../../../generated/catalogue.ts';
import type { Failure } from '../../failure.ts';
import type { Usage } from '../../ledger/metering.ts';
import type { ProviderWords } from '../provider-words.ts';
import { ElidedJson } from './elided-json.ts';
import { EventSplitter } from './event-splitter.ts';
import { EventParser } from './events.ts';
import { brokenOff, readSpeechEvent, type SpeechEvent } from './speech-event.ts';
import { readUsage } from './usage.ts';

/** Looks at an answer while it passes. */
export interface AnswerWatch {
  /** What may go on now. @throws Failure 502 when the provider sends what is no answer. */
  take(piece: Buffer): readonly Buffer[];
  /** What is left at the end. @throws Failure 502 when the answer is not whole. */
  end(): readonly Buffer[];
  /** The last figure seen, cumulative as the protocol has it. */
  readonly usage: Usage | undefined;
  /** Whether any audio has gone by. */
  readonly delivered: boolean;
  /** The answer is of the protocol, and tells that the synthesis failed. */
  readonly failure: Failure | undefined;
}

/** Bytes of an unfinished event that wait for its end; failures are shorter. */
const maxHeldBytes = 64 * 1024;

/**
 * Watches native events. Each goes on when it is whole, which no client could use before; only long ones, which hold
 * audio, go on as they come. All pass byte for byte, but for what a failure says of the provider.
 */
export class EventWatch implements AnswerWatch {
  readonly #unit: Unit;
  readonly #words: ProviderWords;
  readonly #splitter = new EventSplitter();
  readonly #parser = new EventParser();
  /** What a long event says, whose beginning has gone on. */
  readonly #elided = new ElidedJson();
  #long = false;
  #held: Buffer[] = [];
  #heldSize = 0;
  #last = false;
  #usage: Usage | undefined;
  /** A later report, which has not been read. */
  #unread: Buffer | undefined;
  delivered = false;
  failure: Failure | undefined;

  constructor(unit: Unit, words: ProviderWords) {
    this.#unit = unit;
    this.#words = words;
  }

  get usage(): Usage | undefined {
    if (this.#unread !== undefined) {
      const { usage } = this.#parse(this.#unread.toString('latin1')) ?? {};
      this.#unread = undefined;
      this.#usage = readUsage(this.#unit, usage) ?? this.#usage;
    }
    return this.#usage;
  }

  take(piece: Buffer): readonly Buffer[] {
    const out: Buffer[] = [];
    // Events that need no change are not taken apart.
    let unchanged = 0;
    let from = 0;
    for (const end of this.#splitter.ends(piece)) {
      const event = piece.subarray(from, end);
      if (this.#fails(event)) {
        out.push(piece.subarray(unchanged, from), this.#cleaned(event));
        unchanged = end;
      } else out.push(...this.#held);
      this.#held = [];
      this.#heldSize = 0;
      from = end;
    }
    if (from > unchanged) out.push(piece.subarray(unchanged, from));
    this.#hold(piece.subarray(from), out);
    return out;
  }

  end(): readonly Buffer[] {
    const nothing = Buffer.alloc(0);
    const rest = this.#fails(nothing) ? [this.#cleaned(nothing)] : this.#held;
    if (!this.#last && this.failure === undefined) throw brokenOff();
    return rest;
  }

  #hold(rest: Buffer, out: Buffer[]): void {
    if (rest.length === 0) return;
    this.#held.push(rest);
    this.#heldSize += rest.length;
    if (!this.#long && this.#heldSize <= maxHeldBytes) return;
    this.#long = true;
    for (const part of this.#held) this.#elided.push(part);
    out.push(...this.#held);
    this.#held = [];
    this.#heldSize = 0;
  }

  #cleaned(rest: Buffer): Buffer {
    return this.#words.json(Buffer.concat([...this.#held, rest]));
  }

  /** Takes the event that ends with these bytes, if it is one. Whether it reports a failure. */
  #fails(rest: Buffer): boolean {
    const long = this.#long;
    this.#long = false;
    if (long) this.#elided.push(rest);
    const whole = long || this.#held.length === 0 ? rest : Buffer.concat([...this.#held, rest]);
    if (!long && isRunning(whole)) {
      this.delivered ||= hasAudio(whole);
      if (whole.includes(usageKey)) this.#unread = whole;
      return false;
    }
    const event = this.#parse(long ? this.#elided.take() : whole.toString('latin1'));
    if (event === undefined) return false;
    if (event.failure === undefined) {
      this.#note(event);
      return false;
    }
    // The words that have gone on cannot be taken back.
    if (long || event.ours) throw event.failure;
    this.failure = event.failure;
    return true;
  }

  #note({ usage, audio, last }: SpeechEvent): void {
    const reported = readUsage(this.#unit, usage);
    if (reported !== undefined) {
      this.#usage = reported;
      this.#unread = undefined;
    }
    this.delivered ||= audio;
    this.#last ||= last;
  }

  #parse(lines: string): SpeechEvent | undefined {
    const event = this.#parser.parse(lines);
    return event && readSpeechEvent(event, this.#words);
  }
}

const running = Buffer.from('"finish_reason":"null"');
const codeKey = Buffer.from('"code"');
const usageKey = Buffer.from('"usage"');
const audioKey = Buffer.from('"data":"');
const typeField = Buffer.from('event:');

/**
 * Whether an event is one of many in a synthesis that goes on, by its bytes alone: most are, and need not be read. A
 * quote inside a JSON string is escaped, so text cannot imitate a key.
 */
function isRunning(event: Buffer): boolean {
  if (!event.includes(running) || event.includes(codeKey)) return false;
  const type = event.indexOf(typeField) + typeField.length;
  // Of a type that begins like `result`, or of none.
  if (type >= typeField.length && event[type + (event[type] === 0x20 ? 1 : 0)] !== 0x72) return false;
  let end = event.length - 1;
  while (event[end] === 0x0a || event[end] === 0x0d) end -= 1;
  return event[end] === 0x7d;
}

function hasAudio(event: Buffer): boolean {
  const at = event.indexOf(audioKey);
  return at >= 0 && event[at + audioKey.length] !== 0x22;
}
