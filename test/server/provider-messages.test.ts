import { once } from 'node:events';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { secretsIn } from '../../server/settings/settings.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from '../video/generic-client.ts';
import { logRows, post } from './ledger.ts';

const key = 'upstream-key-1x';
const mine = 'https://media.client.example/a.wav';
/** A provider's sentence with all that a client may not read of it, and the client's own address. */
const said = (url: string) =>
  `${key} at ${url} via 10.3.0.12:8080, [fd00::7] and gpu-7.tts.svc.cluster.local cannot load ${mine}`;
const told = `*** at *** via ***, *** and *** cannot load ${mine}`;

const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const customization = '/api/v1/services/audio/tts/customization';
const synthesis = '/api/v1/services/aigc/video-generation/video-synthesis';
const model3d = '/api/v1/services/aigc/video-generation/3d-generation';
const generations = '/v1/video/generations';
const official = '/api/v3/contents/generations/tasks';
const speech = { model: 'voxa-v2', input: { text: `Read ${mine}`, voice: 'v1' } };
const standard = { model: 'voxa-v2', input: `Read ${mine}`, voice: 'v1' };
const beta = { model: 'beta/speech-02-hd', input: { text: mine, voice_setting: { voice_id: 'v1' } } };
const clone = {
  model: 'voice-enrollment',
  input: { action: 'create_voice', target_model: 'voxa-v2', prefix: 'me', url: mine },
};
const gamma = {
  model: 'gamma3.0-video',
  input: { prompt: 'A boat.', media: [{ type: 'first_frame', url: mine }] },
};
const seedance = {
  model: 'epsilon-delta-2-0-260128',
  content: [
    { type: 'text', text: 'A boat.' },
    { type: 'image_url', image_url: { url: mine }, role: 'reference_image' },
  ],
};

let upstream: RecordingUpstream;
let target: TestGateway;
let client: GenericClient;
let answer: Parameters<typeof startUpstream>[0];
let lines = '';

