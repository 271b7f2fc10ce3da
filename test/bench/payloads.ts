// Responses of the stub upstream in the native format, and the responses that a client expects.

const requestId = '3f0c5a8e-91d2-4b67-8a55-0c2f6e7d1b94';
const expiresAt = 4_102_444_800;

/** Each character is one billing character. */
const sentence = 'The gateway carries this sentence upstream and brings the spoken answer back. ';

/** Returns English text of `length` characters. */
export function speakable(length: number): string {
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length - 1) + '.';
}

/** Returns the response of both native routes without a stream. */
export function speechReply(audioUrl: string, characters: number): object {
  return {
    request_id: requestId,
    output: {
      finish_reason: 'stop',
      audio: { data: '', url: audioUrl, id: `audio_${requestId}`, expires_at: expiresAt },
    },
    usage: { characters },
  };
}

/** Returns a small response of the chat route of other gateways. */
export function chatReply(): object {
  const message = { role: 'assistant', content: 'The answer is spoken.' };
  return {
    id: `chatcmpl-${requestId}`,
    object: 'chat.completion',
    created: 1_750_000_000,
    model: 'x',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 150, completion_tokens: 5, total_tokens: 155 },
  };
}

/** 100 KB of incompressible data, the same in every process. */
export const audioFile: Buffer = pseudoRandom(100 * 1024);

const eventCount = 100;
/** Audio per event: 1.4 KB as Base64. */
const eventAudioBytes = 1050;

/**
 * Returns the text of native events: the begin of a sentence, its audio, its end, and the last event.
 *
 * @param cost charge that the gateway adds to the usage of the last event
 */
export function speechEvents(audioUrl: string, characters: number, cost?: number): string[] {
  const audio = { id: `audio_${requestId}`, expires_at: expiresAt };
  const running = (type: string, data: string, more: object = {}) => ({
    request_id: requestId,
    output: {
      finish_reason: 'null',
      type,
      sentence: { index: 0, words: [] },
      audio: { data, ...audio },
      ...more,
    },
  });
  const text = speakable(characters);
  const audioEvents = Array.from({ length: eventCount - 3 }, (_, index) => {
    const from = (index * eventAudioBytes) % (audioFile.length - eventAudioBytes);
    return running('sentence-synthesis', audioFile.subarray(from, from + eventAudioBytes).toString('base64'));
  });
  const events = [
    running('sentence-begin', '', { original_text: text }),
    ...audioEvents,
    { ...running('sentence-end', '', { original_text: text }), usage: { characters } },
    {
      request_id: requestId,
      output: { finish_reason: 'stop', audio: { data: '', url: audioUrl, ...audio } },
      usage: { characters, cost },
    },
  ];
  return events.map(
    (event, index) => `id:${index + 1}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(event)}\n\n`,
  );
}

/** Returns the text of events of the completion route of other gateways, as many and as large as those of `speechEvents`. */
export function completionEvents(): string[] {
  const text = speakable(1_400);
  const event = {
    id: `cmpl-${requestId}`,
    object: 'text_completion',
    created: 1_750_000_000,
    model: 'x',
    choices: [{ index: 0, text, finish_reason: null }],
  };
  const events = Array.from({ length: eventCount - 1 }, () => `data: ${JSON.stringify(event)}\n\n`);
  return [...events, 'data: [DONE]\n\n'];
}

function pseudoRandom(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
