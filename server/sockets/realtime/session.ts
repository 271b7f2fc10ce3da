import type { WebSocket } from 'ws';
import type { InputTextBufferAppend, RealtimeClientEvent, SessionUpdate } from '../../../generated/events.ts';
import type { Channel } from '../../channels/channel.ts';
import { channelsForVoices, type NamedVoice } from '../../channels/voice-route.ts';
import { Failure } from '../../lib/failure.ts';
import { envelope } from '../../models/speech-time.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';
import type { Connection } from '../connection.ts';
import { isAudioDelta, type JsonObject, objectField, readServerEvent, UsedIds } from '../frames.ts';
import { type Outcome, SocketSession } from '../session.ts';
import {
  clientTooSlow,
  errorEvent,
  type FatalCode,
  fatalErrors,
  fatalFrom,
  providerThrottled,
  readProviderError,
  type SessionProblem,
} from './errors.ts';
import { readClientEvent, sessionProblem } from './events.ts';
import { SessionSettlement } from './settlement.ts';
import {
  clientMoves,
  type MovingServerEvent,
  refusals,
  type SessionState,
  serverMoves,
  statesAwaitingProvider,
} from './states.ts';

const invalidProviderEvent = 'The provider sent an invalid event.';

type OtherEvent = Exclude<RealtimeClientEvent, SessionUpdate>;

/** The fields of all events except `session.update`. */
const contractFields: ReadonlySet<string> = new Set(['event_id', 'type', 'text']);

/** A realtime session. Validates, relays and meters events. */
export class RealtimeSession extends SocketSession {
  readonly #settlement: SessionSettlement;
  readonly #usedIds = new UsedIds();
  #state: SessionState = 'connected';
  /** All settings sent upstream. They are sent again if the upstream changes. */
  #settings: JsonObject = {};
  /** Whether the client received `session.created`. It is the first event; those of later upstreams are dropped. */
  #sessionCreated = false;
  readonly #firstFrame = Promise.withResolvers<void>();
  /** Quota that the settlement charged. Undefined: none, or before the settlement. */
  #charged: number | undefined;
  /** Whether the last event of the upstream was an error. A close after it needs no further error. */
  #lastEventWasError = false;

