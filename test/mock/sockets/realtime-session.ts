import type {
  RealtimeClientEvent,
  SessionUpdate,
  RealtimeSession as Settings,
} from '../../../generated/events.ts';
import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { sampleChunks } from '../sample-audio.ts';
import { billingCharacters, usageOf } from './billing.ts';
import { frameProblem, readObject } from './client-frame.ts';
import { payloadOf, withValues } from './examples.ts';
import { violatedRule } from './model-rules.ts';
import { orderErrors, type RealtimeState, realtimeTransitions, responseEvents } from './realtime-states.ts';
import type { Failure } from './scripts.ts';
import { idleTimeoutMs, MockSession, type SessionOptions } from './session.ts';

/** The end of a text that is spoken without a commit. */
const sentenceEnd = /[.!?…。！？]\s*$/;

interface Problem {
  code: string;
  message: string;
  param?: string | null;
}

/** The server side of a realtime session, with the examples of the document. */
export class RealtimeSession extends MockSession {
  readonly #id = `sess_${crypto.randomUUID()}`;
  readonly #usedEventIds = new Set<string>();
  #state: RealtimeState = 'connected';
  #settings: Settings;
  /** Audio of each response in the format of the settings. */
  #audio: readonly Buffer[] = [];
  /** Resolves when the last settings are confirmed. */
  #confirmed: Promise<void> = Promise.resolve();
  #buffer = '';
  /** Billing characters of the session so far. */
  #characters = 0;
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
    const frame = readObject(text);
    if (frame === undefined)
      return this.#sendInvalidRequest(null, {
        code: 'invalid_event',
        message: 'The frame is not a JSON object.',
      });
    const id = typeof frame.event_id === 'string' && frame.event_id !== '' ? frame.event_id : null;
    const problem = frameProblem(this.options.client, frame);
    if (id !== null && this.#usedEventIds.has(id)) {
      const message = 'event_id: was used before in this connection.';
      return this.#sendInvalidRequest(id, { code: 'invalid_value', message, param: 'event_id' });
    }
    if (id !== null) this.#usedEventIds.add(id);
    if (problem !== undefined) {
      const { field, message, malformed } = problem;
      return this.#sendInvalidRequest(id, {
        code: malformed ? 'invalid_event' : 'invalid_value',
        message,
        param: field,
      });
    }
    this.#handle(frame as unknown as RealtimeClientEvent);
  }

  #handle(event: RealtimeClientEvent): void {
    if (event.type === 'session.finish') return this.#finish();
    const transition = realtimeTransitions[event.type][this.#state];
    if ('error' in transition) {
      const { code, message } = orderErrors[transition.error];
      return this.#sendInvalidRequest(event.event_id, { code, message: `${event.type}: ${message}` });
    }
    switch (event.type) {
      case 'session.update': {
        const violation = violatedRule(this.options.model, event.session) ?? this.#checkModel(event.session);
        if (violation !== undefined) {
          const { field: param, message } = violation;
          return this.#sendInvalidRequest(event.event_id, { code: 'invalid_value', message, param });
        }
        this.#state = transition.next;
        return this.confirmLater(() => {
          this.#confirmed = this.#confirmed.then(() => this.#applySettings(event.session));
        });
      }
      case 'input_text_buffer.append':
        if (event.text === '') return;
        this.#state = transition.next;
        this.#buffer += event.text;
        if (this.#settings.mode !== 'commit' && sentenceEnd.test(this.#buffer)) this.#speak();
        return;
      case 'input_text_buffer.commit':
        this.#sendEvent('InputTextBufferCommitted');
        return this.#speak();
      case 'input_text_buffer.clear':
        this.#state = transition.next;
        this.#buffer = '';
        return this.#sendEvent('InputTextBufferCleared');
      default:
        // No response is in progress.
        this.#state = transition.next;
    }
  }

  #checkModel(settings: SessionUpdate['session'] & { model?: unknown }) {
    const { id } = this.options.model;
    if (settings.model === undefined || settings.model === id) return undefined;
    return { field: 'session.model', message: `session.model: is ${id} for this connection.` };
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
    const characters = billingCharacters(this.#buffer);
    this.#characters += characters;
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
    this.#sendEvent('SessionFinished');
    this.close(1000);
  }

  #sendInvalidRequest(eventId: string | null, problem: Problem): void {
    this.#sendError({ type: 'invalid_request_error', param: null, event_id: eventId, ...problem });
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