beforeAll(async () => {
  upstream = await startUpstream((request, response) => answer(request, response));
  const channels = (['native', 'official', 'eta'] as const).map((protocol) =>
    channelTo(upstream.url, { name: protocol, protocol, key }),
  );
  const stream = new Writable({
    write(line, _encoding, done) {
      lines += String(line);
      done();
    },
  });
  target = await startTestGateway(
    { sandbox: false, channels },
    'sqlite',
    Date.now,
    createLogger('trace', [], stream),
  );
  client = new GenericClient(target);
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const json = (status: number, body: unknown) => {
  answer = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
};

const expectClean = (text: string) => {
  const secrets = [key, new URL(upstream.url).host, '10.3.0.12', 'fd00::7', 'cluster.local'];
  for (const secret of secrets) expect(text).not.toContain(secret);
};

describe('a refusal', () => {
  const refusal = () => ({
    code: `InvalidURL.${key}`,
    message: said(upstream.url),
    request_id: 'r-1',
    more: [1.5],
  });

  test.each([
    ['native speech', native, speech],
    ['multimodal speech', multimodal, beta],
    ['voices', customization, clone],
    ['native video', synthesis, gamma],
  ])('of %s passes unchanged but for what is the provider’s own', async (_what, path, body) => {
    json(400, refusal());
    const reply = await post(target.url, target.key, path, body);
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { code: 'InvalidURL.***', message: told, request_id: 'r-1', more: [1.5] },
    ]);
    expect((await logRows(target)).at(-1)).toMatchObject({ error_code: 'InvalidURL.***' });
  });

  test.each([
    ['standard speech', '/v1/audio/speech', standard],
    ['streamed standard speech', '/v1/audio/speech', { ...standard, stream: true }],
    ['the official route', official, seedance],
    ['the generic route', '/v1/videos', { model: gamma.model, prompt: 'A boat.', image: mine }],
    ['its other path', generations, { model: seedance.model, prompt: 'A boat.', image: mine }],
    ['the eta family', '/v1/videos', { model: 'eta-imagine-video', prompt: 'A boat.', image: mine }],
    ['a 3D object', model3d, { model: 'theta-3d', input: { image: mine } }],
    ['an upload', '/api/assets/upload', { url: mine, asset_type: 'Image' }],
  ])('of %s is told in words that are fit', async (_what, path, body) => {
    json(400, { error: refusal() });
    const reply = await post(target.url, target.key, path, body);
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'InvalidURL.***', message: told } },
    ]);
  });

  test('of an upload that comes with HTTP 200, too', async () => {
    json(200, { code: `no ${key}`, message: said(upstream.url) });
    const reply = await post(target.url, target.key, '/api/assets/upload', {
      url: mine,
      asset_type: 'Image',
    });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'no ***', message: told } },
    ]);
  });

  test.each(['Arrearage', 'AccessDenied.Unpurchased', 'InvalidApiKey'])(
    'that is about the gateway’s own account is the provider’s failure: %s',
    async (code) => {
      for (const [path, body] of [
        [native, speech],
        ['/v1/audio/speech', standard],
        [synthesis, gamma],
      ] as const) {
        json(400, { code, message: 'The account of the operator is overdue.', request_id: 'r' });
        const reply = await post(target.url, target.key, path, body);
        const text = await reply.text();
        expect([reply.status, text]).toEqual([502, expect.not.stringContaining('account')]);
      }
    },
  );

  test('inside a beta answer of HTTP 200 passes on both routes, cleaned', async () => {
    const failure = {
      request_id: 'r',
      output: { base_resp: { status_code: 2013, status_msg: said(upstream.url) }, data: null },
    };
    json(200, failure);
    const reply = await post(target.url, target.key, multimodal, beta);
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { request_id: 'r', output: { base_resp: { status_code: 2013, status_msg: told }, data: null } },
    ]);
    const other = await post(target.url, target.key, '/v1/audio/speech', {
      model: beta.model,
      input: mine,
      voice: 'v1',
    });
    expect([other.status, await other.json()]).toMatchObject([400, { error: { message: told } }]);
  });

  test('in an event is told in words that are fit', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const data = JSON.stringify({ code: 'InvalidParameter', message: said(upstream.url), request_id: 'r' });
      response.end(`id:1\nevent:error\n:HTTP_STATUS/400\ndata:${data}\n\n`);
    };
    const reply = await post(target.url, target.key, '/v1/audio/speech', { ...standard, stream: true });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { message: told } }]);
  });

  test('in an event of a native route passes unchanged but for what is the provider’s own', async () => {
    const event = (message: string) =>
      `id:1\nevent:error\n:HTTP_STATUS/400\ndata:${JSON.stringify({ code: 'InvalidParameter', message, request_id: 'r' })}\n\n`;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(event(said(upstream.url)));
    };
    for (const [path, body] of [
      [native, speech],
      [multimodal, beta],
    ] as const) {
      const headers = { 'X-Native-SSE': 'enable' };
      const reply = await post(target.url, target.key, path, body, { headers });
      expect([reply.status, await reply.text()]).toEqual([200, event(told)]);
    }
  });

  test.each([
    ['native', () => post(target.url, target.key, synthesis, gamma), 'POST', '/api/v1/tasks/', '/cancel'],
    ['official', () => post(target.url, target.key, official, seedance), 'DELETE', `${official}/`, ''],
  ] as const)('to cancel a task of the %s route is not told', async (_what, create, method, path, suffix) => {
    json(200, { id: 'up-c', status: 'queued', output: { task_id: 'up-c', task_status: 'PENDING' } });
    const made = (await (await create()).json()) as { id?: string; output?: { task_id: string } };
    answer = (request, response) => {
      const refused = request.method === method;
      response.writeHead(refused ? 400 : 200, { 'content-type': 'application/json' });
      const state = { id: 'up-c', status: 'queued', output: { task_id: 'up-c', task_status: 'PENDING' } };
      response.end(JSON.stringify(refused ? refusal() : state));
    };
    const id = made.id ?? made.output?.task_id ?? '';
    const reply = await client.fetch(`${path}${id}${suffix}`, { method });
    const text = await reply.text();
    expect([reply.status, text]).toEqual([400, expect.stringContaining('task_id: ')]);
    expectClean(text);
  });

  test('over a bridged socket is told in words that are fit', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => {
        const { task_id } = (JSON.parse(data.toString('utf8')) as { header: { task_id: string } }).header;
        const header = {
          task_id,
          event: 'task-failed',
          error_code: 'InvalidParameter',
          error_message: said(upstream.url),
        };
        socket.send(JSON.stringify({ header, payload: {} }));
      }),
    );
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const bridge = await startTestGateway({
      sandbox: false,
      channels: [channelTo(upstream.url, { key, wsUrl: `ws://127.0.0.1:${port}` })],
    });
    const reply = await post(bridge.url, bridge.key, '/v1/audio/speech', { ...standard, model: 'voxa-v1' });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { message: told } }]);
    await bridge.close();
    server.close();
  });
});

