import { type CatalogueModel, families, voiceSets } from '../../../generated/catalogue.ts';
import { isObject, type JsonObject } from '../http/json-body.ts';
import { internalError, NativeError } from '../http/native-error.ts';
import { resolveModel } from '../models.ts';
import { Parameters } from '../native/parameters.ts';
import type { SocketContext } from '../sockets/connection.ts';
import { TextBuffer } from '../sockets/text-buffer.ts';
import { errorBeforeText, errorOnArrival } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { newId, RealtimeChannel } from './realtime-channel.ts';
import { ResponseQueue } from './response-queue.ts';
import { readSessionOptions, type SessionOptions } from './session-options.ts';

/** Maximum number of characters in one event, and of characters waiting for synthesis. */
const [maxTextCharacters, maxWaitingCharacters] = [20_000, 200_000];

/** `GET /api-ws/v1/realtime?model=…`: the alpha realtime models. */
export function openRealtimeSocket(context: SocketContext): void {
  new RealtimeSession(context, resolveModel(context.query.get('model'), 'realtime')).start();
}

/** Handles the client events of a session and holds its state. */
class RealtimeSession {
  readonly #context: SocketContext;
  readonly #model: CatalogueModel;
  readonly #channel: RealtimeChannel;
  readonly #responses: ResponseQueue;
  readonly #id = newId('sess');
  readonly #eventIds = new EventIds();
  readonly #buffer = new TextBuffer();
  #values: JsonObject = {};
  #options: SessionOptions | undefined;
  /** The session cannot be updated after synthesis has started. */
  #hasStarted = false;
  #isFinishing = false;

  constructor(context: SocketContext, model: CatalogueModel) {
    const { connection, services, report } = context;
    this.#context = context;
    this.#model = model;
    this.#channel = new RealtimeChannel(connection, services.timeoutsMs.idle);
    const usesTokens = model.unit === 'tokens';
    this.#responses = new ResponseQueue({ channel: this.#channel, services, usesTokens, report });
  }

  start(): void {
    const { connection } = this.#context;
    connection.onFrame((text) => {
      this.#channel.restartIdleTimeout();
      if (text === undefined) connection.close(1003, 'text frames only');
      else this.#receive(text);
    });
    this.#channel.send('session.created', {
      session: {
        ...this.#identity(),
        mode: 'server_commit',
        voice: defaultVoice(this.#model),
        response_format: 'pcm',
        sample_rate: 24000,
      },
    });
  }

  #receive(text: string): void {
    let eventId: string | null = null;
    try {
      const event = parseEvent(text);
      eventId = typeof event.event_id === 'string' ? event.event_id : null;
      this.#handle(event);
    } catch (error) {
      this.#channel.sendError(error instanceof NativeError ? error : internalError(), eventId);
      if (!(error instanceof NativeError)) this.#context.report(error);
    }
  }

  #handle(event: JsonObject): void {
    this.#eventIds.use(event);
    const { type } = event;
    switch (type) {
      case 'session.update':
        return this.#update(event);
      case 'input_text_buffer.append':
        return this.#append(new Parameters(event, ''));
      case 'input_text_buffer.commit':
        return this.#commit();
      case 'input_text_buffer.clear':
        this.#buffer.clear();
        return this.#channel.send('input_text_buffer.cleared');
      case 'response.cancel':
        return this.#responses.cancel();
      case 'session.finish':
        return this.#finish();
      default:
        throw invalidEvent(`type ${String(type).slice(0, 100)} is unknown`, 'type');
    }
  }

  #update({ session }: JsonObject): void {
    if (!isObject(session)) throw invalidEvent('session is required and must be an object', 'session');
    if (this.#hasStarted || this.#isFinishing) {
      throw invalidValue('session.update: the session cannot be changed after synthesis has begun');
    }
    const fields = `${String(session.voice)} ${String(session.instructions)}`;
    const error = errorBeforeText(fields);
    if (error) return this.#channel.fail(error);
    if (findTriggers(fields).has('hang')) return this.#context.connection.silence();
    const values = { ...this.#values, ...session };
    this.#options = readSessionOptions(values, this.#model, this.#context.services.voices);
    this.#values = values;
    this.#channel.send('session.updated', {
      session: { ...this.#options.sessionObject, ...this.#identity() },
    });
  }

  #append(event: Parameters): void {
    const options = this.#requireOptions('input_text_buffer.append');
    const text = event.string('text');
    if (text === undefined) throw event.invalid('text', 'is required');
    if (text.length > maxTextCharacters)
      throw event.invalid('text', `must not be longer than ${maxTextCharacters} characters`);
    if (this.#responses.waitingCharacters + this.#buffer.length + text.length > maxWaitingCharacters) {
      throw event.invalid(
        'text',
        `exceeds the limit of ${maxWaitingCharacters} characters waiting for synthesis`,
      );
    }
    const error = errorOnArrival(text);
    if (error) return this.#channel.fail(error);
    this.#buffer.append(text);
    if (options.mode === 'server_commit') this.#speak(this.#buffer.readSentences(), options);
  }

  #commit(): void {
    const options = this.#requireOptions('input_text_buffer.commit');
    if (this.#buffer.isBlank) throw new NativeError(400, 'empty_buffer', 'The text buffer is empty');
    this.#channel.send('input_text_buffer.committed', { item_id: '' });
    this.#speak(this.#buffer.readAll(), options);
  }

  #finish(): void {
    if (this.#isFinishing) throw invalidValue('session.finish: the session is finishing already');
    this.#isFinishing = true;
    if (this.#options && !this.#buffer.isBlank) this.#speak(this.#buffer.readAll(), this.#options);
    this.#responses.end(() => {
      this.#channel.send('session.finished');
      this.#context.connection.close(1000);
    });
  }

  #requireOptions(type: string): SessionOptions {
    if (!this.#options) throw new NativeError(400, 'session_not_ready', `${type}: wait for session.updated`);
    if (this.#isFinishing) throw invalidValue(`${type}: the session is finishing`);
    return this.#options;
  }

  #speak(text: string, options: SessionOptions): void {
    if (text === '') return;
    this.#hasStarted = true;
    this.#responses.add(text, options);
  }

  #identity(): object {
    return { id: this.#id, object: 'realtime.session', model: this.#model.id };
  }
}

function defaultVoice({ family, voices }: CatalogueModel): string {
  const set = families[family].voiceSet;
  return voices === 'system' && set ? (voiceSets[set][0]?.id ?? '') : '';
}

const maxEventIdLength = 512;

/** Parses a client event. Throws unless the text is a JSON object. */
function parseEvent(text: string): JsonObject {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    event = undefined;
  }
  if (!isObject(event)) throw invalidEvent('An event must be a JSON object');
  return event;
}

/** Event ids of one connection, each of which can be used once. */
class EventIds {
  readonly #used = new Set<string>();

  /** Throws if the event has no id, or one that was used before. */
  use({ event_id: id }: JsonObject): void {
    if (typeof id !== 'string' || id === '' || id.length > maxEventIdLength) {
      throw invalidEvent(`event_id must be a string of 1 to ${maxEventIdLength} characters`, 'event_id');
    }
    if (this.#used.has(id)) throw invalidEvent('event_id must be new in its connection', 'event_id');
    this.#used.add(id);
  }
}

function invalidEvent(message: string, field?: string): NativeError {
  return new NativeError(400, 'invalid_event', message, {}, field);
}

function invalidValue(message: string): NativeError {
  return new NativeError(400, 'invalid_value', message);
}
