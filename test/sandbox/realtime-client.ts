import { expect } from 'vitest';
import { validateRealtimeServerEvent } from '../../generated/event-validators.js';
import type { RealtimeServerEvent } from '../../generated/events.ts';
import type { Sandbox } from '../../server/sandbox/sandbox.ts';
import { SocketClient } from './socket-client.ts';

type EventOf<Type extends RealtimeServerEvent['type']> = Extract<RealtimeServerEvent, { type: Type }>;

/** A realtime session that validates every event against the contract. */
export class RealtimeClient extends SocketClient {
  #events = 0;

  constructor({ wsUrl, key }: Sandbox, model: string) {
    super(`${wsUrl}/api-ws/v1/realtime?model=${model}`, key);
  }

  /** Sends an event and returns its id. */
  emit(type: string, fields: object = {}): string {
    const event_id = `event_${++this.#events}`;
    this.send({ event_id, type, ...fields });
    return event_id;
  }

  async next(): Promise<RealtimeServerEvent> {
    const frame = await this.readFrame();
    if (typeof frame !== 'string') throw new Error(frame ? 'A binary frame' : 'The socket is closed');
    const event: unknown = JSON.parse(frame);
    expect(validateRealtimeServerEvent(event), frame.slice(0, 200)).toBe(true);
    return event as RealtimeServerEvent;
  }

  async expect<Type extends RealtimeServerEvent['type']>(type: Type): Promise<EventOf<Type>> {
    const event = await this.next();
    if (event.type !== type) throw new Error(`Expected ${type}, got ${JSON.stringify(event)}`);
    return event as EventOf<Type>;
  }

  /** Reads up to the first event of a type, which is the last of the result. */
  async until(type: RealtimeServerEvent['type']): Promise<RealtimeServerEvent[]> {
    const events = [await this.next()];
    while (events.at(-1)?.type !== type) events.push(await this.next());
    return events;
  }

  /** Opens a session and reads up to `session.updated`. */
  async configure(session: object): Promise<EventOf<'session.updated'>> {
    await this.expect('session.created');
    this.emit('session.update', { session });
    return await this.expect('session.updated');
  }

  append(text: string): string {
    return this.emit('input_text_buffer.append', { text });
  }

  /** Reads one response. */
  async response(): Promise<SpokenResponse> {
    return readResponse(await this.until('response.done'));
  }

  /** Appends the texts and reads up to the end of the session. */
  async speakAll(...texts: string[]): Promise<SpokenResponse[]> {
    for (const text of texts) this.append(text);
    this.emit('session.finish');
    const events = await this.until('session.finished');
    const ends = events.flatMap(({ type }, index) => (type === 'response.done' ? [index + 1] : []));
    return ends.map((end, index) => readResponse(events.slice(ends[index - 1] ?? 0, end)));
  }
}

export interface SpokenResponse {
  types: string[];
  audio: Buffer;
  done: EventOf<'response.done'>['response'];
  events: RealtimeServerEvent[];
}

function readResponse(events: RealtimeServerEvent[]): SpokenResponse {
  const done = events.at(-1);
  if (done?.type !== 'response.done') throw new Error('No response.done');
  const deltas = events.flatMap((event) => (event.type === 'response.audio.delta' ? [event.delta] : []));
  return {
    types: events.map(({ type }) => type),
    audio: Buffer.concat(deltas.map((delta) => Buffer.from(delta, 'base64'))),
    done: done.response,
    events,
  };
}
