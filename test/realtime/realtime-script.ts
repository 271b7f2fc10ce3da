import type { Frame, Script, UpstreamConnection } from '../support/socket-upstream.ts';

export interface RealtimeManner {
  /** Legacy models report tokens of each response, the others characters of the session. */
  unit?: 'characters' | 'tokens';
  /** Pieces of audio in a response. */
  pieces?: number;
  /** Base64 of one piece. */
  audio?: string;
}

/** A provider of the realtime protocol that does what it is told. Text counts one unit a character. */
export function realtimeScript({
  unit = 'characters',
  pieces = 2,
  audio = 'AAABAAIA',
}: RealtimeManner = {}): Script {
  const sessions = new WeakMap<UpstreamConnection, Session>();
  return {
    opened(connection) {
      const session = new Session(connection, unit, pieces, audio);
      sessions.set(connection, session);
      session.emit('session.created', { session: session.facts });
    },
    frame: (connection, frame) => sessions.get(connection)?.take(frame),
  };
}

class Session {
  readonly facts: Frame;
  readonly #connection: UpstreamConnection;
  readonly #unit: string;
  readonly #pieces: number;
  readonly #audio: string;
  #events = 0;
  #responses = 0;
  #characters = 0;
  #text = '';

  constructor(connection: UpstreamConnection, unit: string, pieces: number, audio: string) {
    this.#connection = connection;
    this.#unit = unit;
    this.#pieces = pieces;
    this.#audio = audio;
    const model = new URLSearchParams(connection.url.split('?')[1]).get('model') ?? '';
    this.facts = {
      id: 'sess_1',
      object: 'realtime.session',
      model,
      mode: 'server_commit',
      voice: 'Aria',
      response_format: 'pcm',
      sample_rate: 24000,
    };
  }

  emit(type: string, fields: object = {}): void {
    this.#events += 1;
    this.#connection.send({ event_id: `event_s${this.#events}`, type, ...fields });
  }

  take(frame: Frame): void {
    switch (frame.type) {
      case 'session.update':
        Object.assign(this.facts, frame.session, { model: this.facts.model });
        this.emit('session.updated', { session: this.facts });
        break;
      case 'input_text_buffer.append':
        this.#text += String(frame.text);
        if (this.facts.mode === 'server_commit') this.#speak();
        break;
      case 'input_text_buffer.commit':
        this.emit('input_text_buffer.committed', { item_id: '' });
        this.#speak();
        break;
      case 'input_text_buffer.clear':
        this.#text = '';
        this.emit('input_text_buffer.cleared');
        break;
      case 'session.finish':
        this.#speak();
        this.emit('session.finished');
        this.#connection.socket.close(1000);
    }
  }

  #speak(): void {
    const length = this.#text.length;
    if (length === 0) return;
    this.#text = '';
    this.#characters += length;
    this.#responses += 1;
    const id = `resp_${this.#responses}`;
    const where = { response_id: id, item_id: `item_${this.#responses}`, output_index: 0, content_index: 0 };
    this.emit('response.created', {
      response: { id, object: 'realtime.response', status: 'in_progress', output: [] },
    });
    for (let piece = 0; piece < this.#pieces; piece += 1)
      this.emit('response.audio.delta', { ...where, delta: this.#audio });
    this.emit('response.audio.done', where);
    const usage =
      this.#unit === 'tokens'
        ? { input_tokens: length, output_tokens: 50, total_tokens: length + 50 }
        : { characters: this.#characters };
    const done = { response: { id, object: 'realtime.response', status: 'completed', output: [], usage } };
    this.emit('response.done', done);
    // A report that comes twice must not be paid twice.
    if (this.#unit === 'tokens') this.emit('response.done', done);
  }
}
