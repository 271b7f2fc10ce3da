import { describe, expect, test } from 'vitest';
import { taskDurationMs, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream({ draft: true });

type Body = Record<string, unknown> | undefined;

interface Protocol {
  name: string;
  create: string;
  headers: Record<string, string>;
  request: (prompt: string) => object;
  idOf: (body: Body) => string;
  poll: (id: string) => string;
  statusOf: (body: Body) => unknown;
  codeOf: (body: Body) => unknown;
  /** Error codes, in the order of the table below. */
  codes: readonly string[];
  queued: string;
  running: string;
  lost: { status: number; shown?: string };
}

const at = (body: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], body);

const native = {
  headers: { 'X-Native-Async': 'enable' },
  idOf: (body: Body) => String(at(body, 'output', 'task_id')),
  poll: (id: string) => `/api/v1/tasks/${id}`,
  statusOf: (body: Body) => at(body, 'output', 'task_status'),
  codeOf: (body: Body) => at(body, 'code'),
  codes: [
    'DataInspectionFailed',
    'InvalidApiKey',
    'AccessDenied',
    'Throttling.RateQuota',
    'InternalError',
    'ModelUnavailable',
  ],
  queued: 'PENDING',
  running: 'RUNNING',
  lost: { status: 200, shown: 'UNKNOWN' },
};

const protocols: readonly Protocol[] = [
  {
    name: 'native video',
    create: '/api/v1/services/aigc/video-generation/video-synthesis',
    request: (prompt) => ({ model: 'gamma3.0-video-prime', input: { prompt } }),
    ...native,
  },
  {
    name: '3D',
    create: '/api/v1/services/aigc/video-generation/3d-generation',
    request: (prompt) => ({ model: 'theta-3d', input: { prompt } }),
    ...native,
  },
  {
    name: 'official',
    create: '/api/v3/contents/generations/tasks',
    headers: {},
    request: (prompt) => ({ model: 'epsilon-delta-2-0-260128', content: [{ type: 'text', text: prompt }] }),
    idOf: (body) => String(at(body, 'id')),
    poll: (id) => `/api/v3/contents/generations/tasks/${id}`,
    statusOf: (body) => at(body, 'status'),
    codeOf: (body) => at(body, 'error', 'code'),
    codes: [
      'InputTextSensitiveContentDetected',
      'AuthenticationError',
      'AccessDenied',
      'RateLimitExceeded.EndpointRPMExceeded',
      'InternalServiceError',
      'ServerOverloaded',
    ],
    queued: 'queued',
    running: 'running',
    lost: { status: 404 },
  },
  {
    name: 'eta',
    create: '/v1/videos/generations',
    headers: {},
    request: (prompt) => ({ model: 'eta-imagine-video', prompt }),
    idOf: (body) => String(at(body, 'request_id')),
    poll: (id) => `/v1/videos/${id}`,
    statusOf: (body) => at(body, 'status'),
    codeOf: (body) => at(body, 'error', 'code'),
    codes: [
      'invalid_argument',
      'unauthenticated',
      'permission_denied',
      'resource_exhausted',
      'internal',
      'unavailable',
    ],
    queued: 'pending',
    running: 'pending',
    lost: { status: 404 },
  },
];

/** Some eta polls have no body while the task runs. */
const isEnded = ({ statusOf, running }: Protocol, body: Body) =>
  body !== undefined && statusOf(body) !== running;