  /** `channels` serve the model. The voice may exclude some of them later. */
  constructor(connection: Connection, socket: WebSocket, channels: readonly Channel[]) {
    super(connection, '/api-ws/v1/realtime', socket);
    this.#settlement = new SessionSettlement(connection);
    const { client } = this;
    client.disconnected.addEventListener('abort', () => this.#firstFrame.resolve(), { once: true });
    // Events that the client sends early are queued until session.created, so that no reply precedes it.
    client.runExclusive(async () => {
      await this.connect(channels);
      await this.#firstFrame.promise;
    });
  }

  drain(): void {
    // The running session may finish.
  }

  shutDown(): void {
    void this.#fatal('service_restarting', 'The gateway is shutting down. Connect again.');
  }

  protected fromClient(data: Buffer, binary: boolean): void | Promise<void> {
    this.touch();
    if (binary) {
      const outcome = { status: 400, errorCode: 'binary_frame' };
      return this.end(outcome, () => this.client.close(1003, 'text frames only'));
    }
    const read = readClientEvent(data.toString('utf8'), this.#usedIds);
    if ('problem' in read) return this.#refuse(read.problem, read.eventId);
    const { event } = read;
    if (!this.#allows(event)) return;
    if (event.type === 'session.update') return this.#update(event, data);
    if (Object.keys(event).some((key) => !contractFields.has(key))) return this.#acceptExtended(event, data);
    return this.#accept(event, data);
  }

  #accept(event: OtherEvent, data: Buffer): void | Promise<void> {
    if (event.type === 'input_text_buffer.append' && event.text !== '') return this.#append(event, data);
    if (event.type === 'input_text_buffer.commit' || event.type === 'session.finish')
      this.#settlement.beginSynthesis();
    if (event.type === 'input_text_buffer.clear') this.#settlement.clearText();
    this.#forward(event, data);
  }

  /** Accepts fields that are not in the contract, unless they name a voice of another channel. */
  async #acceptExtended(event: OtherEvent, data: Buffer): Promise<void> {
    const channels = await this.#channelsFor(event, []);
    if (channels === undefined || this.isEnding) return;
    const { channel } = this;
    if (channel === undefined || channels.includes(channel)) return this.#accept(event, data);
    const message = `${event.type}: a voice in this event requires a new connection.`;
    this.#refuse({ code: 'invalid_value', message }, event.event_id);
  }

  /** Returns the channels that have all voices of an event. Refuses the event and returns undefined if there is none. */
  async #channelsFor(
    event: RealtimeClientEvent,
    main: readonly NamedVoice[],
  ): Promise<Channel[] | undefined> {
    const { gateway, key, model } = this.connection;
    try {
      const others = voicesIn(
        'realtime',
        { ...event },
        main.map(({ field }) => field),
      );
      return await channelsForVoices(gateway, key.caller, model, [...main, ...others], this.channel);
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 400) throw error;
      const [param] = error.message.split(': ', 1);
      this.#refuse({ code: 'invalid_value', message: error.message, param }, event.event_id);
      return undefined;
    }
  }

  /** Whether the state of the session allows the event. Refuses the event if it does not. */
  #allows(event: RealtimeClientEvent): boolean {
    const move = clientMoves[this.#state][event.type];
    if (!('refused' in move)) return true;
    const { code, message } = refusals[move.refused];
    this.#refuse({ code, message: `${event.type}: ${message}.` }, event.event_id);
    return false;
  }

  /** Forwards an event that was allowed, even if a provider event has changed the state since. */
  #forward(event: RealtimeClientEvent, data: Buffer | string): void {
    const move = clientMoves[this.#state][event.type];
    const isEmptyAppend = event.type === 'input_text_buffer.append' && event.text === '';
    if (!isEmptyAppend && 'next' in move) this.#state = move.next;
    this.toUpstream(data);
  }

  async #update(event: SessionUpdate, data: Buffer): Promise<void> {
    const problem = sessionProblem(this.connection.model, event.session);
    if (problem !== undefined) return this.#refuse(problem, event.event_id);
    const param = 'session.voice';
    const main = { field: param, voice: event.session.voice, named: true };
    const channels = await this.#channelsFor(event, [main]);
    // Provider events may have changed the state in the meantime.
    if (channels === undefined || this.isEnding || !this.#allows(event)) return;
    const settings = { ...this.#settings, ...event.session };
    const { channel } = this;
    if (channel === undefined || channels.includes(channel)) {
      this.#settings = settings;
      this.#forward(event, 'model' in event.session ? this.#withUpstreamModel(event, event.session) : data);
      return;
    }
    if (this.#state === 'buffered') {
      const message = `${param}: this voice requires a new connection, because the text buffer is not empty.`;
      return this.#refuse({ code: 'invalid_value', message, param }, event.event_id);
    }
    await this.connect(channels);
    this.#state = 'connected';
    this.#lastEventWasError = false;
    this.#settings = settings;
    this.#forward(event, this.#withUpstreamModel(event, settings));
  }

  /** Returns the event with these settings. A model is replaced by its upstream id. */
  #withUpstreamModel(event: SessionUpdate, settings: JsonObject): string {
    const upstream = this.channel?.upstreamModel(this.connection.model.id);
    const session = 'model' in settings ? { ...settings, model: upstream } : settings;
    return JSON.stringify({ ...event, session });
  }

  async #append(event: InputTextBufferAppend, data: Buffer): Promise<void> {
    const covered = await this.#settlement.reserve(event.text);
    if (this.isEnding) return;
    if (!covered) {
      const { refusal } = this.#settlement;
      return refusal && this.#fatal('insufficient_user_quota', refusal.message, event.event_id);
    }
    this.#forward(event, data);
    this.#settlement.addSentText(event.text);
  }

  protected fromUpstream(data: Buffer, binary: boolean): void | Promise<void> {
    this.touch();
    this.#lastEventWasError = false;
    const { client } = this;
    if (!this.#sessionCreated) return this.#handleFirstFrame(data, binary);
    if (!binary && isAudioDelta(data)) {
      this.#settlement.addAudio(data.length - envelope, this.#settings);
      client.send(data, false);
      return;
    }
    const event = readServerEvent(data, binary);
    if (event === undefined) return this.#fatal('bad_response', invalidProviderEvent);
    this.#state = serverMoves[this.#state][event.type as MovingServerEvent] ?? this.#state;
    switch (event.type) {
      case 'session.created':
        return;
      case 'session.updated':
        client.send(this.#withPublicModel(event, data), false);
        return;
      case 'response.created':
        this.#settlement.beginSynthesis();
        break;
      case 'response.audio.delta':
        this.#settlement.addAudio(String(event.delta).length, this.#settings);
        break;
      case 'response.content_part.done':
        this.#settlement.addSpokenText(objectField(event, 'part').text);
        break;
      case 'response.done':
        this.#settlement.recordResponse(event.response);
        break;
      case 'session.finished':
        return this.end({ status: 200 }, () => {
          client.send(this.#withCharge(event, data), false);
          client.close(1000);
        });
      case 'error':
        return this.#providerError(objectField(event, 'error'));
      default:
    }
    client.send(data, false);
  }

  /** Handles the first frame of the first upstream: `session.created`, or an error, which ends the session. */
  #handleFirstFrame(data: Buffer, binary: boolean): void | Promise<void> {
    const event = readServerEvent(data, binary);
    if (event?.type === 'error') return this.#providerError(objectField(event, 'error'));
    if (event?.type !== 'session.created') return this.#fatal('bad_response', invalidProviderEvent);
    this.client.send(this.#withPublicModel(event, data), false);
    this.#sessionCreated = true;
    this.#firstFrame.resolve();
  }

  /** Returns the event with the public id of the model. */
  #withPublicModel(event: JsonObject, data: Buffer): Buffer | string {
    const { id } = this.connection.model;
    const session = objectField(event, 'session');
    return session.model === id ? data : JSON.stringify({ ...event, session: { ...session, model: id } });
  }

  #providerError(reported: JsonObject): void | Promise<void> {
    const error = readProviderError(reported, this.channel);
    if ('fatal' in error) return this.#fatal(error.fatal, error.message);
    if (!this.#sessionCreated) return this.#endFailed(() => this.client.send(error.event, false));
    this.#lastEventWasError = true;
    this.client.send(error.event, false);
  }

  protected upstreamClosed(code: number): void {
    if (code === 1013) {
      void this.#fatal('rate_limit_exceeded', providerThrottled);
    } else if (this.#lastEventWasError) {
      // The client has received the provider's error already.
      void this.#endFailed(() => {});
    } else {
      void this.#fatal('bad_response', 'The provider closed the connection.');
    }
  }

  /** Ends the session with a failure of the provider, without an error event of the gateway. */
  #endFailed(notifyClient: () => void): Promise<void> {
    const { status, close } = fatalErrors.bad_response;
    return this.end({ status, errorCode: 'bad_response' }, () => {
      notifyClient();
      this.client.close(close);
    });
  }

  protected clientTooSlow(): void {
    void this.#fatal('client_too_slow', clientTooSlow);
  }

  protected idleTimedOut(): void {
    if (!this.#sessionCreated || statesAwaitingProvider.has(this.#state))
      void this.#fatal('upstream_timeout', 'The provider did not respond in time.');
    else void this.end({ status: 200 }, () => this.client.close(1000, 'idle'));
  }

  protected fail(error: unknown): void {
    const { code, message } = fatalFrom(error);
    void this.#fatal(code, message);
  }

  #refuse({ code, message, param }: SessionProblem, eventId: string | null): void {
    const error = { type: 'invalid_request_error', code, message, param, eventId };
    this.client.send(errorEvent(error), false);
  }

  #fatal(code: FatalCode, message: string, eventId?: string): Promise<void> {
    const { type, close, status } = fatalErrors[code];
    return this.end({ status, errorCode: code }, () => {
      this.client.send(errorEvent({ type, code, message, eventId }), false);
      this.client.close(close);
    });
  }

  /** Returns a `session.finished` with the charge of the session. */
  #withCharge(event: JsonObject, data: Buffer): Buffer | string {
    if (this.#charged === undefined) return data;
    const usage = { ...objectField(event, 'usage'), cost: this.#charged };
    return JSON.stringify({ ...event, usage });
  }

  protected async settle(outcome: Outcome): Promise<void> {
    this.#state = 'closed';
    this.#firstFrame.resolve();
    this.#charged = await this.#settlement.settle({ channel: this.channelName, ...outcome });
  }
}
