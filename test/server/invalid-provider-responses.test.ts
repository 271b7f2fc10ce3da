import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { drivers } from '../../server/providers/drivers.ts';
import { findTaskById } from '../../server/store/queries/tasks.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from '../video/generic-client.ts';
import { ledgerRows, makeKey, post, remainingQuota } from './ledger.ts';

/** Invalid responses of a provider, or of a proxy in front of it, with HTTP 200. */

const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const customization = '/api/v1/services/audio/tts/customization';
const voxa = { model: 'voxa-v2', input: { text: 'Good morning.', voice: 'v1' } };
const alpha = { model: 'alpha3-tts-flash', input: { text: 'Good morning.', voice: 'v1' } };
const beta = {
  model: 'beta/speech-02-hd',
  input: { text: 'Good morning.', voice_setting: { voice_id: 'v1' } },
};
const clone = {
  model: beta.model,
  input: {
    action: 'voice_clone',
    text: 'Hi',
    voice_id: 'narrator-1',
    audio_url: 'https://files.example/a.wav',
  },
};
const enroll = {
  model: 'voice-enrollment',
  input: {
    action: 'create_voice',
    target_model: 'voxa-v2',
    prefix: 'me',
    url: 'https://files.example/a.wav',
  },
};
const standard = { input: 'Good morning.', voice: 'v1' };
const speech = '/v1/audio/speech';

const html = '<!doctype html><html><body>502 Bad Gateway</body></html>';
const mp3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(5000, 1)]);

let upstream: RecordingUpstream;
let target: TestGateway;
let key: string;
let id: number;
let respond: Parameters<typeof startUpstream>[0];

beforeAll(async () => {
  upstream = await startUpstream((request, response) => respond(request, response));
  const channels = (['native', 'official', 'eta'] as const).map((protocol) =>
    channelTo(upstream.url, { name: protocol, protocol }),
  );
  target = await startTestGateway({ sandbox: false, channels });
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});
beforeEach(async () => {
  ({ key, id } = await makeKey(target, { quota: 100_000 }));
});

const respondWith = (body: string | Buffer | object, contentType = 'application/json') => {
  respond = (_request, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
};

const expectFree = async () => {
  await vi.waitFor(async () => expect((await ledgerRows(target)).at(-1)?.state).toBe('refunded'));
  expect(await remainingQuota(target, id)).toBe(100_000);
};

const expectBadGateway = async (reply: Response) => {
  const text = await reply.text();
  expect([reply.status, text]).toEqual([502, expect.not.stringContaining('Bad Gateway')]);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(JSON.parse(text)).toEqual({
    error: {
      code: expect.stringMatching(/^bad_response/),
      message: expect.stringMatching(/^The provider /),
      request_id: reply.headers.get('x-request-id'),
    },
  });
  await expectFree();
};

const invalidBodies: [caseName: string, body: string | object, contentType?: string][] = [
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '200'],
  ['a list', '[]'],
  ['a list of responses', [{ output: { audio: { url: 'https://files.example/a.mp3' } } }]],
  ['an empty object', {}],
  ['HTML', html, 'text/html'],
  ['HTML with the content type of JSON', html],
  ['an error', { code: 'InternalError', message: 'Bad Gateway', request_id: 'r' }],
  ['an error in an envelope', { error: { code: 'internal_error', message: 'Bad Gateway' } }],
  ['a response without output', { request_id: 'r', output: null, usage: { characters: 9 } }],
  ['a truncated response', '{"request_id":"r","output":{"audio":{"url":"https://fi'],
];
const bodiesWithoutAudio: typeof invalidBodies = [
  ['an empty output', { output: {}, usage: { characters: 9 } }],
  ['an output that is a list', { output: ['https://files.example/a.mp3'], usage: { characters: 9 } }],
  ['audio without URL and data', { output: { audio: { url: '', data: '' } }, usage: { characters: 9 } }],
  ['audio with a file URL', { output: { audio: { url: 'file:///a.mp3' } }, usage: { characters: 9 } }],
  ['invalid hexadecimal audio', { output: { data: { audio: 'no audio!' } }, usage: { characters: 9 } }],
  ['an odd number of hexadecimal digits', { output: { data: { audio: 'abc' } }, usage: { characters: 9 } }],
  ['invalid Base64', { output: { audio: { data: '<html>' } }, usage: { characters: 9 } }],
  ['a failure of the provider', { output: { base_resp: { status_code: 1013 }, data: null }, usage: {} }],
  [
    'a failure of the operator’s account',
    { output: { base_resp: { status_code: 1008, status_msg: 'balance' } } },
  ],
  ['audio of the wrong type', { output: { audio: { url: 'https://files.example/a' } } }, 'text/plain'],
  ['a long text', { message: 'x'.repeat(2_000_000), output: 'x' }],
];

