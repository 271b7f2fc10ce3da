import { connect, HandshakeRefused } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';

/** What became of a request, by its id in the books. */
export interface Reported {
  requestId: string;
  /** `done`: to its end. `refused`: with 503. `broken`: a socket that spoke and was ended by the gateway. */
  outcome: 'done' | 'refused' | 'broken';
}

const speech = { model: 'alpha3-tts-flash', input: 'Hi.', voice: 'Aria' };
const stream = { model: 'voxa-v3-flash', input: { text: 'Hi.', voice: 'voxanna' } };
const video = { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '2', size: '480p' };

/** Customers of a gateway who ask again and again, and know what they were told. */
export class Customers {
  readonly told: Reported[] = [];
  readonly #url: string;
  readonly #key: string;
  #open = false;
  #running: Promise<void>[] = [];
  #failure: Error | undefined;
  /** What customers wait for at the moment. */
  readonly #waiting = new Set<string>();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  start(): void {
    this.#open = true;
    const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
    const events = { 'X-Native-SSE': 'enable' };
    const wishes: Readonly<Record<string, () => Promise<unknown>>> = {
      'a file': () => this.#post('/v1/audio/speech', speech),
      'a stream': () => this.#post('/v1/audio/speech', { ...speech, stream: true, response_format: 'pcm' }),
      events: () => this.#post(native, stream, events),
      'more events': () => this.#post(native, stream, events),
      'a video': () => this.#post('/v1/videos', video),
      'a session': () => this.#session(),
    };
    this.#running = Object.entries(wishes).map(async ([name, ask]) => {
      while (this.#open) {
        this.#waiting.add(name);
        await ask().catch((error: unknown) => {
          this.#failure ??= error instanceof Error ? error : new Error(String(error));
          this.#open = false;
        });
        this.#waiting.delete(name);
      }
    });
  }

  /** Resolves when so many more were told this. @throws what a customer must never see */
  async more(outcome: Reported['outcome'], count: number): Promise<void> {
    const enough = this.#count(outcome) + count;
    const late = performance.now() + patience;
    while (this.#count(outcome) < enough) {
      if (performance.now() > late)
        throw new Error(`nobody was told ${outcome}; they wait for ${this.#asked()}`);
      if (this.#failure !== undefined) throw this.#failure;
      await pause();
    }
  }

  /** One more comes while the database is away. Those before may all be waiting for it, with something to be paid. */
  async oneMore(): Promise<void> {
    const asked: Promise<string | void>[] = [];
    for (;;) {
      // One that came before anybody could know waits for the database, too.
      const one = this.#post('/v1/audio/speech', speech);
      asked.push(one);
      this.#running.push(
        one.then(
          () => {},
          (error: Error) => void (this.#failure ??= error),
        ),
      );
      const outcome = await Promise.race([...asked, pause()]);
      if (outcome === 'refused') return;
      if (outcome === 'done') throw new Error('a database that is away was not missed');
    }
  }

  /** Resolves when nobody waits for anything any more. @throws what a customer must never see */
  async stop(): Promise<void> {
    this.#open = false;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`they still wait for ${this.#asked()}`)), patience);
    await Promise.race([Promise.all(this.#running), late.promise]).finally(() => clearTimeout(timer));
    if (this.#failure !== undefined) throw this.#failure;
  }

  #asked(): string {
    return [...this.#waiting].join(', ');
  }

  #count(outcome: Reported['outcome']): number {
    return this.told.filter((one) => one.outcome === outcome).length;
  }

  async #post(
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Reported['outcome']> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const requestId = response.headers.get('x-request-id') ?? '';
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status === 200) {
      this.told.push({ requestId, outcome: 'done' });
      return 'done';
    }
    if (response.status !== 503 || response.headers.get('retry-after') === null || !isAway(bytes.toString()))
      throw new Error(`${path} was answered with ${response.status}: ${bytes.toString()}`);
    this.told.push({ requestId, outcome: 'refused' });
    await pause();
    return 'refused';
  }

  /** A realtime session of one text. */
  async #session(): Promise<void> {
    const address = `${this.#url}/v1/realtime?model=alpha3-tts-flash-realtime`;
    const client = await connect(address, { key: this.#key }).catch((error: unknown) => {
      if (error instanceof HandshakeRefused && error.status === 503) return undefined;
      throw error;
    });
    if (client === undefined) return pause();
    const requestId = String(client.headers['x-request-id']);
    const send = (type: string, fields: object) => client.send({ event_id: `${type}_1`, type, ...fields });
    const seen = (type: string) => client.next((event: Frame) => event.type === type).catch(() => undefined);
    send('session.update', { session: { voice: 'Aria', mode: 'server_commit' } });
    if ((await seen('session.updated')) !== undefined) {
      send('input_text_buffer.append', { text: 'Hi. ' });
      send('session.finish', {});
    }
    const finished = await seen('session.finished');
    const { code } = await client.closed;
    if (finished === undefined && !isAway(JSON.stringify(client.events.at(-1))))
      throw new Error(`a session was closed with ${code} after ${JSON.stringify(client.events)}`);
    const spoke = client.events.some(({ type }) => type === 'response.done');
    if (finished !== undefined) this.told.push({ requestId, outcome: 'done' });
    else if (spoke) this.told.push({ requestId, outcome: 'broken' });
  }
}

/** Longer than the slowest machine needs, in milliseconds. */
const patience = 60_000;

const isAway = (text: string) => text.includes('store_unavailable');

/** As long as `retry-after` says would be too long for a test. */
const pause = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 20);
  });
