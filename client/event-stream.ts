import { APIError, requestIdOf, UnigateError } from './errors.ts';
import { readChunks } from './read-chunks.ts';
import { parseEvents, type ServerSentEvent } from './sse.ts';

/**
 * The events of a streamed answer, decoded. The request is sent when the loop begins; leaving the loop ends the call.
 * An error status, and an error event in the middle of the stream, throw APIError.
 *
 * @example for await (const event of client.speech.events(body)) console.log(event.output);
 */
export class EventStream<Event> implements AsyncIterable<Event> {
  readonly #open: () => Promise<Response>;
  #requestId: string | undefined;

  constructor(open: () => Promise<Response>) {
    this.#open = open;
  }

  /** The gateway's id of the request, as soon as the first event is there. */
  get requestId(): string | undefined {
    return this.#requestId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    const response = await this.#open();
    this.#requestId = requestIdOf(response.headers);
    if (!response.body) return;
    for await (const event of parseEvents(readChunks(response.body))) {
      yield decode(event, response.headers) as Event;
    }
  }
}

function decode(event: ServerSentEvent, headers: Headers): unknown {
  const body = parse(event.data);
  // A failure is named by the event, or, when it comes late, only by its data.
  const failed = event.event === 'error' || (typeof body === 'object' && body !== null && 'code' in body);
  if (failed) throw APIError.of({ status: statusOf(event) ?? 502, headers, body });
  return body;
}

/** The status that the native routes write as a comment beside the data; a success has none here. */
function statusOf(event: ServerSentEvent): number | undefined {
  const match = event.comments.join('\n').match(/^HTTP_STATUS\/([45]\d\d)$/m);
  return match ? Number(match[1]) : undefined;
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new UnigateError('An event of the stream is not JSON.', { cause });
  }
}
