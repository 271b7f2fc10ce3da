import type { WebSocket } from 'ws';
import type { InputTextBufferAppend, SessionUpdate } from '../../../generated/events.ts';
import type { Channel } from '../../channels/channel.ts';
import { channelsForVoices, type NamedVoice } from '../../channels/voice-route.ts';
import { Failure } from '../../lib/failure.ts';
import { envelope } from '../../models/speech-time.ts';
import { voicesIn } from '../../providers/native/voice-places.ts';
import type { Connection } from '../connection.ts';
import { inner, isAudioDelta, type JsonObject, readServerEvent, SeenIds } from '../frames.ts';
import { type Outcome, SocketSession } from '../session.ts';
import { SessionBooks } from './books.ts';
import {
  errorEvent,
  type FatalCode,
  fatalErrors,
  fatalFrom,
  notRead,
  providerThrottles,
  readProviderError,
  type SessionProblem,
} from './errors.ts';
import { type ClientEvent, readClientEvent, sessionProblem } from './events.ts';
import {
  clientMoves,
  type MovingServerEvent,
  owesAnswer,
  refusals,
  type SessionState,
  serverMoves,
} from './states.ts';

const unusable = 'The provider sent something unusable.';

type OtherEvent = Exclude<ClientEvent, SessionUpdate>;

/** Of all events but `session.update`. */
const plainKeys: ReadonlySet<string> = new Set(['event_id', 'type', 'text']);

/** A realtime session: events are checked, relayed and counted, from the first one to the last. */
export class RealtimeSession extends SocketSession {
  readonly #books: SessionBooks;
  readonly #seen = new SeenIds();
  #state: SessionState = 'connected';
  /** All settings that went upstream, for the case that the upstream changes. */
  #settings: JsonObject = {};
  /** Whether the client has its `session.created`: nothing may come before it, and a second upstream's is dropped. */
  #sessionCreated = false;
  readonly #firstFrame = Promise.withResolvers<void>();
  /** Whether the last word of the upstream was an error, so that a hang-up needs no other. */
  #failedLast = false;

  /** `channels` serve the model; the voice may narrow them later. */
  constructor(connection: Connection, socket: WebSocket, channels: readonly Channel[]) {
    super(connection, '/api-ws/v1/realtime', socket);
    this.#books = new SessionBooks(connection);
    const { client } = this.relay;
    client.gone.addEventListener('abort', () => this.#firstFrame.resolve(), { once: true });
    // What the client sends at once waits until it has been greeted, so that no answer comes before the greeting.
    client.occupy(async () => {
      await this.relay.connect(channels);
      await this.#firstFrame.promise;
    });
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
    if (Object.keys(event).some((key) => !plainKeys.has(key))) return this.#extended(event, data);
    return this.#take(event, data);
  }

  #take(event: OtherEvent, data: Buffer): void | Promise<void> {
    if (event.type === 'input_text_buffer.append' && event.text !== '') return this.#append(event, data);
    if (event.type === 'input_text_buffer.commit' || event.type === 'session.finish') this.#books.begun();
    if (event.type === 'input_text_buffer.clear') this.#books.cleared();
    this.#forward(event, data);
  }

