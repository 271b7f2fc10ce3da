import type { WebSocket } from 'ws';
import type { InputTextBufferAppend, SessionUpdate } from '../../generated/events.ts';
import type { Channel } from '../channels/channel.ts';
import { channelsForVoice } from '../channels/voice-route.ts';
import { Failure } from '../failure.ts';
import type { Connection } from './connection.ts';
import { inner, isAudioDelta, isServerEvent, type JsonObject, parseObject } from './frames.ts';
import { SeenIds } from './seen-ids.ts';
import { SessionBooks } from './session-books.ts';
import {
  errorEvent,
  type FatalCode,
  fatalErrors,
  fatalFrom,
  providerThrottles,
  readProviderError,
  type SessionProblem,
} from './session-errors.ts';
import { type ClientEvent, readClientEvent } from './session-events.ts';
import { sessionProblem } from './session-rules.ts';
import {
  clientMoves,
  type MovingServerEvent,
  owesAnswer,
  refusals,
  type SessionState,
  serverMoves,
} from './session-states.ts';
import { type Outcome, SocketSession } from './socket-session.ts';

/** A realtime session: events are checked, relayed and counted, from the first one to the last. */
export class SpeechSession extends SocketSession {
  readonly #books: SessionBooks;
  readonly #seen = new SeenIds();
  #state: SessionState = 'connected';
  /** All settings that went upstream, for the case that the upstream changes. */
  #settings: JsonObject = {};
  /** A second upstream greets once more; the client has been greeted. */
  #greeted = false;
  #failedLast = false;

  /** `channels` serve the model; the voice may narrow them later. */
  constructor(connection: Connection, socket: WebSocket, channels: readonly Channel[]) {
    super(connection, '/api-ws/v1/realtime', socket);
    this.#books = new SessionBooks(connection);
    this.relay.client.occupy(() => this.relay.connect(channels));
  }

  drain(): void {
    // A session is one piece of work: it may finish.
  }

  shutDown(): void {
    void this.#fatal('service_restarting', 'The gateway is going down; connect again.');
  }

  protected fromClient(data: Buffer, binary: boolean): void | Promise<void> {
    this.heard();
    if (binary) {
      const outcome = { status: 400, errorCode: 'binary_frame' };
      return this.end(outcome, () => this.relay.client.close(1003, 'text frames only'));
    }
    const read = readClientEvent(data.toString('utf8'), this.#seen);
    if ('problem' in read) return this.#refuse(read.problem, read.eventId);
    const { event } = read;
    if (!this.#allows(event)) return;
    if (event.type === 'session.update') return this.#update(event, data);
    if (event.type === 'input_text_buffer.append' && event.text !== '') return this.#append(event, data);
    if (event.type === 'input_text_buffer.commit') this.#books.cut();
    this.#forward(event, data);
  }

  /** Whether the event may come in the state of the session; if not, the client is told why. */
  #allows(event: ClientEvent): boolean {
    const move = clientMoves[this.#state][event.type];
    if (!('refused' in move)) return true;
    const { code, message } = refusals[move.refused];
    this.#refuse({ code, message: `${event.type}: ${message}.` }, event.event_id);
    return false;
  }

  #forward(event: ClientEvent, data: Buffer | string): void {
    const move = clientMoves[this.#state][event.type];
    if ('refused' in move) return;
    const nothing = event.type === 'input_text_buffer.append' && event.text === '';
    if (!nothing) this.#state = move.next;
    this.relay.toUpstream(data);
  }

  async #update(event: SessionUpdate, data: Buffer): Promise<void> {
    const { gateway, caller, model } = this.connection;
    const problem = sessionProblem(model, event.session);
    if (problem !== undefined) return this.#refuse(problem, event.event_id);
    const param = 'session.voice';
    let channels: readonly Channel[];
    try {
      channels = await channelsForVoice(gateway, caller, model, event.session.voice, param);
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 400) throw error;
      return this.#refuse({ code: 'invalid_value', message: error.message, param }, event.event_id);
    }
    // Upstream, things have gone on in the meantime.
    if (this.over || !this.#allows(event)) return;
    const settings = { ...this.#settings, ...event.session };
    const { channel } = this.relay;
    if (channel === undefined || channels.includes(channel)) {
      this.#settings = settings;
      this.#forward(event, 'model' in event.session ? this.#renamed(event, event.session) : data);
      return;
    }
    if (this.#state === 'buffered') {
      const message = `${param}: this voice needs a new connection, since text waits already.`;
      return this.#refuse({ code: 'invalid_value', message, param }, event.event_id);
    }
    await this.relay.connect(channels);
    if (this.over) return;
    this.#state = 'connected';
    this.#settings = settings;
    this.#forward(event, this.#renamed(event, settings));
  }

  /** The event with these settings, and the model by the provider's name where it is named. */
  #renamed(event: SessionUpdate, settings: JsonObject): string {
    const upstream = this.relay.channel?.upstreamModel(this.connection.model.id);
    const session = 'model' in settings ? { ...settings, model: upstream } : settings;
    return JSON.stringify({ ...event, session });
  }

  async #append(event: InputTextBufferAppend, data: Buffer): Promise<void> {
    const covered = await this.#books.cover(event.text);
    if (this.over) return;
    if (!covered) {
      const message = "The key's remaining quota does not cover this text.";
      return this.#fatal('insufficient_user_quota', message, event.event_id);
    }
    this.#forward(event, data);
  }

