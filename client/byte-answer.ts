import { requestIdOf } from './errors.ts';

/** An answer whose bytes are still to be read, once: with `bytes`, with `stream` or with `for await`. */
export class ByteAnswer implements AsyncIterable<Uint8Array> {
  /** For example `audio/wav`. */
  readonly contentType: string;
  /** The gateway's id of the request. */
  readonly requestId: string | undefined;
  readonly response: Response;

  constructor(response: Response) {
    this.response = response;
    this.contentType = response.headers.get('content-type') ?? 'application/octet-stream';
    this.requestId = requestIdOf(response.headers);
  }

  /** All of them. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.response.arrayBuffer());
  }

  /** The bytes as they come. Cancelling it ends the call. */
  stream(): ReadableStream<Uint8Array> {
    return this.response.body ?? new Blob().stream();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    yield* readChunks(this.stream());
  }
}

/** The chunks of a stream. Leaving the loop early cancels the stream; not every browser can do that itself. */
export async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // After the end this does nothing; after an error it would only repeat the error.
    await reader.cancel().catch(() => {});
  }
}
