import type { Frame, Script, UpstreamConnection } from '../support/socket-upstream.ts';

export interface RealtimeScriptOptions {
  /** Legacy models report tokens of each response, others characters of the session. */
  unit?: 'characters' | 'tokens';
  /** Audio chunks in a response. */
  chunks?: number;
  /** Base64 of one chunk. */
  audio?: string;
}

/** Creates a scripted provider of the realtime protocol. Text counts one unit for each character. */
export function realtimeScript({
  unit = 'characters',
  chunks = 2,
  audio = 'AAABAAIA',
}: RealtimeScriptOptions = {}): Script {
  const sessions = new WeakMap<UpstreamConnection, Session>();
  return {
    opened(connection) {
      const session = new Session(connection, unit, chunks, audio);
      sessions.set(connection, session);
      session.emit('session.created', { session: session.settings });
    },
    frame: (connection, frame) => sessions.get(connection)?.handle(frame),
  };
}

class Session {
  readonly settings: Frame;
  readonly #connection: UpstreamConnection;
  readonly #unit: string;
  readonly #chunks: number;
  readonly #audio: string;
  #events = 0;
  #responses = 0;
  #characters = 0;
  #text = '';

  constructor(connection: UpstreamConnection, unit: string, chunks: number, audio: string) {
    this.#connection = connection;
    this.#unit = unit;
    this.#chunks = chunks;
    this.#audio = audio;
    const model = new URLSearchParams(connection.url.split('?')[1]).get('model') ?? '';
    this.settings = {
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

  handle(frame: Frame): void {
    switch (frame.type) {
      case 'session.update':
        Object.assign(this.settings, frame.session, { model: this.settings.model });
        this.emit('session.updated', { session: this.settings });
        break;
      case 'input_text_buffer.append':
        this.#text += String(frame.text);
        if (this.settings.mode === 'server_commit') this.#synthesize();
        break;
      case 'input_text_buffer.commit':
        this.emit('input_text_buffer.committed', { item_id: '' });
        this.#synthesize();
        break;
      case 'input_text_buffer.clear':
        this.#text = '';
        this.emit('input_text_buffer.cleared');
        break;
      case 'session.finish':
        this.#synthesize();
        this.emit('session.finished');
        this.#connection.socket.close(1000);
    }
  }

  #synthesize(): void {
    const length = this.#text.length;
    if (length === 0) return;
    this.#text = '';
    this.#characters += length;
    this.#responses += 1;
    const id = `resp_${this.#responses}`;
    const position = {
      response_id: id,
      item_id: `item_${this.#responses}`,
      output_index: 0,
      content_index: 0,
    };
    this.emit('response.created', {
      response: { id, object: 'realtime.response', status: 'in_progress', output: [] },
    });
    for (let chunk = 0; chunk < this.#chunks; chunk += 1)
      this.emit('response.audio.delta', { ...position, delta: this.#audio });
    this.emit('response.audio.done', position);
    const usage =
      this.#unit === 'tokens'
        ? { input_tokens: length, output_tokens: 50, total_tokens: length + 50 }
        : { characters: this.#characters };
    const done = { response: { id, object: 'realtime.response', status: 'completed', output: [], usage } };
    this.emit('response.done', done);
    // A repeated report must not be charged twice.
    if (this.#unit === 'tokens') this.emit('response.done', done);
  }
}