  /** What the contract does not know goes upstream, too, but names no voice that the session could not have. */
  async #extended(event: OtherEvent, data: Buffer): Promise<void> {
    const channels = await this.#channelsFor(event, []);
    if (channels === undefined || this.over) return;
    const { channel } = this.relay;
    if (channel === undefined || channels.includes(channel)) return this.#take(event, data);
    const message = `${event.type}: it names a voice that needs a new connection.`;
    this.#refuse({ code: 'invalid_value', message }, event.event_id);
  }

  /** The channels that can speak with the voices of an event. Undefined: none can, and the client was told. */
  async #channelsFor(event: ClientEvent, main: readonly NamedVoice[]): Promise<Channel[] | undefined> {
    const { gateway, key, model } = this.connection;
    try {
      const others = voicesIn(
        'realtime',
        { ...event },
        main.map(({ field }) => field),
      );
      return await channelsForVoices(gateway, key.caller, model, [...main, ...others], this.relay.channel);
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 400) throw error;
      const [param] = error.message.split(': ', 1);
      this.#refuse({ code: 'invalid_value', message: error.message, param }, event.event_id);
      return undefined;
    }
  }

  /** Whether the event may come in the state of the session; if not, the client is told why. */
  #allows(event: ClientEvent): boolean {
    const move = clientMoves[this.#state][event.type];
    if (!('refused' in move)) return true;
    const { code, message } = refusals[move.refused];
    this.#refuse({ code, message: `${event.type}: ${message}.` }, event.event_id);
    return false;
  }

  /** Sends an event on that may come in the state of the session: what the provider says in the meantime forbids none. */
  #forward(event: ClientEvent, data: Buffer | string): void {
    const move = clientMoves[this.#state][event.type];
    const nothing = event.type === 'input_text_buffer.append' && event.text === '';
    if (!nothing && 'next' in move) this.#state = move.next;
    this.relay.toUpstream(data);
  }

  async #update(event: SessionUpdate, data: Buffer): Promise<void> {
    const problem = sessionProblem(this.connection.model, event.session);
    if (problem !== undefined) return this.#refuse(problem, event.event_id);
    const param = 'session.voice';
    const main = { field: param, voice: event.session.voice, named: true };
    const channels = await this.#channelsFor(event, [main]);
    // Upstream, things have gone on in the meantime.
    if (channels === undefined || this.over || !this.#allows(event)) return;
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
    this.#state = 'connected';
    this.#failedLast = false;
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
    this.#books.sent(event.text);
  }

  protected fromUpstream(data: Buffer, binary: boolean): void | Promise<void> {
    this.heard();
    this.#failedLast = false;
    const { client } = this.relay;
    if (!this.#sessionCreated) return this.#handleFirstFrame(data, binary);
    if (!binary && isAudioDelta(data)) {
      this.#books.heard(data.length - envelope, this.#settings);
      client.send(data, false);
      return;
    }
    const event = readServerEvent(data, binary);
    if (event === undefined) return this.#fatal('bad_response', unusable);
    this.#state = serverMoves[this.#state][event.type as MovingServerEvent] ?? this.#state;
    switch (event.type) {
      case 'session.created':
        // A second upstream's: the client has been greeted.
        return;
      case 'session.updated':
        client.send(this.#ownModel(event, data), false);
        return;
      case 'response.created':
        this.#books.begun();
        break;
      case 'response.audio.delta':
        this.#books.heard(String(event.delta).length, this.#settings);
        break;
      case 'response.content_part.done':
        this.#books.named(inner(event, 'part').text);
        break;
      case 'response.done':
        this.#books.note(event.response);
        break;
      case 'session.finished':
        return this.end({ status: 200 }, () => {
          client.send(data, false);
          client.close(1000);
        });
      case 'error':
        return this.#providerError(inner(event, 'error'));
      default:
    }
    client.send(data, false);
  }

  /** The first frame of the first upstream: a greeting, or a refusal, which ends the session. */
  #handleFirstFrame(data: Buffer, binary: boolean): void | Promise<void> {
    const event = readServerEvent(data, binary);
    if (event?.type === 'error') {
      const told = readProviderError(inner(event, 'error'), this.relay.channel);
      if ('fatal' in told) return this.#fatal(told.fatal, told.message);
      return this.#endFailed(() => this.relay.client.send(told.event, false));
    }
    if (event?.type !== 'session.created') return this.#fatal('bad_response', unusable);
    this.relay.client.send(this.#ownModel(event, data), false);
    this.#sessionCreated = true;
    this.#firstFrame.resolve();
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
    this.#failedLast = true;
    this.relay.client.send(told.event, false);
  }

  protected upstreamClosed(code: number): void {
    if (code === 1013) {
      void this.#fatal('rate_limit_exceeded', providerThrottles);
    } else if (this.#failedLast) {
      // The provider has said why; saying more would hide it.
      void this.#endFailed(() => {});
    } else {
      void this.#fatal('bad_response', 'The provider closed the connection.');
    }
  }

  /** Ends it as the provider's failure, without words of our own. */
  #endFailed(notifyClient: () => void): Promise<void> {
    const { status, close } = fatalErrors.bad_response;
    return this.end({ status, errorCode: 'bad_response' }, () => {
      notifyClient();
      this.relay.client.close(close);
    });
  }

  protected clientStalled(): void {
    void this.#fatal('client_too_slow', notRead);
  }

  protected tooQuiet(): void {
    if (!this.#sessionCreated || owesAnswer.has(this.#state))
      void this.#fatal('upstream_timeout', 'The provider fell silent.');
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
    this.#firstFrame.resolve();
    return this.#books.close({ channel: this.relay.channelName, ...outcome });
  }
}
