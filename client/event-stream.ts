import { readChunks } from './byte-answer.ts';
import { APIError, requestIdOf, UnigateError } from './errors.ts';

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

/** One server-sent event. */
export interface ServerSentEvent {
  /** `message` when the stream names none. */
  event: string;
  /** The data lines, joined by line feeds. */
  data: string;
  /** The last id that the stream gave, empty when it gave none. */
  id: string;
  /** The comment lines of this event without their colon; the native routes put the status there. */
  comments: string[];
}

/**
 * Parses an event stream as the HTML standard has it: LF, CR or CRLF, an optional blank after the colon, several data
 * lines, comments. An event that the stream does not finish with an empty line is dropped.
 *
 * @example for await (const { event, data } of parseEvents(response.body)) console.log(event, JSON.parse(data));
 */
export async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  for await (const chunk of chunks) {
    yield* parser.push(decoder.decode(chunk, { stream: true }));
  }
}

/** The parser itself: give it pieces of text of any length, take the events that are complete. */
class EventParser {
  #line = '';
  #afterReturn = false;
  #event = '';
  #data: string[] = [];
  #comments: string[] = [];
  #id = '';

  *push(text: string): Generator<ServerSentEvent, void> {
    // A return ends its line at once; a line feed after it, perhaps in the next piece, belongs to it.
    let start = this.#afterReturn && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#afterReturn = false;
    const lineEnd = /[\r\n]/g;
    for (;;) {
      lineEnd.lastIndex = start;
      const end = lineEnd.exec(text)?.index;
      if (end === undefined) break;
      const event = this.#take(this.#line + text.slice(start, end));
      this.#line = '';
      start = end + 1;
      if (text[end] === '\r') {
        if (text[start] === '\n') start++;
        else this.#afterReturn = start === text.length;
      }
      if (event) yield event;
    }
    this.#line += text.slice(start);
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) {
      this.#comments.push(line.slice(1).trim());
      return undefined;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    // `retry` is for clients that reconnect; an answer to a POST cannot be resumed.
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = {
      event: this.#event || 'message',
      data: this.#data.join('\n'),
      id: this.#id,
      comments: this.#comments,
    };
    const complete = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    this.#comments = [];
    return complete ? event : undefined;
  }
}
