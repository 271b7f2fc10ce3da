import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ManualTimers } from '../support/manual-timers.ts';
import { faultsOf } from './behaviors.ts';
import { type Mock, startMock } from './server.ts';
import { append, eventOf, update } from './sockets/client-events.ts';

let mock: Mock;
const timers = new ManualTimers();
beforeAll(async () => {
  mock = await startMock({ timers, paceMs: 0 });
});
afterAll(() => mock.close());
afterEach(async () => {
  await fetch(`${mock.url}/__mock/behaviours`, { method: 'DELETE' });
  await fetch(`${mock.url}/__mock/requests`, { method: 'DELETE' });
});

interface RecordedRequest {
  delay?: number;
  fault?: string;
  status?: number;
  end?: string;
}

const key = { authorization: 'Bearer any' };
const state = async () =>
  (await (await fetch(`${mock.url}/__mock/state`)).json()) as {
    behaviours: Record<string, object>;
    requests: RecordedRequest[];
  };
const last = async () => (await state()).requests[0] ?? {};
const set = (scope: string, behaviour: unknown) =>
  fetch(`${mock.url}/__mock/behaviours/${scope}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(behaviour),
  });
const speech = (headers: Record<string, string>, stream = false, url = mock.url) =>
  fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'alpha3-tts-flash',
      voice: 'Aria',
      input: 'Hello.',
      stream,
      ...(stream && { stream_format: 'sse' }),
    }),
  });

/** Sends a request on a separate connection, so that it can be aborted. */
function send(headers: Record<string, string>, path = '/v1/models'): ClientRequest {
  const sent = request(mock.url + path, { headers: { ...key, ...headers }, agent: false });
  sent.on('error', () => {});
  return sent.end();
}

describe('a request header sets', () => {
  test('a delay, which ends when the client disconnects', async () => {
    await vi.waitFor(() => expect(timers.pending).toBe(0));
    const slow = send({ 'x-mock-delay': '800' });
    await vi.waitFor(async () => expect(await last()).toMatchObject({ delay: 800 }));
    timers.advance(799);
    expect((await last()).status).toBeUndefined();
    timers.advance(1);
    const [reply] = (await once(slow, 'response')) as [IncomingMessage];
    expect(reply.statusCode).toBe(200);
    reply.resume();

    const aborted = send({ 'x-mock-delay': '800' });
    await vi.waitFor(async () => expect((await last()).end).toBeUndefined());
    await vi.waitFor(() => expect(timers.pending).toBe(1));
    aborted.destroy();
    await vi.waitFor(() => expect(timers.pending).toBe(0));
    expect(await last()).toMatchObject({ end: 'broken' });
  });

  test('jitter within its limit', async () => {
    for (let round = 0; round < 20; round += 1) {
      const sent = send({ 'x-mock-delay': '10', 'x-mock-jitter': '5' });
      await vi.waitFor(async () => expect((await last()).delay).toBeDefined());
      const { delay = 0 } = await last();
      expect(delay).toBeGreaterThanOrEqual(10);
      expect(delay).toBeLessThanOrEqual(15);
      timers.advance(15);
      const [reply] = (await once(sent, 'response')) as [IncomingMessage];
      reply.resume();
      await once(reply, 'end');
      await fetch(`${mock.url}/__mock/requests`, { method: 'DELETE' });
    }
  });

  test('a documented status', async () => {
    const reply = await speech({ 'x-mock-status': '429' });
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await reply.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });

  test('a connection that is closed without a response', async () => {
    await expect(speech({ 'x-mock-fault': 'drop' })).rejects.toThrow();
    expect(await last()).toMatchObject({ fault: 'drop', end: 'broken' });
    expect((await last()).status).toBeUndefined();
  });

  test('a response that never comes, until the client disconnects', async () => {
    const stalled = send({ 'x-mock-fault': 'stall' });
    await vi.waitFor(async () => expect(await last()).toMatchObject({ fault: 'stall' }));
    timers.advance(3_600_000);
    expect((await last()).end).toBeUndefined();
    stalled.destroy();
    await vi.waitFor(async () => expect((await last()).end).toBe('broken'));
  });

  test('half a response, then a disconnect', async () => {
    const path = '/v1/models';
    const fullText = await (await fetch(mock.url + path, { headers: key })).text();
    const [reply] = (await once(send({ 'x-mock-fault': 'truncate' }, path), 'response')) as [IncomingMessage];
    let text = '';
    reply.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await expect(once(reply, 'end')).rejects.toThrow('aborted');
    expect(text.length).toBe(Math.floor(fullText.length / 2));
    expect(fullText).toContain(text);
  });

  test.each([false, true])('half of the speech, then a disconnect (stream: %s)', async (stream) => {
    const reply = await speech({ 'x-mock-fault': 'truncate' }, stream);
    expect(reply.status).toBe(200);
    await expect(reply.arrayBuffer()).rejects.toThrow('terminated');
  });

  test('half a response, then nothing', async () => {
    const [reply] = (await once(send({ 'x-mock-fault': 'hang' }), 'response')) as [IncomingMessage];
    await once(reply, 'data');
    expect((await last()).end).toBeUndefined();
    reply.destroy();
    await vi.waitFor(async () => expect((await last()).end).toBe('broken'));
  });

  test('an invalid body', async () => {
    const reply = await fetch(`${mock.url}/v1/models`, { headers: { ...key, 'x-mock-fault': 'garbage' } });
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    await expect(reply.json()).rejects.toThrow(SyntaxError);
  });

  test('one invalid event in a stream', async () => {
    const otherMock = await startMock({ paceMs: 0 });
    const events = await (await speech({ 'x-mock-fault': 'garbage' }, true, otherMock.url)).text();
    expect(events.startsWith('data: {"type":\n\n')).toBe(true);
    expect(events).toContain('"finish_reason":"stop"');
    await otherMock.close();
  });

  test.each([
    ['x-mock-delay', 'soon', 'must be a whole number from 0 to 600000'],
    ['x-mock-delay', '600001', 'must be a whole number from 0 to 600000'],
    ['x-mock-jitter', '-1', 'must be a whole number from 0 to 600000'],
    ['x-mock-status', '418', '418 is not documented for this operation, must be one of 200, 400'],
    ['x-mock-fault', 'explode', 'must be one of none, drop, stall, truncate, hang, garbage'],
    ['x-mock-dealy', '1', 'is unknown, must be one of x-mock-delay'],
    ['x-mock-times', '1', 'is not available for a single request'],
  ])('%s: %s is rejected', async (name, value, expected) => {
    const reply = await speech({ [name]: value });
    expect(reply.status).toBe(400);
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(error.message).toContain(`${name}: `);
    expect(error.message).toContain(expected);
  });

  test('a preflight allows the headers', async () => {
    const reply = await fetch(`${mock.url}/v1/models`, {
      method: 'OPTIONS',
      headers: {
        origin: 'http://page.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,prefer,x-mock-delay',
      },
    });
    const allowed = reply.headers.get('access-control-allow-headers');
    expect(allowed).toBe('authorization,prefer,x-mock-delay');
  });
});

describe('the control API', () => {
  test('sets a behavior for one or all operations and a number of requests, and resets it', async () => {
    await set('createSpeech', { status: 503, times: 2 });
    await set('all', { status: 404, fault: 'none' });
    const statuses = [];
    for (let round = 0; round < 3; round += 1) statuses.push((await speech({})).status);
    expect(statuses).toEqual([503, 503, 404]);
    // 404 is not documented for the list of models.
    expect((await fetch(`${mock.url}/v1/models`, { headers: key })).status).toBe(200);
    // A header of the request takes precedence.
    expect((await speech({ 'x-mock-status': '200' })).status).toBe(200);
    expect((await state()).behaviours).toEqual({ all: { status: 404, fault: 'none' } });
    await fetch(`${mock.url}/__mock/behaviours/all`, { method: 'DELETE' });
    expect((await speech({})).status).toBe(200);
    expect((await state()).behaviours).toEqual({});
  });

  test.each([
    ['all', { delay: 1.5 }, 'delay: must be a whole number from 0 to 600000'],
    ['all', { times: 0 }, 'times: must be a whole number from 1 to'],
    ['all', { speed: 1 }, 'speed: is unknown'],
    ['all', [], 'body: must be a JSON object'],
    ['createSpeech', { fault: 'close-1011' }, 'fault: must be one of none, drop'],
    ['openRealtimeSocket', { fault: 'truncate' }, 'fault: must be one of none, refuse, stall, drop'],
    ['openRealtimeSocket', { status: 429 }, 'status: is not available for a socket'],
    ['createSpeach', {}, 'operation: must be an operationId or all, not createSpeach'],
  ])('rejects for %s: %j', async (scope, behaviour, expected) => {
    const reply = await set(scope, behaviour);
    expect(reply.status).toBe(400);
    expect(((await reply.json()) as { error: { message: string } }).error.message).toContain(expected);
  });

  test('rejects invalid JSON, another content type and an unknown path', async () => {
    const put = (body: string, type: string) =>
      fetch(`${mock.url}/__mock/behaviours/all`, { method: 'PUT', headers: { 'content-type': type }, body });
    expect((await put('{', 'application/json')).status).toBe(400);
    expect((await put('{}', 'text/plain')).status).toBe(400);
    expect((await fetch(`${mock.url}/__mock/none`)).status).toBe(404);
  });
});

describe('a socket', () => {
  const path = '/v1/realtime?model=alpha3-tts-flash-realtime';
  const open = (query: string, headers: Record<string, string> = {}) => {
    const socket = new WebSocket(mock.url.replace('http', 'ws') + path + query, {
      headers: { ...key, ...headers },
    });
    socket.on('error', () => {});
    return socket;
  };

  test.each(['&mock_fault=refuse', ''])('is closed without a handshake response: %s', async (query) => {
    if (query === '') await set('openRealtimeSocket', { fault: 'refuse' });
    const code = await new Promise((resolve) => open(query).once('close', resolve));
    expect(code).toBe(1006);
    expect((await last()).status).toBeUndefined();
  });

  test('gets no handshake response until its client disconnects', async () => {
    const socket = open('', { 'x-mock-fault': 'stall' });
    await vi.waitFor(async () => expect(await last()).toMatchObject({ fault: 'stall' }));
    expect((await last()).end).toBeUndefined();
    socket.terminate();
    await vi.waitFor(async () => expect((await last()).end).toBe('broken'));
  });

  test('is rejected with the status set by the control API', async () => {
    await set('openRealtimeSocket', { fault: 'refuse-429', times: 1 });
    const [, response] = (await once(open(''), 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(429);
  });

  test('delays the handshake and each frame, in order, until its client disconnects', async () => {
    await vi.waitFor(() => expect(timers.pending).toBe(0));
    const aborted = open('&mock_delay=500');
    await vi.waitFor(() => expect(timers.pending).toBe(1));
    aborted.terminate();
    await vi.waitFor(() => expect(timers.pending).toBe(0));

    const socket = open('&mock_delay=500');
    const receivedTypes: string[] = [];
    socket.on('message', (data) =>
      receivedTypes.push((JSON.parse((data as Buffer).toString()) as { type: string }).type),
    );
    await vi.waitFor(() => expect(timers.pending).toBe(1));
    timers.advance(500);
    await once(socket, 'message');
    const idle = timers.pending;
    for (const event of [
      update({ voice: 'Aria', mode: 'commit' }),
      append('Hello.'),
      eventOf('input_text_buffer.clear'),
    ])
      socket.send(JSON.stringify(event));
    await vi.waitFor(() => expect(timers.pending).toBe(idle + 3));
    expect(receivedTypes).toEqual(['session.created']);
    // The confirmation of the settings comes a moment later, so text sent before it is rejected.
    timers.advance(500);
    await vi.waitFor(() =>
      expect(receivedTypes).toEqual(['session.created', 'error', 'input_text_buffer.cleared']),
    );
    socket.terminate();
    await vi.waitFor(() => expect(timers.pending).toBe(0));
  });

  test.each([
    ['&mock_delay=x', 'mock_delay: must be a whole number'],
    ['&mock_fault=none-such', 'mock_fault: must be one of'],
    ['&mock_speed=1', 'mock_speed: is unknown'],
  ])('is rejected with 400 for %s', async (query, expected) => {
    const [, response] = (await once(open(query), 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(400);
    const body = Buffer.concat(await response.toArray()).toString();
    expect(body).toContain(expected);
  });

  test('has faults of every kind', () => {
    expect(faultsOf('openRealtimeSocket')).toEqual(
      expect.arrayContaining(['refuse', 'stall', 'drop', 'hang', 'error', 'close-1011', 'refuse-429']),
    );
  });
});
