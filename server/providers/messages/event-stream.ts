import { type Failure, ProviderFailure } from '../../lib/failure.ts';
import { field, parseJson, textField } from '../../lib/json.ts';
import { EventJoiner, EventParser } from '../native/events.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { defaultRejection, providerFailure, throttledFailure } from '../rejection.ts';
import { badResponse, unusableResponse } from '../unusable-response.ts';
import type { TokenCounter } from './token-counter.ts';
import { readMessage, toPublicMessage } from './whole-message.ts';

/** Longest event. It may contain a page or file that a tool of the provider has read. */
const maxEventBytes = 16 * 1024 * 1024;

export interface StreamedMessage {
  /** The model's public id. */
  model: string;
  counter: TokenCounter;
  redactor: ProviderRedactor;
}

/**
 * Translates a provider's events as they arrive. Yields nothing before the message starts, and the last two events after
 * `finish` resolves with the charged quota, which the usage then states. Throws Failure for an error that the provider
 * reports, and for an invalid message.
 */
export async function* publicEvents(
  body: AsyncIterable<Buffer>,
  message: StreamedMessage,
  finish: () => Promise<number | undefined>,
): AsyncGenerator<Buffer> {
  const translator = new EventTranslator(message);
  try {
    for await (const chunk of body) {
      yield* translator.translate(chunk);
      if (translator.isComplete) {
        yield translator.end(await finish());
        return;
      }
    }
    throw badResponse('The provider broke off.');
  } catch (error) {
    yield* translator.releaseDelta();
    throw error;
  }
}

interface MessageEvent {
  type: string;
  data: object;
}

interface DeltaEvent extends MessageEvent {
  usage: object;
}

class EventTranslator {
  readonly #message: StreamedMessage;
  readonly #joiner = new EventJoiner(maxEventBytes);
  readonly #parser = new EventParser();
  #isStarted = false;
  /** The last `message_delta`, which gets the charge if the message ends with it. */
  #delta: DeltaEvent | undefined;
  #stop: MessageEvent | undefined;

  constructor(message: StreamedMessage) {
    this.#message = message;
  }

  get isComplete(): boolean {
    return this.#stop !== undefined;
  }

  *translate(chunk: Buffer): Generator<Buffer> {
    const out: Buffer[] = [];
    try {
      for (const event of this.#joiner.write(chunk)) {
        out.push(...this.#translateEvent(event));
        if (this.isComplete) break;
      }
    } finally {
      // Events before a failure are still sent.
      if (out.length > 0) yield Buffer.concat(out);
    }
  }

  /** Returns the events that end the message. `charged`: quota of the call; undefined if it was refunded. */
  end(charged: number | undefined): Buffer {
    const events = [
      this.#delta && formatDelta(this.#delta, charged),
      this.#stop && formatEvent(this.#stop.type, this.#stop.data),
    ];
    return Buffer.concat(events.filter((event) => event !== undefined));
  }

  /** Yields the `message_delta` that waits for the end of the message. */
  *releaseDelta(): Generator<Buffer> {
    const delta = this.#delta;
    this.#delta = undefined;
    if (delta !== undefined) yield formatDelta(delta);
  }

  *#translateEvent(event: Buffer): Generator<Buffer> {
    const lines = event.toString('utf8');
    const text = this.#parser.parse(lines)?.data;
    // A comment keeps the connection open.
    if (text === undefined) {
      if (this.#isStarted) yield event;
      return;
    }
    const { type, data } = parseEvent(text);
    if (type === 'error') throw failureFromStreamError(data, this.#message.redactor);
    if (type === 'message_start') {
      yield this.#translateStart(data);
      return;
    }
    if (!this.#isStarted) {
      if (type === 'ping') return;
      throw unusableResponse();
    }
    if (type === 'message_stop') {
      this.#stop = { type, data };
      return;
    }
    if (type !== 'ping') yield* this.releaseDelta();
    if (type === 'message_delta') {
      this.#delta = this.#translateDelta(data);
      return;
    }
    this.#count(data);
    yield isPublicLayout(lines, type) ? event : formatEvent(type, data);
  }

  #translateStart(data: object): Buffer {
    if (this.#isStarted) throw unusableResponse();
    this.#isStarted = true;
    const { model, counter } = this.#message;
    const start = readMessage(field(data, 'message'));
    const message = {
      ...toPublicMessage(start, model, counter),
      usage: counter.publicUsageAtStart(start.usage),
    };
    return formatEvent('message_start', { ...data, message });
  }

  #translateDelta(data: object): DeltaEvent {
    const { counter } = this.#message;
    const usage = field(data, 'usage');
    const delta = field(data, 'delta');
    if (typeof delta !== 'object' || delta === null) throw unusableResponse();
    counter.report(usage);
    const end = { stop_reason: null, stop_sequence: null, ...delta };
    return { type: 'message_delta', data: { ...data, delta: end }, usage: counter.publicUsage(usage) };
  }

  #count(data: object): void {
    const delta = field(data, 'delta');
    for (const name of ['text', 'thinking', 'partial_json'])
      this.#message.counter.addText(textField(delta, name) ?? '');
  }
}

export function failureFromStreamError(data: unknown, redactor: ProviderRedactor): Failure {
  const error = field(data, 'error');
  switch (textField(error, 'type')) {
    case 'overloaded_error':
      return providerFailure(503);
    case 'timeout_error':
      return providerFailure(504);
    case 'rate_limit_error':
      return throttledFailure();
    case 'invalid_request_error':
    case 'request_too_large':
    case 'not_found_error':
      return new ProviderFailure(
        400,
        'bad_request',
        redactor.redact(textField(error, 'message') ?? defaultRejection),
      );
    default:
      // Includes errors about the gateway's account.
      return providerFailure(502);
  }
}

function formatDelta({ type, data, usage }: DeltaEvent, charged?: number): Buffer {
  return formatEvent(type, { ...data, usage: { ...usage, ...(charged !== undefined && { cost: charged }) } });
}

/** Parses an event's JSON. @throws Failure 502 without a type */
function parseEvent(text: string): MessageEvent {
  const data = parseJson(text);
  const type = textField(data, 'type');
  if (type === undefined) throw unusableResponse();
  return { type, data: data as object };
}

export function formatEvent(type: string, data: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function isPublicLayout(lines: string, type: string): boolean {
  const head = `event: ${type}\ndata: `;
  return lines.startsWith(head) && lines.indexOf('\n', head.length) === lines.length - 2;
}
