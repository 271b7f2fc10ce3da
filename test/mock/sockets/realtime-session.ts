import type {
  RealtimeClientEvent,
  SessionUpdate,
  RealtimeSession as Settings,
} from '../../../generated/events.ts';
import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { countCharacters } from '../../../server/models/usage.ts';
import { UsedIds } from '../../../server/sockets/frames.ts';
import { idleTimeoutMs } from '../../../server/sockets/limits.ts';
import type { SessionProblem } from '../../../server/sockets/realtime/errors.ts';
import { readClientEvent, sessionProblem } from '../../../server/sockets/realtime/events.ts';
import { clientMoves, refusals, type SessionState } from '../../../server/sockets/realtime/states.ts';
import { chunksPerSample, sampleChunks } from '../sample-audio.ts';
import { costOf, usageOf } from './billing.ts';
import { payloadOf, withValues } from './examples.ts';
import type { Failure } from './scripts.ts';
import { MockSession, type SessionOptions } from './session.ts';

/** The end of a text that is spoken without a commit. */
const sentenceEnd = /[.!?…。！？]\s*$/;

/** The server events of one response, in order. */
const responseEvents = [
  'ResponseCreated',
  'ResponseOutputItemAdded',
  'ResponseContentPartAdded',
  ...Array<string>(chunksPerSample).fill('ResponseAudioDelta'),
  'ResponseAudioDone',
  'ResponseContentPartDone',
  'ResponseOutputItemDone',
  'ResponseDone',
];

/** The server side of a realtime session, with the examples of the document. */
export class RealtimeSession extends MockSession {
  readonly #id = `sess_${crypto.randomUUID()}`;
  readonly #usedIds = new UsedIds();
  /** Speech is synchronous, so the session never stays in a state of synthesis. */
  #state: SessionState = 'connected';
  #settings: Settings;
  /** Audio of each response in the format of the settings. */
  #audio: readonly Buffer[] = [];
  /** Resolves when the last settings are confirmed. */
  #confirmed: Promise<void> = Promise.resolve();
  #buffer = '';
  /** Billing characters of the session so far. */
  #characters = 0;
  #cost = 0;
  #events = 0;
  #responses = 0;

  constructor(options: SessionOptions) {
    super(options);
    const { session } = payloadOf('SessionCreated') as { session: Settings };
    this.#settings = { ...session, id: this.#id, model: options.model.id };
    if (options.model.voices !== 'system') delete this.#settings.voice;
    this.#sendEvent('SessionCreated', { session: { ...this.#settings } });
  }

  /** Sends an example with current values. */
  #sendEvent(message: string, values: Record<string, Json | undefined> = {}): void {
    this.#events += 1;
    this.restartSilenceTimer(idleTimeoutMs);
    this.send(withValues(payloadOf(message), { ...values, event_id: `event_s${this.#events}` }));
  }

  protected handleText(text: string): void {
    this.restartSilenceTimer(idleTimeoutMs);
    const read = readClientEvent(text, this.#usedIds);
    if ('problem' in read) return this.#refuse(read.eventId, read.problem);
    this.#handle(read.event);
  }

  #handle(event: RealtimeClientEvent): void {
    const move = clientMoves[this.#state][event.type];
    if ('refused' in move) {
      const { code, message } = refusals[move.refused];
      return this.#refuse(event.event_id, { code, message: `${event.type}: ${message}.` });
    }
    switch (event.type) {
      case 'session.update': {
        const problem = sessionProblem(this.options.model, event.session);
        if (problem !== undefined) return this.#refuse(event.event_id, problem);
        this.#state = move.next;
        return this.confirmLater(() => {
          this.#confirmed = this.#confirmed.then(() => this.#applySettings(event.session));
        });
      }
      case 'input_text_buffer.append':
        if (event.text === '') return;
        this.#state = move.next;
        this.#buffer += event.text;
        if (this.#settings.mode !== 'commit' && sentenceEnd.test(this.#buffer)) this.#speak();
        return;
      case 'input_text_buffer.commit':
        this.#sendEvent('InputTextBufferCommitted');
        return this.#speak();
      case 'input_text_buffer.clear':
        this.#state = move.next;
        this.#buffer = '';
        return this.#sendEvent('InputTextBufferCleared');
      case 'session.finish':
        return this.#finish();
      default:
        // No response is in progress.
        this.#state = move.next;
    }
  }

  async #applySettings(settings: SessionUpdate['session']): Promise<void> {
    const { response_format = 'pcm', sample_rate = 24_000, bit_rate } = { ...this.#settings, ...settings };
    this.#audio = await sampleChunks({
      format: response_format,
      sampleRate: sample_rate,
      channels: 1,
      ...(response_format === 'opus' && bit_rate !== undefined && { bitRate: bit_rate * 1000 }),
    });
    if (this.#state === 'updating') this.#state = 'configured';
    Object.assign(this.#settings, settings);
    this.#sendEvent('SessionUpdated', { session: { ...this.#settings } });
  }

  #speak(): void {
    const { model } = this.options;
    const characters = countCharacters(this.#buffer);
    this.#characters += characters;
    this.#cost += costOf(model, characters);
    this.#buffer = '';
    this.#state = 'idle';
    this.#responses += 1;
    const response = `resp_${this.#responses}`;
    const item = `item_${this.#responses}`;
    const { voice } = this.#settings;
    const values = {
      'response.id': response,
      'response.voice': voice,
      'response.output.0.id': item,
      // Tokens are counted per response, characters per session.
      'response.usage': usageOf(model, model.unit === 'tokens' ? characters : this.#characters),
      response_id: response,
      item_id: item,
      'item.id': item,
    };
    const chunks = this.#audio.values();
    for (const message of responseEvents) {
      const audio = message === 'ResponseAudioDelta';
      const delta = audio ? chunks.next().value?.toString('base64') : undefined;
      this.#sendEvent(message, { ...values, delta });
      if (audio) this.afterAudio();
    }
  }

  #finish(): void {
    if (this.#buffer !== '') this.#speak();
    this.#sendEvent('SessionFinished', { usage: this.#cost === 0 ? undefined : { cost: this.#cost } });
    this.close(1000);
  }

  #refuse(eventId: string | null, { code, message, param }: SessionProblem): void {
    this.#sendError({
      type: 'invalid_request_error',
      code,
      message,
      param: param ?? null,
      event_id: eventId,
    });
  }

  fail({ realtime, message, close }: Failure): void {
    this.#sendError({ ...realtime, message, param: null, event_id: null });
    this.close(close);
  }

  #sendError(error: JsonObject): void {
    this.#sendEvent('RealtimeError', { error });
  }

  protected onSilence(): void {
    this.close(1000, 'idle');
  }
}
