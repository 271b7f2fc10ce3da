import { headerRequestId } from './request-id.ts';

/** A response with an unread binary body. Read it once, with `bytes`, `stream` or `for await`. */
export class BinaryResponse implements AsyncIterable<Uint8Array> {
  /** For example `audio/wav`. */
  readonly contentType: string;
  /** The gateway's id of the request. */
  readonly requestId: string | undefined;
  readonly response: Response;

  constructor(response: Response) {
    this.response = response;
    this.contentType = response.headers.get('content-type') ?? 'application/octet-stream';
    this.requestId = headerRequestId(response.headers);
  }

  /** Reads the whole body. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.response.arrayBuffer());
  }

  /** Streams the body. Canceling the stream aborts the call. */
  stream(): ReadableStream<Uint8Array> {
    return this.response.body ?? new Blob().stream();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    yield* readChunks(this.stream());
  }
}

/** Yields the chunks of a stream. Leaving the loop early cancels the stream, which some browsers do not do themselves. */
export async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // No effect after the end. After an error it rejects with the same error.
    await reader.cancel().catch(() => {});
  }
}
