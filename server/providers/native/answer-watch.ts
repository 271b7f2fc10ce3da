import type { Unit } from '../../../generated/catalogue.ts';
import type { Failure } from '../../lib/failure.ts';
import type { Usage } from '../../quota/metering.ts';
import type { ProviderWords } from '../provider-words.ts';
import { ElidedJson } from './elided-json.ts';
import { EventSplitter } from './event-splitter.ts';
import { EventParser } from './events.ts';
import { hasAudio, isRunning, RunningEvents, usageKey } from './running-events.ts';
import { brokenOff, readSpeechEvent, type SpeechEvent } from './speech-event.ts';
import { readUsage } from './usage.ts';

/** Looks at an answer while it passes. */
export interface AnswerWatch {
  /** What may go on now; it keeps none of the piece's bytes, but copies. @throws Failure 502 when the provider sends what is no answer. */
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
    const skipper = new RunningEvents(piece);
    // Events that need no change are not taken apart.
    let unchanged = 0;
    let from = 0;
    for (;;) {
      if (this.#heldSize === 0 && this.#splitter.fresh) from = this.#skip(skipper, from);
      const end = this.#splitter.next(piece, from);
      if (end < 0) break;
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

  /** Takes all running events that begin here, and gives the place behind them. */
  #skip(events: RunningEvents, from: number): number {
    const end = events.end(from);
    if (end === from) return from;
    this.delivered ||= events.haveAudio(from, end);
    this.#unread = events.lastReport(from, end) ?? this.#unread;
    return end;
  }

  #hold(rest: Buffer, out: Buffer[]): void {
    if (rest.length === 0) return;
    this.#heldSize += rest.length;
    if (!this.#long && this.#heldSize <= maxHeldBytes) {
      this.#held.push(Buffer.from(rest));
      return;
    }
    this.#long = true;
    const parts = [...this.#held, rest];
    for (const part of parts) this.#elided.push(part);
    out.push(...parts);
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
      if (whole.includes(usageKey)) this.#unread = Buffer.from(whole);
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
