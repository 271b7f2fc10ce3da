import { type Failure, ProviderFailure } from '../../lib/failure.ts';
import { field, parseJson, textField } from '../json.ts';
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
 * Translates a provider's events as they arrive. Yields nothing before the message starts, and the last event after
 * `finish` resolves. Throws Failure for an error that the provider reports, and for an invalid message.
 */
export async function* publicEvents(
  body: AsyncIterable<Buffer>,
  message: StreamedMessage,
  finish: () => Promise<unknown>,
): AsyncGenerator<Buffer> {
  const joiner = new EventJoiner(maxEventBytes);
  const translator = new EventTranslator(message);
  for await (const chunk of body) {
    const out: Buffer[] = [];
    try {
      for (const event of joiner.write(chunk)) {
        out.push(...translator.translate(event));
        if (translator.last !== undefined) break;
      }
    } finally {
      // Events before a failure are still sent.
      if (out.length > 0) yield Buffer.concat(out);
    }
    if (translator.last !== undefined) {
      await finish();
      yield translator.last;
      return;
    }
  }
  throw badResponse('The provider broke off.');
}

class EventTranslator {
  readonly #message: StreamedMessage;
  readonly #parser = new EventParser();
  #isStarted = false;
  /** The event that ends the message. */
  last: Buffer | undefined;

  constructor(message: StreamedMessage) {
    this.#message = message;
  }

  translate(event: Buffer): readonly Buffer[] {
    const lines = event.toString('utf8');
    const text = this.#parser.parse(lines)?.data;
    // A comment keeps the connection open.
    if (text === undefined) return this.#isStarted ? [event] : [];
    const { type, data } = parseEvent(text);
    if (type === 'error') throw failureFromStreamError(data, this.#message.redactor);
    if (type === 'message_start') return [this.#translateStart(data)];
    if (!this.#isStarted) {
      if (type === 'ping') return [];
      throw unusableResponse();
    }
    if (type === 'message_delta') return [this.#translateDelta(data)];
    if (type === 'message_stop') {
      this.last = formatEvent(type, data);
      return [];
    }
    this.#count(data);
    return [isPublicLayout(lines, type) ? event : formatEvent(type, data)];
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

  #translateDelta(data: object): Buffer {
    const { counter } = this.#message;
    const usage = field(data, 'usage');
    const delta = field(data, 'delta');
    if (typeof delta !== 'object' || delta === null) throw unusableResponse();
    counter.report(usage);
    const end = { stop_reason: null, stop_sequence: null, ...delta };
    return formatEvent('message_delta', { ...data, delta: end, usage: counter.publicUsage(usage) });
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

/** Parses an event's JSON. @throws Failure 502 without a type */
function parseEvent(text: string): { type: string; data: object } {
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
