import { connect, HandshakeRefused } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';

/** The outcome of a request, by its id in the ledger. */
export interface ReportedOutcome {
  requestId: string;
  /** `done`: completed. `refused`: 503. `broken`: the gateway closed a socket after some speech. */
  outcome: 'done' | 'refused' | 'broken';
}

const speech = { model: 'alpha3-tts-flash', input: 'Hi.', voice: 'Aria' };
const stream = { model: 'voxa-v3-flash', input: { text: 'Hi.', voice: 'voxanna' } };
const video = { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '2', size: '480p' };

/** Clients that send requests in a loop and record the outcomes. */
export class ClientLoad {
  readonly reported: ReportedOutcome[] = [];
  readonly #url: string;
  readonly #key: string;
  #open = false;
  #running: Promise<void>[] = [];
  #failure: Error | undefined;
  /** Names of the requests in flight. */
  readonly #pending = new Set<string>();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  start(): void {
    this.#open = true;
    const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
    const events = { 'X-Native-SSE': 'enable' };
    const requests: Readonly<Record<string, () => Promise<unknown>>> = {
      'a file': () => this.#post('/v1/audio/speech', speech),
      'a stream': () => this.#post('/v1/audio/speech', { ...speech, stream: true, response_format: 'pcm' }),
      events: () => this.#post(native, stream, events),
      'more events': () => this.#post(native, stream, events),
      'a video': () => this.#post('/v1/videos', video),
      'a session': () => this.#session(),
    };
    this.#running = Object.entries(requests).map(async ([name, send]) => {
      while (this.#open) {
        this.#pending.add(name);
        await send().catch((error: unknown) => {
          this.#failure ??= error instanceof Error ? error : new Error(String(error));
          this.#open = false;
        });
        this.#pending.delete(name);
      }
    });
  }

  /** Waits for `count` more requests with an outcome. @throws Error on an unexpected response or after a timeout */
  async waitForMore(outcome: ReportedOutcome['outcome'], count: number): Promise<void> {
    const target = this.#count(outcome) + count;
    const deadline = performance.now() + timeoutMs;
    while (this.#count(outcome) < target) {
      if (performance.now() > deadline)
        throw new Error(`no request was ${outcome}; pending: ${this.#pendingNames()}`);
      if (this.#failure !== undefined) throw this.#failure;
      await pause();
    }
  }

  /** Sends requests while the database is unavailable, until one gets a 503. Earlier requests may wait for the database. */
  async sendUntilRejected(): Promise<void> {
    const sent: Promise<string | void>[] = [];
    for (;;) {
      // A request that arrives before the gateway detects the outage waits for the database.
      const request = this.#post('/v1/audio/speech', speech);
      sent.push(request);
      this.#running.push(
        request.then(
          () => {},
          (error: Error) => void (this.#failure ??= error),
        ),
      );
      const outcome = await Promise.race([...sent, pause()]);
      if (outcome === 'refused') return;
      if (outcome === 'done') throw new Error('the gateway did not detect the unavailable database');
    }
  }

  /** Stops the clients after their current requests. @throws Error on an unexpected response or after a timeout */
  async stop(): Promise<void> {
    this.#open = false;
    const deadline = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => deadline.reject(new Error(`still pending: ${this.#pendingNames()}`)),
      timeoutMs,
    );
    await Promise.race([Promise.all(this.#running), deadline.promise]).finally(() => clearTimeout(timer));
    if (this.#failure !== undefined) throw this.#failure;
  }

  #pendingNames(): string {
    return [...this.#pending].join(', ');
  }

  #count(outcome: ReportedOutcome['outcome']): number {
    return this.reported.filter((request) => request.outcome === outcome).length;
  }

  async #post(
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<ReportedOutcome['outcome']> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const requestId = response.headers.get('x-request-id') ?? '';
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status === 200) {
      this.reported.push({ requestId, outcome: 'done' });
      return 'done';
    }
    if (
      response.status !== 503 ||
      response.headers.get('retry-after') === null ||
      !isStoreUnavailable(bytes.toString())
    )
      throw new Error(`${path} was answered with ${response.status}: ${bytes.toString()}`);
    this.reported.push({ requestId, outcome: 'refused' });
    await pause();
    return 'refused';
  }

  /** Runs a realtime session with one text. */
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
    if (finished === undefined && !isStoreUnavailable(JSON.stringify(client.events.at(-1))))
      throw new Error(`a session was closed with ${code} after ${JSON.stringify(client.events)}`);
    const spoke = client.events.some(({ type }) => type === 'response.done');
    if (finished !== undefined) this.reported.push({ requestId, outcome: 'done' });
    else if (spoke) this.reported.push({ requestId, outcome: 'broken' });
  }
}

/** Longer than the slowest machine needs. */
const timeoutMs = 60_000;

const isStoreUnavailable = (text: string) => text.includes('store_unavailable');

/** Shorter than `retry-after`, which is too long for a test. */
const pause = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 20);
  });
