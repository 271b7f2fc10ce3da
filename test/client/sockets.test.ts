import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  AbortError,
  APIError,
  AuthenticationError,
  ConnectionError,
  SocketClosedError,
  TimeoutError,
  Unigate,
  UnigateError,
} from '../../client/index.ts';
import { type Accepted, collect, type Frame, startSocketServer } from './socket-server.ts';
import { startStubServer } from './stub-server.ts';

const key = 'sk-secret';
const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const connect = (baseUrl: string) => new Unigate({ baseUrl, apiKey: key });
const voice = { voice: 'Aria' };

/** Confirms every update and finishes on request. `text` handles an append. */
function plainSession(text: (accepted: Accepted, frame: Frame) => void = () => {}) {
  return startSocketServer({
    frame(accepted, frame) {
      if (frame.type === 'session.update')
        accepted.send({ event_id: 'e1', type: 'session.updated', session: frame.session });
      else if (frame.type === 'input_text_buffer.append') text(accepted, frame);
      else if (frame.type === 'session.finish') accepted.send({ event_id: 'e2', type: 'session.finished' });
    },
  });
}

const delta = (bytes: Uint8Array) => ({
  event_id: 'd',
  type: 'response.audio.delta',
  delta: Buffer.from(bytes).toString('base64'),
});

afterEach(() => void vi.useRealTimers());

