import { Meter } from '../billing.ts';
import { EventStream } from '../http/event-stream.ts';
import { type Exchange, sendJson, sendText } from '../http/exchange.ts';
import { internalError, invalidParameter, NativeError } from '../http/native-error.ts';
import { dropConnection, obeyTriggers, translateEngineError } from '../refusals.ts';
import { joinAudio } from '../speech/audio-file.ts';
import type { AudioFormat } from '../speech/commands.ts';
import type { SpokenUtterance } from '../speech/engine.ts';
import { findTriggers, type Triggers } from '../triggers.ts';
import { type FinishedSpeech, type SpeechRequest, type SpeechWriter, utterancesOf } from './speech.ts';

/** Most bytes of audio for one request. */
const maxAudioBytes = 256 * 1024 * 1024;
const brokenJson = '{"output":{"audio":{"data":"';

/** Speaks a request and answers it, whole or as events. */
export async function answerSpeech(
  exchange: Exchange,
  request: SpeechRequest,
  writer: SpeechWriter,
  streaming: boolean,
): Promise<void> {
  const triggers = findTriggers(request.text);
  await obeyTriggers(exchange, triggers);
  const speaker = new Speaker(exchange, request, triggers);
  if (streaming) await answerEvents(exchange, speaker, writer, triggers);
  else await answerWhole(exchange, speaker, writer, triggers);
}

async function answerWhole(exchange: Exchange, speaker: Speaker, writer: SpeechWriter, triggers: Triggers) {
  if (triggers.has('drop')) await dropConnection(exchange);
  if (triggers.has('malformed')) return sendText(exchange, 200, brokenJson);
  if (triggers.has('fail-late')) throw internalError();
  await speaker.speak(() => {});
  sendJson(exchange, 200, writer.whole(speaker.finish()));
}

async function answerEvents(exchange: Exchange, speaker: Speaker, writer: SpeechWriter, triggers: Triggers) {
  const events = new EventStream(exchange);
  try {
    if (triggers.has('malformed')) {
      await events.write('result', 200, brokenJson);
      return events.end();
    }
    await speaker.speak(async ({ chunks }, index) => {
      const sentence = speaker.request.sentences[index];
      if (!sentence) return;
      if (writer.begin) await events.send(writer.begin(index, sentence));
      for (const chunk of triggers.has('no-audio') ? [] : chunks) {
        await events.send(writer.audio(index, chunk, speaker.meter));
        if (triggers.has('drop')) await dropConnection(exchange);
        if (triggers.has('fail-late')) throw internalError();
      }
      if (writer.end) await events.send(writer.end(index, sentence, speaker.meter));
    });
    await events.send(writer.last(speaker.finish()));
    events.end();
  } catch (error) {
    // Once the stream has begun, its failure is an event; before, the server answers with a status.
    if (!events.started || exchange.signal.aborted) throw error;
    await events.fail(error instanceof NativeError ? error : internalError());
    if (!(error instanceof NativeError)) throw error;
  }
}

/** One request being spoken: counts what it uses and keeps its audio. */
class Speaker {
  readonly meter = new Meter();
  readonly request: SpeechRequest;
  readonly #exchange: Exchange;
  readonly #triggers: Triggers;
  readonly #pieces: Uint8Array[] = [];
  readonly #timings: { text: string; begin: number; end: number }[] = [];

  constructor(exchange: Exchange, request: SpeechRequest, triggers: Triggers) {
    this.#exchange = exchange;
    this.request = request;
    this.#triggers = triggers;
  }

  /** Speaks sentence after sentence, each when the one before has been taken. */
  async speak(take: (spoken: SpokenUtterance, index: number) => Promise<void> | void): Promise<void> {
    const { services, signal } = this.#exchange;
    let index = 0;
    try {
      for await (const spoken of services.engine.speak(
        utterancesOf(this.request),
        this.request.audio,
        signal,
      )) {
        this.#add(spoken, index);
        await take(spoken, index);
        index++;
      }
    } catch (error) {
      throw translateEngineError(error);
    }
  }

  finish(): FinishedSpeech {
    const { services } = this.#exchange;
    const { audio } = this.request;
    const join = (format: AudioFormat) => joinAudio(this.#pieces, audio, this.meter.seconds, format);
    const silent = this.#triggers.has('no-audio');
    const expiresAt = this.#triggers.has('expired-url') ? 1 : undefined;
    return {
      meter: this.meter,
      timings: this.#timings,
      audio: () => (silent ? Buffer.alloc(0) : join(audio.format)),
      url: (format = audio.format) => (silent ? '' : services.files.put(join(format), format, expiresAt)),
    };
  }

  #add({ chunks, seconds }: SpokenUtterance, index: number): void {
    const text = this.request.sentences[index]?.text ?? '';
    const begin = Math.round(this.meter.seconds * 1000);
    this.meter.addSentence(text, seconds);
    this.#timings.push({ text, begin, end: Math.round(this.meter.seconds * 1000) });
    for (const { data } of chunks) {
      this.#pieces.push(data);
      this.meter.audioBytes += data.length;
    }
    if (this.meter.audioBytes > maxAudioBytes) {
      throw invalidParameter(`input.text gives more than ${maxAudioBytes} bytes of audio`);
    }
  }
}
