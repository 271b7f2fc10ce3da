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
