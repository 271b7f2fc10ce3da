import type { Unit } from '../../../generated/catalogue.ts';
import type { Failure } from '../../lib/failure.ts';
import type { Usage } from '../../quota/metering.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { readUsage } from '../token-usage.ts';
import { ElidedJson } from './elided-json.ts';
import { EventSplitter } from './event-splitter.ts';
import { EventParser } from './events.ts';
import { hasAudio, isRunning, RunningEvents, usageKey } from './running-events.ts';
import { incompleteStream, readSpeechEvent, type SpeechEvent } from './speech-event.ts';

/** Inspects a response while it is forwarded. */
export interface ResponseMonitor {
  /** Returns the bytes to send. Copies bytes that it keeps. @throws Failure 502 for an invalid response */
  write(chunk: Buffer): readonly Buffer[];
  /** Returns the remaining bytes. @throws Failure 502 for an incomplete response */
  end(): readonly Buffer[];
  /** The last report, cumulative. */
  readonly usage: Usage | undefined;
  readonly delivered: boolean;
  /** Set if a valid response reports that the synthesis failed. */
  readonly failure: Failure | undefined;
}

/** A longer event is forwarded before its end. Failures are shorter. */
const maxBufferedBytes = 64 * 1024;

/**
 * Inspects native events. Forwards each complete event, and long ones with audio as they arrive. All bytes stay
 * unchanged, except redacted texts of a failure.
 */
export class EventMonitor implements ResponseMonitor {
  readonly #unit: Unit;
  readonly #redactor: ProviderRedactor;
  readonly #splitter = new EventSplitter();
  readonly #parser = new EventParser();
  /** A long event without its audio. Undefined while the event is short. */
  #elided: ElidedJson | undefined;
  #buffered: Buffer[] = [];
  #bufferedSize = 0;
  #isComplete = false;
  #usage: Usage | undefined;
  /** A later event with a report, which is parsed only when needed. */
  #unparsedReport: Buffer | undefined;
  delivered = false;
  failure: Failure | undefined;

  constructor(unit: Unit, redactor: ProviderRedactor) {
    this.#unit = unit;
    this.#redactor = redactor;
  }

  get usage(): Usage | undefined {
    if (this.#unparsedReport !== undefined) {
      const { usage } = this.#parse(this.#unparsedReport.toString('latin1')) ?? {};
      this.#unparsedReport = undefined;
      this.#usage = readUsage(this.#unit, usage) ?? this.#usage;
    }
    return this.#usage;
  }

  write(chunk: Buffer): readonly Buffer[] {
    const out: Buffer[] = [];
    const runningEvents = new RunningEvents(chunk);
    // Start of the bytes to forward unchanged.
    let unchanged = 0;
    let from = 0;
    for (;;) {
      if (this.#bufferedSize === 0 && this.#splitter.isBetweenEvents)
        from = this.#skipRunning(runningEvents, from);
      const end = this.#splitter.next(chunk, from);
      if (end < 0) break;
      const event = chunk.subarray(from, end);
      if (this.#readEvent(event)) {
        out.push(chunk.subarray(unchanged, from), this.#redacted(event));
        unchanged = end;
      } else out.push(...this.#buffered);
      this.#buffered = [];
      this.#bufferedSize = 0;
      from = end;
    }
    if (from > unchanged) out.push(chunk.subarray(unchanged, from));
    this.#buffer(chunk.subarray(from), out);
    return out;
  }

  end(): readonly Buffer[] {
    const empty = Buffer.alloc(0);
    const rest = this.#readEvent(empty) ? [this.#redacted(empty)] : this.#buffered;
    if (!this.#isComplete && this.failure === undefined) throw incompleteStream();
    return rest;
  }

  /** Skips all running events from an index. Returns the index after them. */
  #skipRunning(events: RunningEvents, from: number): number {
    const end = events.end(from);
    if (end === from) return from;
    this.delivered ||= events.haveAudio(from, end);
    this.#unparsedReport = events.lastReport(from, end) ?? this.#unparsedReport;
    return end;
  }

  #buffer(rest: Buffer, out: Buffer[]): void {
    if (rest.length === 0) return;
    this.#bufferedSize += rest.length;
    if (this.#elided === undefined && this.#bufferedSize <= maxBufferedBytes) {
      this.#buffered.push(Buffer.from(rest));
      return;
    }
    this.#elided ??= new ElidedJson();
    const parts = [...this.#buffered, rest];
    for (const part of parts) this.#elided.push(part);
    out.push(...parts);
    this.#buffered = [];
    this.#bufferedSize = 0;
  }

  #redacted(rest: Buffer): Buffer {
    return this.#redactor.redactJson(Buffer.concat([...this.#buffered, rest]));
  }

  /** Reads the event that ends with these bytes. Returns whether it must be redacted as a failure. */
  #readEvent(rest: Buffer): boolean {
    const elided = this.#elided;
    this.#elided = undefined;
    elided?.push(rest);
    const whole = this.#buffered.length === 0 ? rest : Buffer.concat([...this.#buffered, rest]);
    if (elided === undefined && isRunning(whole)) {
      this.delivered ||= hasAudio(whole);
      if (whole.includes(usageKey)) this.#unparsedReport = Buffer.from(whole);
      return false;
    }
    const event = this.#parse(elided?.text ?? whole.toString('latin1'));
    if (event === undefined) return false;
    if (event.failure !== undefined) {
      // Text that was already forwarded cannot be redacted.
      if (elided !== undefined || event.isAccountError) throw event.failure;
      this.failure = event.failure;
      return true;
    }
    const reported = readUsage(this.#unit, event.usage);
    if (reported !== undefined) {
      this.#usage = reported;
      this.#unparsedReport = undefined;
    }
    this.delivered ||= event.hasAudio;
    this.#isComplete ||= event.isLast;
    return false;
  }

  #parse(lines: string): SpeechEvent | undefined {
    const event = this.#parser.parse(lines);
    return event && readSpeechEvent(event, this.#redactor);
  }
}