describe.each([
  ['SpeechSynthesizer', native, voxa, [...invalidBodies, ...bodiesWithoutAudio]],
  ['multimodal speech of an alpha model', multimodal, alpha, [...invalidBodies, ...bodiesWithoutAudio]],
  ['multimodal speech of a beta model', multimodal, beta, [...invalidBodies, ...bodiesWithoutAudio]],
  ['cloning of a beta voice', multimodal, clone, invalidBodies],
  ['a voice', customization, enroll, invalidBodies],
  [
    'the standard route',
    speech,
    { ...standard, model: 'voxa-v2' },
    [...invalidBodies, ...bodiesWithoutAudio],
  ],
  ['the standard route with a beta model', speech, { ...standard, model: beta.model }, invalidBodies],
] as const)('a response to %s', (_route, path, body, cases) => {
  test.each(cases.filter(([caseName]) => caseName !== 'a long text'))(
    'that is %s becomes a 502 without a charge',
    async (_name, sent, type) => {
      respondWith(sent, type);
      await expectBadGateway(await post(target.url, key, path, body));
    },
  );
});

test('a long response that turns out to be invalid closes the connection, without a charge', async () => {
  const start = `{"output":{"data":{"audio":"${'ff'.repeat(1_000_000)}`;
  for (const rest of ['', '"}}} and more', `"},"base_resp":{"status_code":1000}}}`]) {
    respondWith(start + rest);
    const reply = await post(target.url, key, multimodal, beta);
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
    await expectFree();
  }
  const complete = `${start}","status":2}},"usage":{"characters":13}}`;
  respondWith(complete);
  expect((await (await post(target.url, key, multimodal, beta)).text()) === complete).toBe(true);
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 13 });
});

test('a clone that failed creates no voice, and its id stays available', async () => {
  const path = multimodal;
  const input = { ...clone.input, voice_id: 'narrator-2' };
  respondWith(html, 'text/html');
  await expectBadGateway(await post(target.url, key, path, { ...clone, input }));
  respondWith({ output: { base_resp: { status_code: 2013, status_msg: 'no' } } });
  expect((await post(target.url, key, path, { ...clone, input })).status).toBe(200);
  await expectFree();
  respondWith({ output: { base_resp: { status_code: 0 } }, usage: { characters: 2 } });
  expect((await post(target.url, key, path, { ...clone, input })).status).toBe(200);
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled' });
});