describe('the handshake', () => {
  test('sends the model, and the key in a header', async () => {
    const { url, all } = await startSocketServer();
    const session = await connect(`${url}/base/`).realtime('a model/1', { headers: { 'x-trace': '7' } });
    const inference = await connect(url).inference('voxa-v2');
    expect(all.map(({ request }) => request.url)).toEqual([
      '/base/api-ws/v1/realtime?model=a%20model%2F1',
      '/api-ws/v1/inference?model=voxa-v2',
    ]);
    expect(all[0]?.request.headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-trace': '7' });
    expect(session.requestId).toBe('req_socket');
    expect(inspect({ session, inference }, { depth: 9, showHidden: true })).not.toContain(key);
  });

  test('sends the key as a subprotocol in a browser', async () => {
    const { url, all } = await startSocketServer();
    const browser = new Unigate({ baseUrl: url, apiKey: key, webSocket: WebSocket });
    await browser.realtime('m');
    expect(all[0]?.request.headers['sec-websocket-protocol']?.split(/, */)).toEqual([
      'realtime',
      `openai-insecure-api-key.${key}`,
    ]);
    await expect(browser.inference('m')).rejects.toThrow(UnigateError);
    expect(all).toHaveLength(1);
  });

  test('never reveals the key in a browser', async () => {
    const browser = new Unigate({ apiKey: 'sk/secret=', webSocket: WebSocket });
    const error = await settled(browser.realtime('m'));
    expect(error).toBeInstanceOf(UnigateError);
    expect(inspect(error, { depth: 9 })).not.toContain('sk/secret=');
  });

  test('throws the error of the response body', async () => {
    const url = await startRefuser(401, {
      error: { code: 'invalid_api_key', message: 'No such key.', request_id: 'req_body' },
    });
    for (const call of [connect(url).realtime('m'), connect(url).inference('m')]) {
      const error = await settled(call);
      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({
        constructor: AuthenticationError,
        status: 401,
        code: 'invalid_api_key',
        message: 'No such key.',
        requestId: 'req_head',
      });
      expect((error as APIError).headers.get('x-request-id')).toBe('req_head');
      expect(inspect(error, { depth: 9 })).not.toContain(key);
    }
  });

  test('throws for a response of another server', async () => {
    const url = await startStubServer((_, response) => void response.writeHead(200).end('hello'));
    expect(await settled(connect(url).realtime('m'))).toMatchObject({ status: 200, message: 'hello' });
  });

  test('throws if the server is unreachable', async () => {
    const error = await settled(connect('http://127.0.0.1:1').realtime('m'));
    expect(error).toMatchObject({
      constructor: ConnectionError,
      message: 'The socket to 127.0.0.1:1 failed: no server accepts connections there (ECONNREFUSED).',
    });
    const browser = new Unigate({ baseUrl: 'http://127.0.0.1:1', apiKey: key, webSocket: WebSocket });
    expect(await settled(browser.realtime('m'))).toBeInstanceOf(ConnectionError);
  });

  test('ends on the timeout or the signal', async () => {
    const { url, requests } = await startSilence();
    const late = settled(connect(url).realtime('m', { timeout: 20 }));
    expect(await late).toMatchObject({
      constructor: TimeoutError,
      message: expect.stringContaining('20 ms'),
    });
    const stop = new AbortController();
    const before = requests();
    const call = settled(connect(url).inference('m', { signal: stop.signal }));
    await vi.waitUntil(() => requests() > before);
    stop.abort('enough');
    expect(await call).toMatchObject({ constructor: AbortError, cause: 'enough' });
    expect(await settled(connect(url).realtime('m', { signal: stop.signal }))).toBeInstanceOf(AbortError);
  });
});

describe('a session', () => {
  test('sends a unique id with every event', async () => {
    const { url, all } = await plainSession();
    const session = await connect(url).realtime('m');
    await session.update(voice);
    await session.append('One.');
    await session.commit();
    await session.clear();
    await session.cancel();
    expect(await session.close()).toBeUndefined();
    const received = all[0]?.received ?? [];
    expect(received.map(({ type }) => type)).toEqual([
      'session.update',
      'input_text_buffer.append',
      'input_text_buffer.commit',
      'input_text_buffer.clear',
      'response.cancel',
      'session.finish',
    ]);
    expect(new Set(received.map((event) => event.event_id)).size).toBe(6);
    expect(await all[0]?.closed).toBe(1000);
    expect(() => session.append('Two.')).toThrow(UnigateError);
    expect(await session.close()).toBeUndefined();
  });

  test('works the same in a browser', async () => {
    const { url } = await plainSession((accepted) => accepted.send(delta(Buffer.from('abc'))));
    const session = await new Unigate({ baseUrl: url, apiKey: key, webSocket: WebSocket }).realtime('m');
    const chunks = await collect(session.speak(['One.', 'Two.'], voice));
    expect(Buffer.concat(chunks).toString()).toBe('abcabc');
  });

  test('throws everywhere when the gateway closes it', async () => {
    const { url } = await plainSession((accepted) => accepted.socket.close(1000, 'idle'));
    const session = await connect(url).realtime('m');
    await session.update(voice);
    const reads = [settled(collect(session.audio())), settled(collect(session.events))];
    await session.append('One.');
    for (const outcome of await Promise.all([...reads, settled(session.close())])) {
      expect(outcome).toMatchObject({ constructor: SocketClosedError, closeCode: 1000, reason: 'idle' });
    }
    expect(await settled(session.update(voice))).toBeInstanceOf(SocketClosedError);
  });

  test('fails when the connection is lost, with the usage so far', async () => {
    const usage = { characters: 4 };
    const { url } = await plainSession((accepted) => {
      accepted.send({
        event_id: 'd',
        type: 'response.done',
        response: { id: 'r', status: 'completed', usage },
      });
      accepted.socket.close(1011);
    });
    const session = await connect(url).realtime('m');
    await session.update(voice);
    await session.append('One.');
    expect(await settled(session.close())).toMatchObject({ closeCode: 1011 });
    expect(session.usage).toEqual(usage);
  });

  test('times out without a response to update or finish', async () => {
    const { url } = await startSocketServer();
    const options = { timeout: 30_000 };
    const client = connect(url);
    const session = await client.realtime('m', options);
    const other = await client.realtime('m', options);
    const connection = await client.inference('m', options);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const calls = [session.update(voice), other.close(), connection.task(voice)].map(settled);
    await vi.advanceTimersByTimeAsync(30_000);
    for (const outcome of await Promise.all(calls)) {
      const message = 'The gateway sent nothing for 30000 ms.';
      expect(outcome).toMatchObject({ constructor: TimeoutError, message });
    }
  });

  test('throws AbortError everywhere after an abort', async () => {
    const { url, all } = await plainSession();
    const stop = new AbortController();
    const session = await connect(url).realtime('m', { signal: stop.signal });
    await session.update(voice);
    const reading = settled(collect(session.audio()));
    stop.abort();
    expect(await reading).toBeInstanceOf(AbortError);
    expect(await settled(session.close())).toBeInstanceOf(AbortError);
    expect(await settled(session.update(voice))).toBeInstanceOf(AbortError);
    expect(await all[0]?.closed).toBe(1000);
  });

  test.each(['no JSON', '7', Buffer.from('binary')])('fails on the frame %o', async (frame) => {
    const { url } = await plainSession((accepted) => accepted.socket.send(frame));
    const session = await connect(url).realtime('m');
    await session.update(voice);
    await session.append('One.');
    await expect(collect(session.audio())).rejects.toThrow(UnigateError);
  });

  test('can be read by one loop at a time', async () => {
    const { url } = await plainSession();
    const session = await connect(url).realtime('m');
    const first = collect(session.events);
    await expect(collect(session.events)).rejects.toThrow('events: another loop is already reading.');
    await session.close();
    expect(await first).toHaveLength(1);
  });
});

describe('speak', () => {
  test('streams the text', async () => {
    const { url, all } = await plainSession((accepted, { text }) =>
      accepted.send(delta(Buffer.from(String(text)))),
    );
    const session = await connect(url).realtime('m');
    const received: string[] = [];
    // The second part follows only after audio for the first.
    async function* text() {
      yield 'One.';
      await vi.waitUntil(() => received.length === 1);
      yield 'Two.';
    }
    for await (const chunk of session.speak(text(), voice)) received.push(Buffer.from(chunk).toString());
    expect(received).toEqual(['One.', 'Two.']);
    expect(all[0]?.received.at(-1)?.type).toBe('session.finish');
  });

  test('fails when the text source fails', async () => {
    const { url, all } = await plainSession();
    const session = await connect(url).realtime('m');
    async function* text() {
      yield 'One.';
      throw new Error('no more text');
    }
    await expect(collect(session.speak(text(), voice))).rejects.toThrow('no more text');
    expect(await all[0]?.closed).toBe(1000);
  });

  test('closes the socket when the loop ends early', async () => {
    const { url, all } = await plainSession((accepted) => accepted.send(delta(Buffer.from('abc'))));
    const session = await connect(url).realtime('m');
    async function* text() {
      yield 'One.';
      await new Promise(() => {});
    }
    for await (const chunk of session.speak(text(), voice)) {
      expect(chunk).toHaveLength(3);
      break;
    }
    expect(await all[0]?.closed).toBe(1000);
    await expect(session.close()).rejects.toThrow('The session was aborted.');
  });
});

describe('unread data', () => {
  const chunk = new Uint8Array(64 * 1024);
  const chunks = 1_024;

  /** Sends 64 MiB at the first text. */
  const flood = () =>
    plainSession((accepted) => {
      for (let n = 0; n < chunks; n++) accepted.send(delta(chunk));
    });

  test('pauses the gateway without data loss', async () => {
    const { url, all } = await flood();
    const session = await connect(url).realtime('m');
    await session.update(voice);
    await session.append('Long.');
    const audio = session.audio()[Symbol.asyncIterator]();
    let bytes = (await audio.next()).value?.byteLength ?? 0;
    // Socket buffers hold a few MiB. The gateway keeps the rest.
    let waiting = -1;
    await vi.waitUntil(
      () => {
        const before = waiting;
        waiting = all[0]?.socket.bufferedAmount ?? 0;
        return waiting === before;
      },
      { interval: 100, timeout: 10_000 },
    );
    expect(waiting).toBeGreaterThan(32 * 1024 * 1024);
    await session.finish();
    for (let next = await audio.next(); !next.done; next = await audio.next()) bytes += next.value.byteLength;
    expect(bytes).toBe(chunks * chunk.length);
  });

  test('is discarded by close, which waits for the end', async () => {
    const { url } = await flood();
    const session = await connect(url).realtime('m');
    await session.update(voice);
    await session.append('Long.');
    await session.close();
    expect(await collect(session.audio())).toEqual([]);
  });

  test('of the audio does not pause a reader of events, and is an error to read later', async () => {
    const { url } = await flood();
    const session = await connect(url).realtime('m');
    await session.update(voice);
    void session.append('Long.');
    void session.finish();
    const events = await collect(session.events);
    expect(events).toHaveLength(chunks + 2);
    await expect(collect(session.audio())).rejects.toThrow('audio: the unread data exceeded the buffer');
  });
});

async function startRefuser(status: number, body: object): Promise<string> {
  const text = JSON.stringify(body);
  const url = await startStubServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_head' }).end(text);
  });
  return url;
}

/** A server that accepts connections and never responds. */
async function startSilence() {
  let requests = 0;
  const url = await startStubServer(() => void requests++);
  return { url, requests: () => requests };
}
