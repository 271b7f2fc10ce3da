/** A complete text, or its parts. */
export type SpeechText = string | Iterable<string> | AsyncIterable<string>;

/** Speaks one text: a realtime session or an inference task. */
interface TextSpeaker<Usage> {
  send(text: string): Promise<void>;
  finish(): Promise<void>;
  audio: AsyncIterable<Uint8Array>;
  close(): Promise<Usage>;
  /** Aborts with an error for the readers. No effect after the end. */
  abort(error?: unknown): void;
}

/** Sends the text while the audio is read. Leaving the loop early aborts. */
export async function* speakText<Usage>(
  text: SpeechText,
  speaker: TextSpeaker<Usage>,
): AsyncGenerator<Uint8Array, Usage> {
  const sent = sendAll(text, speaker).catch((error: unknown) => speaker.abort(error));
  try {
    yield* speaker.audio;
    await sent;
    return await speaker.close();
  } finally {
    speaker.abort();
  }
}

async function sendAll(text: SpeechText, speaker: TextSpeaker<unknown>): Promise<void> {
  for await (const part of typeof text === 'string' ? [text] : text) {
    if (part !== '') await speaker.send(part);
  }
  await speaker.finish();
}