describe('streams', () => {
  const sse = { headers: { 'X-Native-SSE': 'enable' } };
  const event = (data: object | string, type = 'result', end = '\n') =>
    [`event:${type}`, `data:${typeof data === 'string' ? data : JSON.stringify(data)}`, '', ''].join(end);
  const audio = (end = '\n') =>
    event(
      { output: { finish_reason: 'null', audio: { data: 'AAAA' } }, usage: { characters: 3 } },
      'result',
      end,
    );
  const last = (end = '\n') =>
    event(
      { output: { finish_reason: 'stop', audio: { data: '' } }, usage: { characters: 9 } },
      'result',
      end,
    );
  const routes = [
    ['native events', native, voxa, sse],
    [
      'native events of the standard route',
      speech,
      { ...standard, model: 'voxa-v2', stream: true, stream_format: 'sse' },
      {},
    ],
    ['decoded audio', speech, { ...standard, model: 'voxa-v2', stream: true }, {}],
  ] as const;

  describe.each(routes)('as %s', (_name, path, body, init) => {
    const call = () => post(target.url, key, path, body, init);

    test.each(['\n', '\r\n', '\r'])(
      'with the line ending %j are charged after the last event',
      async (end) => {
        respondWith(`:beat${end}${end}${audio(end)}${last(end)}`, 'text/event-stream');
        const reply = await call();
        expect(reply.status).toBe(200);
        await reply.arrayBuffer();
        expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 9 });
      },
    );

    test.each([
      ['nothing', '', 'text/event-stream'],
      ['HTML', html, 'text/html'],
      ['HTML with the content type of a stream', html, 'text/event-stream'],
      ['JSON instead of events', JSON.stringify({ output: { audio: { data: 'AAAA' } } }), 'application/json'],
      ['an event that is null', event('null') + last(), 'text/event-stream'],
      ['an event that is a list', event('[]') + last(), 'text/event-stream'],
      ['a truncated event', audio().slice(0, 40), 'text/event-stream'],
      [
        'an error of the operator’s account',
        event({ code: 'Arrearage', message: 'no' }, 'error'),
        'text/event-stream',
      ],
      [
        'a status code for the operator’s account',
        event({ output: { base_resp: { status_code: 1004 } } }),
        'text/event-stream',
      ],
    ])('%s become a 502 without a charge', async (_case, sent, type) => {
      respondWith(sent, type);
      await expectBadGateway(await call());
    });

    test.each([
      ['without the last event', audio() + audio()],
      ['truncated in the middle of an event', audio() + last().slice(0, -30)],
      ['with an invalid event', `${audio()}data:<html>\n\n${last()}`],
    ])('%s close the connection, without a charge', async (_case, sent) => {
      const started = Promise.withResolvers<ServerResponse>();
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sent.slice(0, audio().length), () => started.resolve(response));
      };
      const reply = await call();
      // The client has received the beginning.
      (await started.promise).end(sent.slice(audio().length));
      await expect(reply.arrayBuffer()).rejects.toThrow();
      await expectFree();
    });
  });

  test.each(['\n', '\r\n', '\r'])(
    'with a long error event and the line ending %j are not charged',
    async (end) => {
      const error = event({ code: 'InternalError', message: `x ${upstream.url} `.repeat(200) }, 'error', end);
      respondWith(audio(end) + error, 'text/event-stream');
      const text = await (await post(target.url, key, native, voxa, sse)).text();
      expect(text).toBe(audio(end) + error.replaceAll(upstream.url, '***'));
      await expectFree();
      respondWith(audio(end) + error, 'text/event-stream');
      const reply = await post(target.url, key, speech, { ...standard, model: 'voxa-v2', stream: true });
      await expect(reply.arrayBuffer()).rejects.toThrow();
      await expectFree();
    },
  );

  test('of a beta model play the audio that the last event repeats only once', async () => {
    const audioEvent = (data: string, status: number) =>
      event({ output: { data: { audio: data, status } }, usage: { characters: 4 } });
    const body = { ...standard, model: beta.model, stream: true };
    respondWith(audioEvent('aa', 1) + audioEvent('bb', 1), 'text/event-stream');
    await expect((await post(target.url, key, speech, body)).arrayBuffer()).rejects.toThrow();
    await expectFree();
    respondWith(audioEvent('aa', 1) + audioEvent('bb', 1) + audioEvent('aabb', 2), 'text/event-stream');
    const reply = await post(target.url, key, speech, body);
    expect(Buffer.from(await reply.arrayBuffer()).toString('hex')).toBe('aabb');
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 4 });
  });
});

