import { Meter } from '../billing.ts';
import { EventStream } from '../http/event-stream.ts';
import { type Exchange, sendJson, sendText } from '../http/exchange.ts';
import { internalError, invalidParameter, NativeError } from '../http/native-error.ts';
import { concatenateAudio } from '../speech/audio-file.ts';
import type { AudioFormat } from '../speech/commands.ts';
import type { SpokenUtterance } from '../speech/engine.ts';
import { applyTriggers, convertEngineError, dropConnection } from '../triggered-errors.ts';
import { findTriggers, type Triggers } from '../triggers.ts';
import { createUtterances, type FinishedSpeech, type SpeechRequest, type SpeechWriter } from './speech.ts';

/** Maximum size of the audio of one request. */
const maxAudioBytes = 256 * 1024 * 1024;
const brokenJson = '{"output":{"audio":{"data":"';

/** Synthesizes a request and sends the response, as one body or as events. */
export async function respondWithSpeech(
  exchange: Exchange,
  request: SpeechRequest,
  writer: SpeechWriter,
  streaming: boolean,
): Promise<void> {
  const triggers = findTriggers(request.text);
  await applyTriggers(exchange, triggers);
  const speaker = new Speaker(exchange, request, triggers);
  if (streaming) await respondWithEvents(exchange, speaker, writer, triggers);
  else await respondWithBody(exchange, speaker, writer, triggers);
}

async function respondWithBody(
  exchange: Exchange,
  speaker: Speaker,
  writer: SpeechWriter,
  triggers: Triggers,
) {
  if (triggers.has('drop')) await dropConnection(exchange);
  if (triggers.has('malformed')) return sendText(exchange, 200, brokenJson);
  if (triggers.has('fail-late')) throw internalError();
  await speaker.speak(() => {});
  sendJson(exchange, 200, writer.body(speaker.finish()));
}

async function respondWithEvents(
  exchange: Exchange,
  speaker: Speaker,
  writer: SpeechWriter,
  triggers: Triggers,
) {
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
    // A failure after the first event is sent as an event. Before that, the router sends an error response.
    if (!events.hasStarted || exchange.signal.aborted) throw error;
    await events.fail(error instanceof NativeError ? error : internalError());
    if (!(error instanceof NativeError)) throw error;
  }
}

/** Synthesizes one request. Counts its usage and stores its audio. */
class Speaker {
  readonly meter = new Meter();
  readonly request: SpeechRequest;
  readonly #exchange: Exchange;
  readonly #triggers: Triggers;
  readonly #chunks: Uint8Array[] = [];
  readonly #timings: { text: string; begin: number; end: number }[] = [];

  constructor(exchange: Exchange, request: SpeechRequest, triggers: Triggers) {
    this.#exchange = exchange;
    this.request = request;
    this.#triggers = triggers;
  }

  /** Synthesizes the sentences in order, each after the previous one has been consumed. */
  async speak(consume: (spoken: SpokenUtterance, index: number) => Promise<void> | void): Promise<void> {
    const { services, signal } = this.#exchange;
    let index = 0;
    try {
      for await (const spoken of services.engine.speak(
        createUtterances(this.request),
        this.request.audio,
        signal,
      )) {
        this.#add(spoken, index);
        await consume(spoken, index);
        index++;
      }
    } catch (error) {
      throw convertEngineError(error);
    }
  }

  finish(): FinishedSpeech {
    const { services } = this.#exchange;
    const { audio } = this.request;
    const join = (format: AudioFormat) => concatenateAudio(this.#chunks, audio, this.meter.seconds, format);
    const isSilent = this.#triggers.has('no-audio');
    const expiresAt = this.#triggers.has('expired-url') ? 1 : undefined;
    return {
      meter: this.meter,
      timings: this.#timings,
      audio: () => (isSilent ? Buffer.alloc(0) : join(audio.format)),
      url: (format = audio.format) =>
        isSilent ? '' : services.files.storeAndSign(join(format), format, expiresAt),
    };
  }

  #add({ chunks, seconds }: SpokenUtterance, index: number): void {
    const text = this.request.sentences[index]?.text ?? '';
    const begin = Math.round(this.meter.seconds * 1000);
    this.meter.addSentence(text, seconds);
    this.#timings.push({ text, begin, end: Math.round(this.meter.seconds * 1000) });
    for (const { data } of chunks) {
      this.#chunks.push(data);
      this.meter.audioBytes += data.length;
    }
    if (this.meter.audioBytes > maxAudioBytes) {
      throw invalidParameter(`input.text produces more than ${maxAudioBytes} bytes of audio`);
    }
  }
}
