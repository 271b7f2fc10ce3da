import { createParser } from 'eventsource-parser';
import { badResponse } from '../unusable-response.ts';
import { EventSplitter } from './event-splitter.ts';

export interface NativeEvent {
  /** `result` or `error`. */
  type: string;
  data: string;
}

/** Longest event: minutes of audio. */
const maxEventBytes = 32 * 1024 * 1024;

export class EventParser {
  #event: NativeEvent | undefined;
  readonly #parser = createParser({
    onEvent: ({ event = 'result', data }) => {
      this.#event = { type: event, data };
    },
  });

  /** Parses the lines of one event. Undefined if they contain only comments. */
  parse(lines: string): NativeEvent | undefined {
    this.#event = undefined;
    // Completes a cut line end, and an event without a final blank line.
    this.#parser.feed(`${lines}\n\n`);
    return this.#event;
  }
}

export class EventJoiner {
  readonly #splitter = new EventSplitter();
  readonly #maxBytes: number;
  #started: Buffer[] = [];
  #startedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields the events that end in a chunk. @throws Failure 502 for an event that is too long */
  *write(chunk: Buffer): Generator<Buffer, void, void> {
    let from = 0;
    for (let end = this.#splitter.next(chunk, 0); end >= 0; end = this.#splitter.next(chunk, end)) {
      this.#started.push(chunk.subarray(from, end));
      from = end;
      yield this.end();
    }
    this.#started.push(chunk.subarray(from));
    this.#startedBytes += chunk.length - from;
    if (this.#startedBytes > this.#maxBytes)
      throw badResponse('The provider sent an event that is too long.');
  }

  /** Returns the bytes of an event without its end. */
  end(): Buffer {
    const event = Buffer.concat(this.#started);
    this.#started = [];
    this.#startedBytes = 0;
    return event;
  }
}

/** Reads a native event stream. @throws Failure 502 for an event that is too long */
export async function* readEvents(body: AsyncIterable<Buffer>): AsyncGenerator<NativeEvent> {
  const joiner = new EventJoiner(maxEventBytes);
  const parser = new EventParser();
  for await (const chunk of body) {
    for (const lines of joiner.write(chunk)) {
      const event = parser.parse(lines.toString('utf8'));
      if (event !== undefined) yield event;
    }
  }
  const last = parser.parse(joiner.end().toString('utf8'));
  if (last !== undefined) yield last;
}
