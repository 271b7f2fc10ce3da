import { createParser } from 'eventsource-parser';

/** One event of a native stream. */
export interface NativeEvent {
  /** `result` or `error`. */
  type: string;
  data: string;
}

/** Longest event that is accepted, in characters: minutes of audio. */
const longestEvent = 32 * 1024 * 1024;

/** Reads a native event stream piece by piece. Lines without a blank after the colon and comments are fine. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<NativeEvent> {
  const ready: NativeEvent[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ event, data }) => ready.push({ type: event ?? 'result', data }),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') failure = error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (failure !== undefined) throw failure;
    yield* ready.splice(0);
  }
}
