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
const clientUrl = 'https://media.client.example/a.wav';
/** A provider message with parts that a client may not read, and the client's own URL. */
const privateMessage = (url: string) =>
  `${key} at ${url} via 10.3.0.12:8080, [fd00::7] and gpu-7.tts.svc.cluster.local cannot load ${clientUrl}`;
const redactedMessage = `*** at *** via ***, *** and *** cannot load ${clientUrl}`;

const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const customization = '/api/v1/services/audio/tts/customization';
const synthesis = '/api/v1/services/aigc/video-generation/video-synthesis';
const model3d = '/api/v1/services/aigc/video-generation/3d-generation';
const generations = '/v1/video/generations';
const official = '/api/v3/contents/generations/tasks';
const speech = { model: 'voxa-v2', input: { text: `Read ${clientUrl}`, voice: 'v1' } };
const standard = { model: 'voxa-v2', input: `Read ${clientUrl}`, voice: 'v1' };
const beta = { model: 'beta/speech-02-hd', input: { text: clientUrl, voice_setting: { voice_id: 'v1' } } };
const clone = {
  model: 'voice-enrollment',
  input: { action: 'create_voice', target_model: 'voxa-v2', prefix: 'me', url: clientUrl },
};
const gamma = {
  model: 'gamma3.0-video',
  input: { prompt: 'A boat.', media: [{ type: 'first_frame', url: clientUrl }] },
};
const seedance = {
  model: 'epsilon-delta-2-0-260128',
  content: [
    { type: 'text', text: 'A boat.' },
    { type: 'image_url', image_url: { url: clientUrl }, role: 'reference_image' },
  ],
};

let upstream: RecordingUpstream;
let target: TestGateway;
let client: GenericClient;
let respond: Parameters<typeof startUpstream>[0];
let lines = '';