describe('audio files', () => {
  const file = (body: Buffer | string, headers: Record<string, string> = {}, status = 200) => {
    respond = (request, response) => {
      if (request.path === '/file') {
        response.writeHead(status, headers).end(body);
        return;
      }
      response.setHeader('content-type', 'application/json');
      const sent = {
        finish_reason: 'stop',
        audio: { data: '', url: `${upstream.url}/file`, id: 'a', expires_at: 1 },
      };
      response.end(JSON.stringify({ request_id: 'r', output: sent, usage: { characters: 9 } }));
    };
  };
  const speak = (response_format: string) =>
    post(target.url, key, speech, { ...standard, model: 'voxa-v2', response_format });

  test.each([
    ['nothing', '', {}],
    ['HTML', html, { 'content-type': 'text/html' }],
    ['HTML with the content type of audio', html, { 'content-type': 'audio/wav' }],
    ['an error', '{"code":"NoSuchKey"}', { 'content-type': 'audio/wav' }],
    ['a sentence', 'No such file here.', {}],
    ['gzip', gzipSync(mp3), { 'content-type': 'audio/wav' }],
    ['gzip with its content type', gzipSync(mp3), { 'content-type': 'application/gzip' }],
    [
      'audio with gzip as content encoding',
      gzipSync(mp3),
      { 'content-encoding': 'gzip', 'content-type': 'audio/mpeg' },
    ],
    ['bytes with the content type of JSON', Buffer.alloc(100, 1), { 'content-type': 'application/json' }],
  ])('that are %s become a 502 without a charge', async (_name, body, headers) => {
    for (const format of ['wav', 'pcm']) {
      file(body, headers);
      await expectBadGateway(await speak(format));
    }
  });

  test('that do not exist become a 502 without a charge', async () => {
    file('', {}, 404);
    await expectBadGateway(await speak('mp3'));
  });

  test.each([
    ['WAV', 'wav', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(100)]), 'audio/wav'],
    ['MP3 with an ID3 tag', 'mp3', mp3, 'audio/mpeg'],
    [
      'MP3 without an ID3 tag',
      'mp3',
      Buffer.concat([Buffer.from('fffb90c4', 'hex'), Buffer.alloc(100)]),
      'audio/mpeg',
    ],
    ['Ogg', 'opus', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(100)]), 'audio/ogg'],
    ['raw PCM', 'pcm', Buffer.alloc(100), 'audio/pcm'],
    ['in another format than the requested one', 'mp3', Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'audio/wav'],
  ])(
    'that are %s are forwarded unchanged with their type, and are charged',
    async (_name, format, body, type) => {
      file(body, { 'content-type': 'application/octet-stream', 'content-length': String(body.length) });
      const reply = await speak(format);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type]);
      expect(reply.headers.get('content-length')).toBe(String(body.length));
      expect(Buffer.from(await reply.arrayBuffer()).equals(body)).toBe(true);
      expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 9 });
    },
  );

  test('whose beginning arrives byte by byte are identified once enough bytes have arrived', async () => {
    respond = (request, response) => {
      if (request.path === '/file') {
        for (const byte of 'RIFF\0\0\0\0WAVEfmt ') response.write(Buffer.from(byte, 'latin1'));
        response.end();
        return;
      }
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ output: { audio: { url: `${upstream.url}/file` } }, usage: { characters: 9 } }),
      );
    };
    const reply = await speak('wav');
    expect([reply.status, await reply.text()]).toEqual([200, 'RIFF\0\0\0\0WAVEfmt ']);
  });

  test('inside the response body are identified, too', async () => {
    respondWith({
      output: { data: { audio: Buffer.from(html).toString('hex'), status: 2 } },
      usage: { characters: 9 },
    });
    await expectBadGateway(await post(target.url, key, speech, { ...standard, model: beta.model }));
    respondWith({ output: { data: { audio: mp3.toString('hex'), status: 2 } }, usage: { characters: 9 } });
    const reply = await post(target.url, key, speech, { ...standard, model: beta.model });
    expect(Buffer.from(await reply.arrayBuffer()).equals(mp3)).toBe(true);
  });
});

