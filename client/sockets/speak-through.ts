/** A text at once, or in the pieces in which it comes. */
export type SpokenText = string | Iterable<string> | AsyncIterable<string>;

/** What speaks one text: a realtime session or a task. */
interface Speaker<Usage> {
  say(text: string): Promise<void>;
  finish(): Promise<void>;
  audio: AsyncIterable<Uint8Array>;
  close(): Promise<Usage>;
  /** Gives up at once, with the error that the readers get; without effect after the end. */
  leave(error?: unknown): void;
}

/** Sends the text while the audio is read. Leaving the loop early gives up. */
export async function* speakThrough<Usage>(
  text: SpokenText,
  speaker: Speaker<Usage>,
): AsyncGenerator<Uint8Array, Usage> {
  const sent = sendAll(text, speaker).catch((error: unknown) => speaker.leave(error));
  try {
    yield* speaker.audio;
    await sent;
    return await speaker.close();
  } finally {
    speaker.leave();
  }
}

async function sendAll(text: SpokenText, speaker: Speaker<unknown>): Promise<void> {
  for await (const piece of typeof text === 'string' ? [text] : text) {
    if (piece !== '') await speaker.say(piece);
  }
  await speaker.finish();
}
