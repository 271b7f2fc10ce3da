import type {
  RealtimeClientEvent,
  SessionUpdate,
  RealtimeSession as Settings,
} from '../../../generated/events.ts';
import type { Json, JsonObject } from '../../../openapi/tools/document.ts';
import { audioPiece } from './audio.ts';
import { billingCharacters, usageOf } from './billing.ts';
import { frameProblem, readObject } from './client-frame.ts';
import { filled, payloadOf } from './examples.ts';
import { brokenRule } from './model-rules.ts';
import { type RealtimeState, realtimeMoves, refusals, responseEvents } from './realtime-states.ts';
import type { Failure } from './scripts.ts';
import { idleLimit, MockSession, type Opening } from './session.ts';

/** A text that ends like this is spoken without being asked for. */
const sentenceEnd = /[.!?…。！？]\s*$/;

interface Problem {
  code: string;
  message: string;
  param?: string | null;
}

/** Plays the server of a realtime session with the examples of the document. */
export class RealtimeSession extends MockSession {
  readonly #id = `sess_${crypto.randomUUID()}`;
  readonly #seen = new Set<string>();
  #state: RealtimeState = 'connected';
  #settings: Settings;
  #buffer = '';
  /** Billing characters of the session so far. */
  #characters = 0;
  #events = 0;
  #responses = 0;

  constructor(opening: Opening) {
    super(opening);
    const { session } = payloadOf('SessionCreated') as { session: Settings };
    this.#settings = { ...session, id: this.#id, model: opening.model.id };
    if (opening.model.voices !== 'system') delete this.#settings.voice;
    this.#tell('SessionCreated', { session: { ...this.#settings } });
  }

  /** Sends an example with the values of this moment in it. */
  #tell(message: string, values: Record<string, Json | undefined> = {}): void {
    this.#events += 1;
    this.allowSilence(idleLimit);
    this.send(filled(payloadOf(message), { ...values, event_id: `event_s${this.#events}` }));
  }

  protected take(text: string): void {
    this.allowSilence(idleLimit);
    const frame = readObject(text);
    if (frame === undefined)
      return this.#refuse(null, { code: 'invalid_event', message: 'The frame is not a JSON object.' });
    const id = typeof frame.event_id === 'string' && frame.event_id !== '' ? frame.event_id : null;
    const problem = frameProblem(this.opening.client, frame);
    if (id !== null && this.#seen.has(id)) {
      const message = 'event_id: was used before in this connection.';
      return this.#refuse(id, { code: 'invalid_value', message, param: 'event_id' });
    }
    if (id !== null) this.#seen.add(id);
    if (problem !== undefined) {
      const { field, message, malformed } = problem;
      return this.#refuse(id, { code: malformed ? 'invalid_event' : 'invalid_value', message, param: field });
    }
    this.#follow(frame as unknown as RealtimeClientEvent);
  }

  #follow(event: RealtimeClientEvent): void {
    if (event.type === 'session.finish') return this.#finish();
    const move = realtimeMoves[event.type][this.#state];
    if ('refused' in move) {
      const { code, message } = refusals[move.refused];
      return this.#refuse(event.event_id, { code, message: `${event.type}: ${message}` });
    }
    switch (event.type) {
      case 'session.update': {
        const broken = brokenRule(this.opening.model, event.session) ?? this.#otherModel(event.session);
        if (broken !== undefined) {
          const { field: param, message } = broken;
          return this.#refuse(event.event_id, { code: 'invalid_value', message, param });
        }
        this.#state = move.next;
        return this.confirm(() => this.#confirmed(event.session));
      }
      case 'input_text_buffer.append':
        if (event.text === '') return;
        this.#state = move.next;
        this.#buffer += event.text;
        if (this.#settings.mode !== 'commit' && sentenceEnd.test(this.#buffer)) this.#speak();
        return;
      case 'input_text_buffer.commit':
        this.#tell('InputTextBufferCommitted');
        return this.#speak();
      case 'input_text_buffer.clear':
        this.#state = move.next;
        this.#buffer = '';
        return this.#tell('InputTextBufferCleared');
      default:
        // Nothing runs that a cancel could stop.
        this.#state = move.next;
    }
  }

  #otherModel(settings: SessionUpdate['session'] & { model?: unknown }) {
    const { id } = this.opening.model;
    if (settings.model === undefined || settings.model === id) return undefined;
    return { field: 'session.model', message: `session.model: is ${id} for this connection.` };
  }

  #confirmed(settings: SessionUpdate['session']): void {
    if (this.#state === 'updating') this.#state = 'configured';
    Object.assign(this.#settings, settings);
    this.#tell('SessionUpdated', { session: { ...this.#settings } });
  }

  #speak(): void {
    const { model } = this.opening;
    const characters = billingCharacters(this.#buffer);
    this.#characters += characters;
    this.#buffer = '';
    this.#state = 'idle';
    this.#responses += 1;
    const response = `resp_${this.#responses}`;
    const item = `item_${this.#responses}`;
    const { voice, response_format: format = 'pcm', sample_rate: rate = 24_000 } = this.#settings;
    const values = {
      'response.id': response,
      'response.voice': voice,
      'response.output.0.id': item,
      // Tokens are those of the response, characters those of the session.
      'response.usage': usageOf(model, model.unit === 'tokens' ? characters : this.#characters),
      response_id: response,
      item_id: item,
      'item.id': item,
    };
    for (const [index, message] of responseEvents.entries()) {
      const audio = message === 'ResponseAudioDelta';
      const first = responseEvents.indexOf(message) === index;
      const delta = audio ? audioPiece(format, rate, first).toString('base64') : undefined;
      this.#tell(message, { ...values, delta });
      if (audio) this.spoke();
    }
  }

  #finish(): void {
    if (this.#buffer !== '') this.#speak();
    this.#tell('SessionFinished');
    this.close(1000);
  }

  #refuse(eventId: string | null, problem: Problem): void {
    this.#error({ type: 'invalid_request_error', param: null, event_id: eventId, ...problem });
  }

  fail({ realtime, message, close }: Failure): void {
    this.#error({ ...realtime, message, param: null, event_id: null });
    this.close(close);
  }

  #error(error: JsonObject): void {
    this.#tell('RealtimeError', { error });
  }

  protected tooQuiet(): void {
    this.close(1000, 'idle');
  }
}