describe('speech over a bridged socket', () => {
  let server: WebSocketServer;
  let bridge: TestGateway;
  /** Frames that the provider sends when a task starts. */
  let run: (socket: WebSocket) => void;
  beforeAll(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => socket.once('message', () => run(socket)));
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const channels = [channelTo(upstream.url, { wsUrl: `ws://127.0.0.1:${port}` })];
    bridge = await startTestGateway({ sandbox: false, channels });
  });
  afterAll(async () => {
    await bridge.close();
    server.close();
  });

  const frame = (event: string, payload: object = {}) =>
    JSON.stringify({ header: { task_id: 't', event, attributes: {} }, payload });
  const speak = () => post(bridge.url, bridge.key, speech, { ...standard, model: 'voxa-v1' });
  const lastState = async () => (await ledgerRows(bridge)).at(-1)?.state;

  test.each([
    ['null', ['null']],
    ['a list', ['[]']],
    ['an empty object', ['{}']],
    ['HTML', [html]],
    ['an error', ['{"code":"InternalError","message":"x"}']],
    ['task-finished without audio', [frame('task-started'), frame('task-finished')]],
    ['a result without output', [frame('result-generated', { output: 'x' }), frame('task-finished')]],
  ])('%s becomes a 502 without a charge', async (_name, frames) => {
    run = (socket) => {
      for (const one of frames) socket.send(one);
    };
    const reply = await speak();
    expect([reply.status, await reply.json()]).toMatchObject([502, { error: { code: 'bad_response' } }]);
    expect(await lastState()).toBe('refunded');
  });

  test.each([
    ['a closed connection', (socket: WebSocket) => socket.close()],
    ['an invalid frame', (socket: WebSocket) => socket.send('null')],
    ['a failure', (socket: WebSocket) => socket.send(frame('task-failed'))],
  ])('%s in the middle closes the connection, without a charge', async (_name, end) => {
    run = (socket) => {
      socket.send(Buffer.alloc(1000, 1));
      // The client has received the beginning.
      setImmediate(() => end(socket));
    };
    await expect(speak().then((reply) => reply.arrayBuffer())).rejects.toThrow();
    await vi.waitFor(async () => expect(await lastState()).toBe('refunded'));
  });
});

describe('tasks', () => {
  const create = {
    'of the gamma family': ['/v1/videos', { model: 'gamma3.0-video', prompt: 'A boat.' }],
    'of the gamma family, natively': [
      '/api/v1/services/aigc/video-generation/video-synthesis',
      { model: 'gamma3.0-video', input: { prompt: 'A boat.' } },
    ],
    'of the Seedance family': ['/v1/videos', { model: 'epsilon-delta-2-0-260128', prompt: 'A boat.' }],
    'of the eta family': ['/v1/videos', { model: 'eta-imagine-video', prompt: 'A boat.' }],
  } as const;

  test.each(Object.keys(create) as (keyof typeof create)[])(
    '%s get a 502 without a charge when the response to their creation is invalid',
    async (family) => {
      const [path, body] = create[family];
      for (const [caseName, sent, type] of invalidBodies) {
        // The id is the only field of this response.
        if (family === 'of the eta family' && caseName === 'a response without output') continue;
        respondWith(sent, type);
        await expectBadGateway(await post(target.url, key, path, body));
      }
    },
  );

  test.each([
    ['gamma3.0-video', { output: { task_id: 'up', task_status: 'PENDING' } }],
    ['epsilon-delta-2-0-260128', { id: 'up' }],
    ['eta-imagine-video', { request_id: 'up' }],
  ])('of %s stay queued when the response to a poll is invalid', async (model, accepted) => {
    respondWith(accepted);
    const { id } = await new GenericClient({ url: target.url, key }).create({ model, prompt: 'A boat.' });
    const { channels, store } = target.gateway;
    const task = await findTaskById(store.read, id);
    const channel = channels.named(task?.channel ?? '');
    const driver = drivers.get(task?.driver ?? '');
    if (task === undefined || channel === undefined || driver === undefined)
      throw new Error('the task does not exist');
    const more: typeof invalidBodies = [
      ['an output without a status', { output: {} }],
      ['a status of the wrong type', { status: 7, output: { task_status: [] } }],
    ];
    for (const [caseName, sent, type] of [...invalidBodies, ...more]) {
      respondWith(sent, type);
      const { signal } = new AbortController();
      const polled = await driver
        .poll({ ...task, upstreamId: 'up' }, { channel, signal })
        .catch((error) => error);
      expect(polled, caseName).toSatisfy(({ state, kind }) => state === 'queued' || kind === 'unknown');
    }
    expect((await findTaskById(store.read, id))?.state).toBe('queued');
  });
});
