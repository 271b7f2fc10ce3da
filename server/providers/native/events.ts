import { createParser } from 'eventsource-parser';
import { Failure } from '../../lib/failure.ts';
import { EventSplitter } from './event-splitter.ts';

/** One event of a native stream. */
export interface NativeEvent {
  /** `result` or `error`. */
  type: string;
  data: string;
}

/** Longest event that is accepted, in bytes: minutes of audio. */
const maxEventBytes = 32 * 1024 * 1024;

/** Reads the fields of events. Lines without a blank after the colon and comments are fine. */
export class EventParser {
  #event: NativeEvent | undefined;
  readonly #parser = createParser({
    onEvent: ({ event = 'result', data }) => {
      this.#event = { type: event, data };
    },
  });

  /** The event that stands in the lines of one; undefined when they hold none. */
  parse(lines: string): NativeEvent | undefined {
    this.#event = undefined;
    // Whatever is left of a line's end is whole with this, and so is an event without a blank line at the very end.
    this.#parser.feed(`${lines}\n\n`);
    return this.#event;
  }
}

/**
 * Reads a native event stream piece by piece.
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
  for await (const piece of body) {
    let from = 0;
    for (const end of splitter.ends(piece)) {
      parts.push(piece.subarray(from, end));
      from = end;
      const event = parse();
      if (event !== undefined) yield event;
    }
    parts.push(piece.subarray(from));
    size += piece.length - from;
    if (size > maxEventBytes)
      throw new Failure(502, 'bad_response', 'The provider sent an event that is too long.');
  }
  const last = parse();
  if (last !== undefined) yield last;
}
