import { createParser } from 'eventsource-parser';
import { Failure } from '../../lib/failure.ts';
import { EventSplitter } from './event-splitter.ts';

/** One event of a native stream. */
export interface NativeEvent {
  /** `result` or `error`. */
  type: string;
  data: string;
}

/** Longest event: minutes of audio. */
const maxEventBytes = 32 * 1024 * 1024;

/** Parses server-sent events. */
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

/**
 * Reads a native event stream.
 *
 * @throws Failure 502 for an event that is too long
 */
export async function* readEvents(body: AsyncIterable<Buffer>): AsyncGenerator<NativeEvent> {
  const splitter = new EventSplitter();
  const parser = new EventParser();
  let parts: Buffer[] = [];
  let size = 0;
  const parse = () => {
    const event = parser.parse(Buffer.concat(parts).toString('utf8'));
    parts = [];
    size = 0;
    return event;
  };
  for await (const chunk of body) {
    let from = 0;
    for (const end of splitter.ends(chunk)) {
      parts.push(chunk.subarray(from, end));
      from = end;
      const event = parse();
      if (event !== undefined) yield event;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxEventBytes)
      throw new Failure(502, 'bad_response', 'The provider sent an event that is too long.');
  }
  const last = parse();
  if (last !== undefined) yield last;
}