beforeAll(async () => {
  upstream = await startUpstream((request, response) => respond(request, response));
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
  respond = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
};

const expectRedacted = (text: string) => {
  const secrets = [key, new URL(upstream.url).host, '10.3.0.12', 'fd00::7', 'cluster.local'];
  for (const secret of secrets) expect(text).not.toContain(secret);
};

describe('a rejection', () => {
  const rejectionBody = () => ({
    code: `InvalidURL.${key}`,
    message: privateMessage(upstream.url),
    request_id: 'r-1',
    more: [1.5],
  });

  test.each([
    ['native speech', native, speech],
    ['multimodal speech', multimodal, beta],
    ['voices', customization, clone],
    ['native video', synthesis, gamma],
  ])('of %s is forwarded unchanged, except for private parts', async (_name, path, body) => {
    json(400, rejectionBody());
    const reply = await post(target.url, target.key, path, body);
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { code: 'InvalidURL.***', message: redactedMessage, request_id: 'r-1', more: [1.5] },
    ]);
    expect((await logRows(target)).at(-1)).toMatchObject({ error_code: 'InvalidURL.***' });
  });

  test.each([
    ['standard speech', '/v1/audio/speech', standard],
    ['streamed standard speech', '/v1/audio/speech', { ...standard, stream: true }],
    ['the official route', official, seedance],
    ['the generic route', '/v1/videos', { model: gamma.model, prompt: 'A boat.', image: clientUrl }],
    [
      'the generic route of the other path',
      generations,
      { model: seedance.model, prompt: 'A boat.', image: clientUrl },
    ],
    ['the eta family', '/v1/videos', { model: 'eta-imagine-video', prompt: 'A boat.', image: clientUrl }],
    ['a 3D object', model3d, { model: 'theta-3d', input: { image: clientUrl } }],
    ['an upload', '/api/assets/upload', { url: clientUrl, asset_type: 'Image' }],
  ])('of %s has a redacted message', async (_name, path, body) => {
    json(400, { error: rejectionBody() });
    const reply = await post(target.url, target.key, path, body);
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'InvalidURL.***', message: redactedMessage } },
    ]);
  });

  test('of an upload with HTTP 200 has a redacted message, too', async () => {
    json(200, { code: `no ${key}`, message: privateMessage(upstream.url) });
    const reply = await post(target.url, target.key, '/api/assets/upload', {
      url: clientUrl,
      asset_type: 'Image',
    });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'no ***', message: redactedMessage } },
    ]);
  });

  test.each(['Arrearage', 'AccessDenied.Unpurchased', 'InvalidApiKey'])(
    'about the operator’s account is reported as a failure of the provider: %s',
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

  test('inside a beta response with HTTP 200 is forwarded by both routes, redacted', async () => {
    const failure = {
      request_id: 'r',
      output: { base_resp: { status_code: 2013, status_msg: privateMessage(upstream.url) }, data: null },
    };
    json(200, failure);
    const reply = await post(target.url, target.key, multimodal, beta);
    expect([reply.status, await reply.json()]).toEqual([
      200,
      {
        request_id: 'r',
        output: { base_resp: { status_code: 2013, status_msg: redactedMessage }, data: null },
      },
    ]);
    const other = await post(target.url, target.key, '/v1/audio/speech', {
      model: beta.model,
      input: clientUrl,
      voice: 'v1',
    });
    expect([other.status, await other.json()]).toMatchObject([400, { error: { message: redactedMessage } }]);
  });

  test('in an event has a redacted message', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const data = JSON.stringify({
        code: 'InvalidParameter',
        message: privateMessage(upstream.url),
        request_id: 'r',
      });
      response.end(`id:1\nevent:error\n:HTTP_STATUS/400\ndata:${data}\n\n`);
    };
    const reply = await post(target.url, target.key, '/v1/audio/speech', { ...standard, stream: true });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { message: redactedMessage } }]);
  });

  test('in an event of a native route is forwarded unchanged, except for private parts', async () => {
    const event = (message: string) =>
      `id:1\nevent:error\n:HTTP_STATUS/400\ndata:${JSON.stringify({ code: 'InvalidParameter', message, request_id: 'r' })}\n\n`;
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(event(privateMessage(upstream.url)));
    };
    for (const [path, body] of [
      [native, speech],
      [multimodal, beta],
    ] as const) {
      const headers = { 'X-Native-SSE': 'enable' };
      const reply = await post(target.url, target.key, path, body, { headers });
      expect([reply.status, await reply.text()]).toEqual([200, event(redactedMessage)]);
    }
  });

  test.each([
    ['native', () => post(target.url, target.key, synthesis, gamma), 'POST', '/api/v1/tasks/', '/cancel'],
    ['official', () => post(target.url, target.key, official, seedance), 'DELETE', `${official}/`, ''],
  ] as const)(
    'of a cancellation on the %s route is not forwarded',
    async (_name, create, method, path, suffix) => {
      json(200, { id: 'up-c', status: 'queued', output: { task_id: 'up-c', task_status: 'PENDING' } });
      const task = (await (await create()).json()) as { id?: string; output?: { task_id: string } };
      respond = (request, response) => {
        const isRejected = request.method === method;
        response.writeHead(isRejected ? 400 : 200, { 'content-type': 'application/json' });
        const state = { id: 'up-c', status: 'queued', output: { task_id: 'up-c', task_status: 'PENDING' } };
        response.end(JSON.stringify(isRejected ? rejectionBody() : state));
      };
      const id = task.id ?? task.output?.task_id ?? '';
      const reply = await client.fetch(`${path}${id}${suffix}`, { method });
      const text = await reply.text();
      expect([reply.status, text]).toEqual([400, expect.stringContaining('task_id: ')]);
      expectRedacted(text);
    },
  );

  test('over a bridged socket has a redacted message', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => {
        const { task_id } = (JSON.parse(data.toString('utf8')) as { header: { task_id: string } }).header;
        const header = {
          task_id,
          event: 'task-failed',
          error_code: 'InvalidParameter',
          error_message: privateMessage(upstream.url),
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
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { message: redactedMessage } }]);
    await bridge.close();
    server.close();
  });
});

