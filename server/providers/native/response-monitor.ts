import type { Unit } from '../../../generated/catalogue.ts';
import type { Failure } from '../../lib/failure.ts';
import type { Usage } from '../../quota/metering.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { readUsage } from '../token-usage.ts';
import { ElidedJson } from './elided-json.ts';
import { type ChargeableEvent, withCharge } from './event-charge.ts';
import { EventSplitter } from './event-splitter.ts';
import { EventParser } from './events.ts';
import { hasAudio, isRunning, RunningEvents, usageKey } from './running-events.ts';
import { incompleteStream, readSpeechEvent, type SpeechEvent } from './speech-event.ts';

/** Inspects a response while it is forwarded. */
export interface ResponseMonitor {
  /** Returns the bytes to send. Copies bytes that it keeps. @throws Failure 502 for an invalid response */
  write(chunk: Buffer): readonly Buffer[];
  /** Returns the remaining bytes, except held ones. @throws Failure 502 for an incomplete response */
  end(): readonly Buffer[];
  /** Returns the held bytes, with the charged quota if it is known. */
  release(charged?: number): readonly Buffer[];
  /** The last report, cumulative. */
  readonly usage: Usage | undefined;
  readonly delivered: boolean;
  /** Set if a valid response reports that the synthesis failed. */
  readonly failure: Failure | undefined;
}

/** A longer event is forwarded before its end. Failures are shorter. */
const maxBufferedBytes = 64 * 1024;

/** The last event of a stream, which waits for the charge. */
interface LastEvent extends ChargeableEvent {
  readonly hasAudio: boolean;
}

/**
 * Inspects native events. Forwards each complete event, and long ones with audio as they arrive. Holds the last event, or
 * its end if it is long, until `release`. All bytes stay unchanged, except redacted texts of a failure and the charge.
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
  #held: { readonly event: LastEvent; readonly bytes: Buffer } | undefined;
  /** Bytes after the held event, such as the rest of a line end. */
  #trailing: readonly Buffer[] = [];
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
      if (this.#held === undefined && this.#bufferedSize === 0 && this.#splitter.isBetweenEvents)
        from = this.#skipRunning(runningEvents, from);
      const end = this.#splitter.next(chunk, from);
      if (end < 0) break;
      const { parts, isForwarded } = this.#endEvent(chunk.subarray(from, end));
      if (!isForwarded || parts.length > 0) {
        if (from > unchanged) out.push(chunk.subarray(unchanged, from));
        out.push(...parts);
        unchanged = isForwarded ? from : end;
      }
      from = end;
    }
    if (from > unchanged) out.push(chunk.subarray(unchanged, from));
    this.#buffer(chunk.subarray(from), out);
    return out;
  }

  end(): readonly Buffer[] {
    const heldBefore = this.#held;
    const { parts } = this.#endEvent(Buffer.alloc(0));
    if (!this.#isComplete && this.failure === undefined) throw incompleteStream();
    this.delivered ||= this.#held?.event.hasAudio === true;
    if (this.#held === undefined || this.#held !== heldBefore) return parts;
    this.#trailing = parts;
    return [];
  }

  release(charged?: number): readonly Buffer[] {
    const held = this.#held;
    if (held === undefined) return [];
    this.#held = undefined;
    this.delivered ||= held.event.hasAudio;
    const bytes = charged === undefined ? held.bytes : withCharge(held.bytes, held.event, charged);
    return [bytes, ...this.#trailing];
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
    const bytes = this.#buffered.length === 0 ? rest : Buffer.concat([...this.#buffered, rest]);
    const isFirst = this.#elided === undefined;
    this.#elided ??= new ElidedJson();
    this.#elided.push(isFirst ? bytes : rest);
    // The usage of the last event may follow its audio.
    const keptSize = Math.min(this.#elided.bytesAfterCut, maxBufferedBytes, bytes.length);
    const sent = bytes.length - keptSize;
    if (sent > 0) out.push(...this.release(), bytes.subarray(0, sent));
    this.#buffered = keptSize === 0 ? [] : [Buffer.from(bytes.subarray(sent))];
    this.#bufferedSize = keptSize;
  }

  /** Ends the buffered event with these bytes. Returns what to send before them, and whether to forward them as well. */
  #endEvent(rest: Buffer): { parts: readonly Buffer[]; isForwarded: boolean } {
    const reading = this.#readEvent(rest);
    const buffered = this.#buffered;
    this.#buffered = [];
    this.#bufferedSize = 0;
    // A comment may precede the held event.
    const released = reading === 'comment' ? [] : this.release();
    if (reading === 'comment' || reading === 'forwarded')
      return { parts: [...released, ...buffered], isForwarded: true };
    const bytes = Buffer.concat([...buffered, rest]);
    if (reading === 'failure')
      return { parts: [...released, this.#redactor.redactJson(bytes)], isForwarded: false };
    this.#held = { event: reading, bytes };
    return { parts: released, isForwarded: false };
  }

  /** Reads the event that ends with these bytes. A failure must be redacted. */
  #readEvent(rest: Buffer): 'comment' | 'forwarded' | 'failure' | LastEvent {
    const elided = this.#elided;
    this.#elided = undefined;
    elided?.push(rest);
    const whole = this.#buffered.length === 0 ? rest : Buffer.concat([...this.#buffered, rest]);
    if (elided === undefined && isRunning(whole)) {
      this.delivered ||= hasAudio(whole);
      if (whole.includes(usageKey)) this.#unparsedReport = Buffer.from(whole);
      return 'forwarded';
    }
    const text = elided?.text ?? whole.toString('latin1');
    const event = this.#parse(text);
    if (event === undefined) return 'comment';
    if (event.failure !== undefined) {
      // Text that was already forwarded cannot be redacted.
      if (elided !== undefined || event.isAccountError) throw event.failure;
      this.failure = event.failure;
      return 'failure';
    }
    const reported = readUsage(this.#unit, event.usage);
    if (reported !== undefined) {
      this.#usage = reported;
      this.#unparsedReport = undefined;
    }
    if (event.isLast) {
      this.#isComplete = true;
      // The audio of a long event was already forwarded.
      this.delivered ||= elided !== undefined && event.hasAudio;
      const { usage, hasAudio: withAudio } = event;
      return { text, wholeBytes: elided?.bytesAfterCut ?? whole.length, usage, hasAudio: withAudio };
    }
    this.delivered ||= event.hasAudio;
    return 'forwarded';
  }

  #parse(lines: string): SpeechEvent | undefined {
    const event = this.#parser.parse(lines);
    return event && readSpeechEvent(event, this.#redactor);
  }
}
