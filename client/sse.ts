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
export class EventParser {
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