describe('a task that fails later', () => {
  const failingAs = (created: unknown, polled: unknown) => {
    answer = ({ method }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(method === 'POST' ? created : polled));
    };
  };

  test('of the gamma family tells why in words that are fit', async () => {
    const output = {
      task_id: 'up-1',
      task_status: 'FAILED',
      code: `Bad.${key}`,
      message: said(upstream.url),
    };
    failingAs({ output: { task_id: 'up-1', task_status: 'PENDING' } }, { output });
    const { id } = await client.create({ model: gamma.model, prompt: 'A boat.', image: mine });
    const { error } = await client.waitForStatus(id, 'failed');
    expect(error).toEqual({ code: 'Bad.***', message: told });
  });

  test('of the Seedance and the eta family, too', async () => {
    const error = { code: 'Bad', message: said(upstream.url) };
    failingAs({ id: 'up-2' }, { id: 'up-2', status: 'failed', error });
    const seedanceTask = await client.create({ model: seedance.model, prompt: 'A boat.', image: mine });
    expect((await client.waitForStatus(seedanceTask.id, 'failed')).error).toEqual({
      code: 'Bad',
      message: told,
    });
    failingAs({ request_id: 'up-3' }, { status: 'failed', error });
    const etaTask = await client.create({ model: 'eta-imagine-video', prompt: 'A boat.', image: mine });
    expect((await client.waitForStatus(etaTask.id, 'failed')).error).toEqual({ code: 'Bad', message: told });
  });

  test.each([
    ['the gamma native', synthesis, gamma, '/api/v1/tasks/'],
    ['the official', official, seedance, `${official}/`],
    ['the 3D', model3d, { model: 'theta-3d', input: { image: mine } }, '/api/v1/tasks/'],
    [
      'the generic Seedance',
      generations,
      { model: seedance.model, prompt: 'A boat.', image: mine },
      `${generations}/`,
    ],
  ])('of %s route, too, wherever it is shown', async (_what, path, body, shownAt) => {
    const failure = { code: 'Bad', message: said(upstream.url) };
    failingAs(
      { id: 'up-9', output: { task_id: 'up-9', task_status: 'PENDING' } },
      {
        id: 'up-9',
        status: 'failed',
        error: failure,
        output: { task_id: 'up-9', task_status: 'FAILED', ...failure },
      },
    );
    const made = (await (await post(target.url, target.key, path, body)).json()) as {
      id?: string;
      output?: { task_id: string };
    };
    const id = made.id ?? made.output?.task_id ?? '';
    const text = await vi.waitFor(
      async () => {
        const shown = await (await client.fetch(shownAt + id)).text();
        expect(shown).toMatch(/failed|FAIL/i);
        return shown;
      },
      { timeout: 15_000, interval: 50 },
    );
    expect(text).toContain(told);
    expectClean(text);
  });

  test('over the operator’s account says nothing of it', async () => {
    const output = {
      task_id: 'up-4',
      task_status: 'FAILED',
      code: 'Arrearage',
      message: 'account 7 is overdue',
    };
    failingAs({ output: { task_id: 'up-4', task_status: 'PENDING' } }, { output });
    const { id } = await client.create({ model: gamma.model, prompt: 'A boat.' });
    expect((await client.waitForStatus(id, 'failed')).error).toMatchObject({ code: 'InternalError' });
  });

  test('as an asset tells why in words that are fit', async () => {
    failingAs(
      { code: 0, data: { Id: 'up-asset' } },
      {
        code: 0,
        data: { Id: 'up-asset', Status: 'Failed', Error: { Code: `No.${key}`, Message: said(upstream.url) } },
      },
    );
    const upload = await post(target.url, target.key, '/api/assets/upload', {
      url: mine,
      asset_type: 'Image',
    });
    const { data } = (await upload.json()) as { data: { Id: string } };
    const shown = await client.fetch(`/api/assets/${data.Id}`);
    const text = await shown.text();
    expect(text).toContain('"No.***"');
    expectClean(text);
  });
});

test('no log line held any of it, at whatever level', () => {
  expect(lines).toContain('"level":20');
  expectClean(lines);
});

test('a secret of the settings does not get into a line of the log, however it comes there', () => {
  const written: string[] = [];
  const settings = {
    ...target.gateway.settings,
    bootstrapKey: 'first-"key"',
    callbacks: { allowPrivate: false, secret: 'whsec_1' },
  };
  const logger = createLogger('debug', secretsIn(settings), { write: (line) => void written.push(line) });
  logger.debug({ err: new Error(`for ${key}`), deep: { deeper: ['first-"key"'] } }, 'signed by whsec_1');
  expect(written.join('')).toContain('signed by ***');
  for (const secret of [key, 'first-', 'whsec_1']) expect(written.join('')).not.toContain(secret);
});