describe.each(protocols)('$name', (protocol) => {
  const send = (prompt: string) =>
    client.send<Body>('POST', protocol.create, protocol.request(prompt), protocol.headers);
  const look = (id: string) => client.send<Body>('GET', protocol.poll(id));

  async function created(prompt: string): Promise<string> {
    const { status, body } = await send(prompt);
    expect(status).toBe(200);
    return protocol.idOf(body);
  }

  async function ended(prompt: string): Promise<Body> {
    const id = await created(prompt);
    client.advance(taskDurationMs);
    return await client.until<Body>(protocol.poll(id), (body) => isEnded(protocol, body));
  }

  test.each([
    ['reject', 400],
    ['unauthorized', 401],
    ['denied', 403],
    ['throttle', 429],
    ['error', 500],
    ['unavailable', 503],
  ])('[[%s]] fails with %i', async (name, wanted) => {
    const { status, body, headers } = await send(`A boat [[${name}]]`);
    const names = ['reject', 'unauthorized', 'denied', 'throttle', 'error', 'unavailable'];
    expect([status, protocol.codeOf(body)]).toEqual([wanted, protocol.codes[names.indexOf(name)]]);
    expect(headers.get('retry-after')).toBe(wanted === 429 ? '1' : null);
  });

  test('[[malformed]] and [[drop]] break the response', async () => {
    await expect(send('[[malformed]]')).rejects.toThrow(SyntaxError);
    await expect(send('[[drop]]')).rejects.toThrow('fetch failed');
  });

  test('[[hang]] sends no response until the client disconnects', async () => {
    const leave = new AbortController();
    const hanging = fetch(client.url + protocol.create, {
      method: 'POST',
      headers: protocol.headers,
      body: JSON.stringify(protocol.request('[[hang]]')),
      signal: leave.signal,
    });
    const winner = await Promise.race([hanging.then(() => 'hanging'), send('Other').then(() => 'other')]);
    expect(winner).toBe('other');
    leave.abort();
    await expect(hanging).rejects.toThrow('aborted');
  });

  test('[[slow]] takes ten times as long', async () => {
    const id = await created('[[slow]]');
    client.advance(taskDurationMs * 10 - 1);
    expect(protocol.statusOf((await look(id)).body)).toBe(protocol.running);
    client.advance(1);
    await client.until<Body>(protocol.poll(id), (body) => isEnded(protocol, body));
  });

  test('[[never]] keeps running', async () => {
    const id = await created('[[never]]');
    client.advance(20 * 60 * 60 * 1000);
    expect(protocol.statusOf((await look(id)).body)).toBe(protocol.running);
  });

  test('[[queued]] stays in the queue', async () => {
    const id = await created('[[queued]]');
    client.advance(20 * 60 * 60 * 1000);
    expect(protocol.statusOf((await look(id)).body)).toBe(protocol.queued);
  });

  test('[[unknown]] is unknown to polls', async () => {
    const { status, body } = await look(await created('[[unknown]]'));
    expect(status).toBe(protocol.lost.status);
    if (protocol.lost.shown) expect(protocol.statusOf(body)).toBe(protocol.lost.shown);
  });

  test('[[poll-…]] affect only the first poll', async () => {
    for (const [name, status] of [
      ['poll-error', 500],
      ['poll-throttle', 429],
    ] as const) {
      const id = await created(`[[${name}]]`);
      expect((await look(id)).status).toBe(status);
      expect((await look(id)).status).toBe(200);
    }
    const malformed = await created('[[poll-malformed]]');
    await expect(look(malformed)).rejects.toThrow(SyntaxError);
    expect((await look(malformed)).status).toBe(200);
    const dropped = await created('[[poll-drop]]');
    await expect(look(dropped)).rejects.toThrow('fetch failed');
    expect((await look(dropped)).status).toBe(200);
  });

  test('[[fail-late]] fails at the end', async () => {
    const body = await ended('[[fail-late]]');
    expect(String(protocol.statusOf(body)).toLowerCase()).toBe('failed');
  });

  test('[[expired-url]] returns expired URLs', async () => {
    const [url = ''] = JSON.stringify(await ended('[[expired-url]]')).match(/http[^"]+\/media\/[^"]+/) ?? [];
    expect((await fetch(url)).status).toBe(403);
  });
});

test('[[expire]] and [[sensitive]] end as defined by each protocol', async () => {
  const outcome = async (index: number, prompt: string) => {
    const protocol = protocols[index];
    if (!protocol) throw new Error('Unknown protocol');
    const { body } = await client.send<Body>(
      'POST',
      protocol.create,
      protocol.request(prompt),
      protocol.headers,
    );
    client.advance(taskDurationMs);
    const path = protocol.poll(protocol.idOf(body));
    return await client.until<Body>(path, (body) => isEnded(protocol, body));
  };
  for (const index of [0, 1]) {
    expect(await outcome(index, '[[expire]]')).toMatchObject({ output: { task_status: 'UNKNOWN' } });
    expect(await outcome(index, '[[sensitive]]')).toMatchObject({
      output: { task_status: 'FAILED', code: 'DataInspectionFailed' },
    });
  }
  expect(await outcome(2, '[[expire]]')).toMatchObject({ status: 'expired' });
  expect(await outcome(2, '[[sensitive]]')).toMatchObject({
    status: 'failed',
    error: { code: 'OutputVideoSensitiveContentDetected' },
  });
  expect(await outcome(3, '[[expire]]')).toEqual({ status: 'expired' });
  expect(await outcome(3, '[[sensitive]]')).toMatchObject({
    status: 'done',
    video: { respect_moderation: false },
  });
  expect(await outcome(3, '[[no-status]]')).not.toHaveProperty('status');
});

test('triggers are found in percent-encoded URLs', async () => {
  const url = 'https://files.example/%5B%5Breject%5D%5D.png';
  const request = { model: 'gamma3.0-video', input: { media: [{ type: 'first_frame', url }] } };
  const { status } = await client.send('POST', protocols[0]?.create ?? '', request, native.headers);
  expect(status).toBe(400);
});
