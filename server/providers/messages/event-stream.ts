import { Failure } from '../../lib/failure.ts';
import { field, textField } from '../json.ts';
import { EventSplitter } from '../native/event-splitter.ts';
import { EventParser } from '../native/events.ts';
import type { ProviderWords } from '../provider-words.ts';
import { unusableResponse } from '../unusable.ts';
import { reportedError } from './reported-error.ts';
import type { TokenTally } from './token-tally.ts';
import { finished, readMessage } from './whole-message.ts';

/** Longest event, in bytes: a page or a file that a tool of the provider has read stands in one. */
const maxEventBytes = 16 * 1024 * 1024;

/** What the public events are made with. */
export interface StreamedMessage {
  /** The model's public id. */
  model: string;
  tally: TokenTally;
  words: ProviderWords;
}

/**
 * The public events of a message, made of a provider's while they come. Those that need no change pass byte for byte.
 * The last one comes when `finish` has resolved; nothing comes before the message has begun.
 *
 * @throws Failure for an error that the provider reports, 502 for what is no message or ends too early
 */
export async function* publicEvents(
  body: AsyncIterable<Buffer>,
  message: StreamedMessage,
  finish: () => Promise<void>,
): AsyncGenerator<Buffer> {
  const splitter = new EventSplitter();
  const translator = new EventTranslator(message);
  let held: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    const out: Buffer[] = [];
    let from = 0;
    try {
      for (const end of splitter.ends(piece)) {
        held.push(piece.subarray(from, end));
        out.push(...translator.take(Buffer.concat(held)));
        held = [];
        size = 0;
        from = end;
        if (translator.last !== undefined) break;
      }
    } finally {
      // What came before a failure goes on, however the packets were cut.
      if (out.length > 0) yield Buffer.concat(out);
    }
    if (translator.last !== undefined) {
      await finish();
      yield translator.last;
      return;
    }
    held.push(piece.subarray(from));
    size += piece.length - from;
    if (size > maxEventBytes) throw unusableResponse();
  }
  throw new Failure(502, 'bad_response', 'The provider broke off.');
}

/** Turns the events of one message into public ones. */
class EventTranslator {
  readonly #message: StreamedMessage;
  readonly #parser = new EventParser();
  #begun = false;
  /** The event that ends the message. */
  last: Buffer | undefined;

  constructor(message: StreamedMessage) {
    this.#message = message;
  }

  /** What goes on in the place of an event. */
  take(event: Buffer): readonly Buffer[] {
    const lines = event.toString('utf8');
    const text = this.#parser.parse(lines)?.data;
    // A comment, which keeps the connection open.
    if (text === undefined) return this.#begun ? [event] : [];
    const { type, data } = parsed(text);
    if (type === 'error') throw reportedError(data, this.#message.words);
    if (type === 'message_start') return [this.#begin(data)];
    if (!this.#begun) {
      if (type === 'ping') return [];
      throw unusableResponse();
    }
    if (type === 'message_delta') return [this.#nearEnd(data)];
    if (type === 'message_stop') {
      this.last = written(type, data);
      return [];
    }
    this.#count(data);
    return [isPlain(lines, type) ? event : written(type, data)];
  }

  #begin(data: object): Buffer {
    if (this.#begun) throw unusableResponse();
    this.#begun = true;
    const { model, tally } = this.#message;
    const begun = readMessage(field(data, 'message'));
    const message = { ...finished(begun, model, tally), usage: tally.publicAtStart(begun.usage) };
    return written('message_start', { ...data, message });
  }

  #nearEnd(data: object): Buffer {
    const { tally } = this.#message;
    const usage = field(data, 'usage');
    const delta = field(data, 'delta');
    if (typeof delta !== 'object' || delta === null) throw unusableResponse();
    tally.report(usage);
    const ends = { stop_reason: null, stop_sequence: null, ...delta };
    return written('message_delta', { ...data, delta: ends, usage: tally.public(usage) });
  }

  #count(data: object): void {
    const delta = field(data, 'delta');
    for (const name of ['text', 'thinking', 'partial_json'])
      this.#message.tally.wrote(textField(delta, name) ?? '');
  }
}

/** An event's JSON and its type, which only an object can have. @throws Failure 502 when it has none */
function parsed(text: string): { type: string; data: object } {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw unusableResponse();
  }
  const type = textField(data, 'type');
  if (type === undefined) throw unusableResponse();
  return { type, data: data as object };
}

/** One event in the public layout. */
export function written(type: string, data: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Whether an event is in the public layout already. */
function isPlain(lines: string, type: string): boolean {
  const head = `event: ${type}\ndata: `;
  return lines.startsWith(head) && lines.indexOf('\n', head.length) === lines.length - 2;
}