  protected fromUpstream(data: Buffer, binary: boolean): void | Promise<void> {
    this.heard();
    const { client } = this.relay;
    if (!binary && isAudioDelta(data)) {
      client.send(data, false);
      return;
    }
    const event = binary ? undefined : parseObject(data.toString('utf8'));
    if (event === undefined || !isServerEvent(event))
      return this.#fatal('bad_response', 'The provider sent something unusable.');
    this.#state = serverMoves[this.#state][event.type as MovingServerEvent] ?? this.#state;
    this.#failedLast = event.type === 'error';
    switch (event.type) {
      case 'session.created':
        if (!this.#greeted) client.send(this.#ownModel(event, data), false);
        this.#greeted = true;
        return;
      case 'session.updated':
        client.send(this.#ownModel(event, data), false);
        return;
      case 'response.done':
        this.#books.note(event.response);
        client.send(data, false);
        return;
      case 'session.finished':
        return this.end({ status: 200 }, () => {
          client.send(data, false);
          client.close(1000);
        });
      case 'error':
        return this.#providerError(inner(event, 'error'));
      default:
        client.send(data, false);
    }
  }

  /** The event with the public name of the model, whatever the provider calls it. */
  #ownModel(event: JsonObject, data: Buffer): Buffer | string {
    const { id } = this.connection.model;
    const session = inner(event, 'session');
    return session.model === id ? data : JSON.stringify({ ...event, session: { ...session, model: id } });
  }

  #providerError(error: JsonObject): void | Promise<void> {
    const told = readProviderError(error, this.relay.channel);
    if ('fatal' in told) return this.#fatal(told.fatal, told.message);
    this.relay.client.send(told.event, false);
  }

  protected upstreamClosed(code: number): void {
    if (code === 1013) {
      void this.#fatal('rate_limit_exceeded', providerThrottles);
    } else if (this.#failedLast) {
      // The provider has said why; saying more would hide it.
      const { status, close } = fatalErrors.bad_response;
      void this.end({ status, errorCode: 'bad_response' }, () => this.relay.client.close(close));
    } else {
      void this.#fatal('bad_response', 'The provider closed the connection.');
    }
  }

  protected tooQuiet(): void {
    if (owesAnswer.has(this.#state)) void this.#fatal('upstream_timeout', 'The provider fell silent.');
    else void this.end({ status: 200 }, () => this.relay.client.close(1000, 'idle'));
  }

  protected fail(error: unknown): void {
    const { code, message } = fatalFrom(error);
    void this.#fatal(code, message);
  }

  #refuse({ code, message, param }: SessionProblem, eventId: string | null): void {
    const error = { type: 'invalid_request_error', code, message, param, eventId };
    this.relay.client.send(errorEvent(error), false);
  }

  #fatal(code: FatalCode, message: string, eventId?: string): Promise<void> {
    const { type, close, status } = fatalErrors[code];
    return this.end({ status, errorCode: code }, () => {
      this.relay.client.send(errorEvent({ type, code, message, eventId }), false);
      this.relay.client.close(close);
    });
  }

  protected closeBooks(outcome: Outcome): Promise<void> {
    this.#state = 'closed';
    return this.#books.close({ channel: this.relay.channelName, ...outcome });
  }
}