describe('a task that fails later', () => {
  const respondToTasks = (created: unknown, polled: unknown) => {
    respond = ({ method }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(method === 'POST' ? created : polled));
    };
  };

  test('of the gamma family has a redacted error', async () => {
    const output = {
      task_id: 'up-1',
      task_status: 'FAILED',
      code: `Bad.${key}`,
      message: privateMessage(upstream.url),
    };
    respondToTasks({ output: { task_id: 'up-1', task_status: 'PENDING' } }, { output });
    const { id } = await client.create({ model: gamma.model, prompt: 'A boat.', image: clientUrl });
    const { error } = await client.waitForStatus(id, 'failed');
    expect(error).toEqual({ code: 'Bad.***', message: redactedMessage });
  });

  test('of the Seedance and the eta family has a redacted error, too', async () => {
    const error = { code: 'Bad', message: privateMessage(upstream.url) };
    respondToTasks({ id: 'up-2' }, { id: 'up-2', status: 'failed', error });
    const seedanceTask = await client.create({ model: seedance.model, prompt: 'A boat.', image: clientUrl });
    expect((await client.waitForStatus(seedanceTask.id, 'failed')).error).toEqual({
      code: 'Bad',
      message: redactedMessage,
    });
    respondToTasks({ request_id: 'up-3' }, { status: 'failed', error });
    const etaTask = await client.create({ model: 'eta-imagine-video', prompt: 'A boat.', image: clientUrl });
    expect((await client.waitForStatus(etaTask.id, 'failed')).error).toEqual({
      code: 'Bad',
      message: redactedMessage,
    });
  });

  test.each([
    ['the gamma native', synthesis, gamma, '/api/v1/tasks/'],
    ['the official', official, seedance, `${official}/`],
    ['the 3D', model3d, { model: 'theta-3d', input: { image: clientUrl } }, '/api/v1/tasks/'],
    [
      'the generic Seedance',
      generations,
      { model: seedance.model, prompt: 'A boat.', image: clientUrl },
      `${generations}/`,
    ],
  ])('of %s route has a redacted error in its own format, too', async (_name, path, body, shownAt) => {
    const failure = { code: 'Bad', message: privateMessage(upstream.url) };
    respondToTasks(
      { id: 'up-9', output: { task_id: 'up-9', task_status: 'PENDING' } },
      {
        id: 'up-9',
        status: 'failed',
        error: failure,
        output: { task_id: 'up-9', task_status: 'FAILED', ...failure },
      },
    );
    const task = (await (await post(target.url, target.key, path, body)).json()) as {
      id?: string;
      output?: { task_id: string };
    };
    const id = task.id ?? task.output?.task_id ?? '';
    const text = await vi.waitFor(
      async () => {
        const shown = await (await client.fetch(shownAt + id)).text();
        expect(shown).toMatch(/failed|FAIL/i);
        return shown;
      },
      { timeout: 15_000, interval: 50 },
    );
    expect(text).toContain(redactedMessage);
    expectRedacted(text);
  });

  test('because of the operator’s account does not mention the account', async () => {
    const output = {
      task_id: 'up-4',
      task_status: 'FAILED',
      code: 'Arrearage',
      message: 'account 7 is overdue',
    };
    respondToTasks({ output: { task_id: 'up-4', task_status: 'PENDING' } }, { output });
    const { id } = await client.create({ model: gamma.model, prompt: 'A boat.' });
    expect((await client.waitForStatus(id, 'failed')).error).toMatchObject({ code: 'InternalError' });
  });

  test('as an asset has a redacted error', async () => {
    respondToTasks(
      { code: 0, data: { Id: 'up-asset' } },
      {
        code: 0,
        data: {
          Id: 'up-asset',
          Status: 'Failed',
          Error: { Code: `No.${key}`, Message: privateMessage(upstream.url) },
        },
      },
    );
    const upload = await post(target.url, target.key, '/api/assets/upload', {
      url: clientUrl,
      asset_type: 'Image',
    });
    const { data } = (await upload.json()) as { data: { Id: string } };
    const shown = await client.fetch(`/api/assets/${data.Id}`);
    const text = await shown.text();
    expect(text).toContain('"No.***"');
    expectRedacted(text);
  });
});

test('no log line of any level contains private parts', () => {
  expect(lines).toContain('"level":20');
  expectRedacted(lines);
});

test('secrets of the settings are redacted in log lines, wherever they occur', () => {
  const logLines: string[] = [];
  const settings = {
    ...target.gateway.settings,
    bootstrapKey: 'first-"key"',
    callbacks: { allowPrivate: false, secret: 'whsec_1' },
  };
  const logger = createLogger('debug', secretsIn(settings), { write: (line) => void logLines.push(line) });
  logger.debug({ err: new Error(`for ${key}`), deep: { deeper: ['first-"key"'] } }, 'signed by whsec_1');
  expect(logLines.join('')).toContain('signed by ***');
  for (const secret of [key, 'first-', 'whsec_1']) expect(logLines.join('')).not.toContain(secret);
});
