import { readChunks } from './binary-response.ts';
import { APIError, UnigateError } from './errors.ts';
import { headerRequestId } from './request-id.ts';

/**
 * The parsed events of a streamed response. The request is sent when the loop starts, and leaving the loop aborts it.
 * Throws APIError for an error status and for an error event.
 *
 * @example for await (const event of client.speech.events(body)) console.log(event.output);
 */
export class EventStream<Event> implements AsyncIterable<Event> {
  readonly #open: () => Promise<Response>;
  #requestId: string | undefined;

  constructor(open: () => Promise<Response>) {
    this.#open = open;
  }

  /** The gateway's id of the request, available from the first event on. */
  get requestId(): string | undefined {
    return this.#requestId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    const response = await this.#open();
    this.#requestId = headerRequestId(response.headers);
    if (!response.body) return;
    for await (const event of parseEvents(readChunks(response.body))) {
      yield decode(event, response.headers) as Event;
    }
  }
}

function decode(event: ServerSentEvent, headers: Headers): unknown {
  const body = parse(event.data);
  // A late failure has no `error` event name, only an error in its data.
  const failed = event.event === 'error' || (typeof body === 'object' && body !== null && 'code' in body);
  if (failed) throw APIError.of({ status: statusOf(event) ?? 502, headers, body });
  return body;
}

/** Returns the error status that native routes send as a comment. Undefined for a success. */
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
  /** Event name. Default: `message`. */
  event: string;
  /** The data lines, joined by line feeds. */
  data: string;
  /** The last id of the stream, or an empty string. */
  id: string;
  /** Comment lines of this event without the colon. Native routes send the status there. */
  comments: string[];
}

/**
 * Parses an event stream according to the HTML standard: LF, CR or CRLF, an optional space after the colon, several data
 * lines, comments. Ignores an event without a final empty line.
 *
 * @example for await (const { event, data } of parseEvents(response.body)) console.log(event, JSON.parse(data));
 */
export async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  const parser = new ServerSentEventParser();
  for await (const chunk of chunks) {
    yield* parser.push(decoder.decode(chunk, { stream: true }));
  }
}

/** Incremental parser: accepts chunks of any length and yields complete events. */
class ServerSentEventParser {
  #line = '';
  #afterReturn = false;
  #event = '';
  #data: string[] = [];
  #comments: string[] = [];
  #id = '';

  *push(text: string): Generator<ServerSentEvent, void> {
    // CR ends a line. LF directly after it, possibly in the next chunk, belongs to the same line end.
    let start = this.#afterReturn && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#afterReturn = false;
    const lineEnd = /[\r\n]/g;
    for (;;) {
      lineEnd.lastIndex = start;
      const end = lineEnd.exec(text)?.index;
      if (end === undefined) break;
      const event = this.#parseLine(this.#line + text.slice(start, end));
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

  #parseLine(line: string): ServerSentEvent | undefined {
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
    // Ignores `retry`, because the response to a POST cannot be resumed.
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
