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
  /** Returns the held bytes. States the charged quota in them, which is possible only after `end`. */
  release(charged?: number): readonly Buffer[];
  /** The last valid report, cumulative. */
  readonly usage: Usage | undefined;
  /** Whether audio was returned to be sent, or is in the held bytes after `end`. */
  readonly delivered: boolean;
  /** Set if a valid response reports that the synthesis failed. */
  readonly failure: Failure | undefined;
}

/** A longer event is forwarded before its end. If it is a failure, the response aborts, since it can no longer be redacted. */
const maxBufferedBytes = 64 * 1024;

/** The last event of a stream, which waits for the charge. */
interface LastEvent extends ChargeableEvent {
  readonly hasAudio: boolean;
}

/**
 * Inspects native events. Forwards each complete event, and long ones with audio as they arrive. Holds the last event, or
 * its end if it is long, until `release`. A comment that follows the held event is sent before it. All bytes stay unchanged,
 * except redacted texts of a failure and the charge.
 */
export class EventMonitor implements ResponseMonitor {
  readonly #unit: Unit;
  readonly #redactor: ProviderRedactor;
  readonly #splitter = new EventSplitter();
  readonly #parser = new EventParser();
  /** A long event without its audio. Undefined while the event is short. */
  #longEvent: ElidedJson | undefined;
  #buffered: Buffer[] = [];
  #bufferedSize = 0;
  #isComplete = false;
  #usage: Usage | undefined;
  /** An event with a later report than `#usage`, which is parsed only when needed. */
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
    try {
      this.#parseReport();
    } catch {
      // Without a valid report, the call is charged for the expected usage.
    }
    return this.#usage;
  }

  write(chunk: Buffer): readonly Buffer[] {
    const out: Buffer[] = [];
    const runningEvents = new RunningEvents(chunk);
    // Start of the bytes to forward that are not in `out` yet.
    let unsent = 0;
    let from = 0;
    for (;;) {
      if (this.#held === undefined && this.#bufferedSize === 0 && this.#splitter.isBetweenEvents)
        from = this.#skipRunning(runningEvents, from);
      const end = this.#splitter.next(chunk, from);
      if (end < 0) break;
      const { parts, forwardsRest } = this.#endEvent(chunk.subarray(from, end));
      if (!forwardsRest || parts.length > 0) {
        if (from > unsent) out.push(chunk.subarray(unsent, from));
        out.push(...parts);
        unsent = forwardsRest ? from : end;
      }
      from = end;
    }
    if (from > unsent) out.push(chunk.subarray(unsent, from));
    this.#buffer(chunk.subarray(from), out);
    return out;
  }

  end(): readonly Buffer[] {
    const heldBefore = this.#held;
    const { parts } = this.#endEvent(Buffer.alloc(0));
    this.#parseReport();
    if (!this.#isComplete && this.failure === undefined) throw incompleteStream();
    this.delivered ||= this.#held?.event.hasAudio === true;
    // These bytes follow an event that was held before. If they are an event of their own, they released it.
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

  /** @throws Failure 502 for an invalid event */
  #parseReport(): void {
    const report = this.#unparsedReport;
    if (report === undefined) return;
    this.#unparsedReport = undefined;
    const { usage } = this.#parse(report.toString('latin1')) ?? {};
    this.#usage = readUsage(this.#unit, usage) ?? this.#usage;
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
    if (this.#longEvent === undefined && this.#bufferedSize <= maxBufferedBytes) {
      this.#buffered.push(Buffer.from(rest));
      return;
    }
    const bytes = this.#buffered.length === 0 ? rest : Buffer.concat([...this.#buffered, rest]);
    const isFirst = this.#longEvent === undefined;
    this.#longEvent ??= new ElidedJson();
    this.#longEvent.push(isFirst ? bytes : rest);
    // The usage of the last event may follow its audio.
    const keptSize = Math.min(this.#longEvent.bytesAfterCut, maxBufferedBytes);
    const sent = bytes.length - keptSize;
    if (sent > 0) out.push(...this.release(), bytes.subarray(0, sent));
    this.#buffered = keptSize === 0 ? [] : [Buffer.from(bytes.subarray(sent))];
    this.#bufferedSize = keptSize;
  }

  /** Ends the buffered event with these bytes. Returns what to send before them, and whether to forward them as well. */
  #endEvent(rest: Buffer): { parts: readonly Buffer[]; forwardsRest: boolean } {
    const reading = this.#readEvent(rest);
    const buffered = this.#buffered;
    this.#buffered = [];
    this.#bufferedSize = 0;
    // A comment may precede the held event.
    const released = reading === 'noData' ? [] : this.release();
    if (reading === 'noData' || reading === 'forwarded')
      return { parts: [...released, ...buffered], forwardsRest: true };
    const bytes = Buffer.concat([...buffered, rest]);
    if (reading === 'failure')
      return { parts: [...released, this.#redactor.redactNativeJson(bytes)], forwardsRest: false };
    this.#held = { event: reading, bytes };
    return { parts: released, forwardsRest: false };
  }

  /** Reads the event that ends with these bytes. A failure must be redacted. */
  #readEvent(rest: Buffer): 'noData' | 'forwarded' | 'failure' | LastEvent {
    const longEvent = this.#longEvent;
    this.#longEvent = undefined;
    longEvent?.push(rest);
    const whole = this.#buffered.length === 0 ? rest : Buffer.concat([...this.#buffered, rest]);
    if (longEvent === undefined && isRunning(whole)) {
      this.delivered ||= hasAudio(whole);
      if (whole.includes(usageKey)) this.#unparsedReport = Buffer.from(whole);
      return 'forwarded';
    }
    const text = longEvent?.text ?? whole.toString('latin1');
    const event = this.#parse(text);
    if (event === undefined) return 'noData';
    if (event.failure !== undefined) {
      // Text that was already forwarded cannot be redacted.
      if (longEvent !== undefined || event.isAccountError) throw event.failure;
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
      this.delivered ||= longEvent !== undefined && event.hasAudio;
      const { usage, hasAudio: withAudio } = event;
      return { text, bytesAfterCut: longEvent?.bytesAfterCut ?? whole.length, usage, hasAudio: withAudio };
    }
    this.delivered ||= event.hasAudio;
    return 'forwarded';
  }

  #parse(lines: string): SpeechEvent | undefined {
    const event = this.#parser.parse(lines);
    return event && readSpeechEvent(event, this.#redactor);
  }
}
