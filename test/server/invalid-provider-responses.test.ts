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

/** What a provider, or a proxy before it, answers with HTTP 200 although it has failed. */

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

const page = '<!doctype html><html><body>502 Bad Gateway</body></html>';
const mp3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(5000, 1)]);

let upstream: RecordingUpstream;
let target: TestGateway;
let key: string;
let id: number;
let answer: Parameters<typeof startUpstream>[0];

beforeAll(async () => {
  upstream = await startUpstream((request, response) => answer(request, response));
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

const says = (body: string | Buffer | object, contentType = 'application/json') => {
  answer = (_request, response) => {
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

const rubbish: [what: string, body: string | object, contentType?: string][] = [
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '200'],
  ['a list', '[]'],
  ['a list of answers', [{ output: { audio: { url: 'https://files.example/a.mp3' } } }]],
  ['an empty object', {}],
  ['a page', page, 'text/html'],
  ['a page that calls itself JSON', page],
  ['an error', { code: 'InternalError', message: 'Bad Gateway', request_id: 'r' }],
  ['an error in an envelope', { error: { code: 'internal_error', message: 'Bad Gateway' } }],
  ['an answer without output', { request_id: 'r', output: null, usage: { characters: 9 } }],
  ['an answer cut off', '{"request_id":"r","output":{"audio":{"url":"https://fi'],
];
const withoutAudio: typeof rubbish = [
  ['an empty output', { output: {}, usage: { characters: 9 } }],
  ['an output that is a list', { output: ['https://files.example/a.mp3'], usage: { characters: 9 } }],
  [
    'an audio without address and data',
    { output: { audio: { url: '', data: '' } }, usage: { characters: 9 } },
  ],
  ['an audio of another kind', { output: { audio: { url: 'file:///a.mp3' } }, usage: { characters: 9 } }],
  ['hexadecimal audio that is none', { output: { data: { audio: 'no audio!' } }, usage: { characters: 9 } }],
  ['half of a byte', { output: { data: { audio: 'abc' } }, usage: { characters: 9 } }],
  ['Base64 that is none', { output: { audio: { data: '<html>' } }, usage: { characters: 9 } }],
  ['a failure of the provider', { output: { base_resp: { status_code: 1013 }, data: null }, usage: {} }],
  ['a failure of our account', { output: { base_resp: { status_code: 1008, status_msg: 'balance' } } }],
  ['audio of the wrong type', { output: { audio: { url: 'https://files.example/a' } } }, 'text/plain'],
  ['much text', { message: 'x'.repeat(2_000_000), output: 'x' }],
];

describe.each([
  ['SpeechSynthesizer', native, voxa, [...rubbish, ...withoutAudio]],
  ['multimodal speech of an alpha model', multimodal, alpha, [...rubbish, ...withoutAudio]],
  ['multimodal speech of a beta model', multimodal, beta, [...rubbish, ...withoutAudio]],
  ['cloning of a beta voice', multimodal, clone, rubbish],
  ['a voice', customization, enroll, rubbish],
  ['the standard route', speech, { ...standard, model: 'voxa-v2' }, [...rubbish, ...withoutAudio]],
  ['the standard route with a beta model', speech, { ...standard, model: beta.model }, rubbish],
] as const)('to %s', (_route, path, body, cases) => {
  test.each(cases.filter(([what]) => what !== 'much text'))(
    '%s is a 502, and free',
    async (_what, told, type) => {
      says(told, type);
      await expectBadGateway(await post(target.url, key, path, body));
    },
  );
});

test('a long answer that turns out to be none breaks the connection off, and is free', async () => {
  const begin = `{"output":{"data":{"audio":"${'ff'.repeat(1_000_000)}`;
  for (const rest of ['', '"}}} and more', `"},"base_resp":{"status_code":1000}}}`]) {
    says(begin + rest);
    const reply = await post(target.url, key, multimodal, beta);
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
    await expectFree();
  }
  const whole = `${begin}","status":2}},"usage":{"characters":13}}`;
  says(whole);
  expect((await (await post(target.url, key, multimodal, beta)).text()) === whole).toBe(true);
  expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 13 });
});

test('a clone that failed is no voice: its id is still free', async () => {
  const path = multimodal;
  const input = { ...clone.input, voice_id: 'narrator-2' };
  says(page, 'text/html');
  await expectBadGateway(await post(target.url, key, path, { ...clone, input }));
  says({ output: { base_resp: { status_code: 2013, status_msg: 'no' } } });
  expect((await post(target.url, key, path, { ...clone, input })).status).toBe(200);
  await expectFree();
  says({ output: { base_resp: { status_code: 0 } }, usage: { characters: 2 } });
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

  describe.each(routes)('as %s', (_what, path, body, init) => {
    const call = () => post(target.url, key, path, body, init);

    test.each(['\n', '\r\n', '\r'])(
      'with the line end %j are paid when the last event has come',
      async (end) => {
        says(`:beat${end}${end}${audio(end)}${last(end)}`, 'text/event-stream');
        const reply = await call();
        expect(reply.status).toBe(200);
        await reply.arrayBuffer();
        expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 9 });
      },
    );

    test.each([
      ['nothing', '', 'text/event-stream'],
      ['a page', page, 'text/html'],
      ['a page that calls itself a stream', page, 'text/event-stream'],
      [
        'JSON in place of events',
        JSON.stringify({ output: { audio: { data: 'AAAA' } } }),
        'application/json',
      ],
      ['an event that is null', event('null') + last(), 'text/event-stream'],
      ['an event that is a list', event('[]') + last(), 'text/event-stream'],
      ['an event cut off', audio().slice(0, 40), 'text/event-stream'],
      [
        'an error about our account',
        event({ code: 'Arrearage', message: 'no' }, 'error'),
        'text/event-stream',
      ],
      [
        'a verdict about our account',
        event({ output: { base_resp: { status_code: 1004 } } }),
        'text/event-stream',
      ],
    ])('%s is a 502, and free', async (_case, told, type) => {
      says(told, type);
      await expectBadGateway(await call());
    });

    test.each([
      ['without the last event', audio() + audio()],
      ['cut in the middle of an event', audio() + last().slice(0, -30)],
      ['with an event that is none', `${audio()}data:<html>\n\n${last()}`],
    ])('%s break off, and are free', async (_case, told) => {
      const begun = Promise.withResolvers<ServerResponse>();
      answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(told.slice(0, audio().length), () => begun.resolve(response));
      };
      const reply = await call();
      // The client has the beginning by now.
      (await begun.promise).end(told.slice(audio().length));
      await expect(reply.arrayBuffer()).rejects.toThrow();
      await expectFree();
    });
  });

  test.each(['\n', '\r\n', '\r'])('with a long error event and the line end %j are free', async (end) => {
    const error = event({ code: 'InternalError', message: `x ${upstream.url} `.repeat(200) }, 'error', end);
    says(audio(end) + error, 'text/event-stream');
    const text = await (await post(target.url, key, native, voxa, sse)).text();
    expect(text).toBe(audio(end) + error.replaceAll(upstream.url, '***'));
    await expectFree();
    says(audio(end) + error, 'text/event-stream');
    const reply = await post(target.url, key, speech, { ...standard, model: 'voxa-v2', stream: true });
    await expect(reply.arrayBuffer()).rejects.toThrow();
    await expectFree();
  });

  test('of a beta model play the repeated whole of the last event only once', async () => {
    const piece = (data: string, status: number) =>
      event({ output: { data: { audio: data, status } }, usage: { characters: 4 } });
    const body = { ...standard, model: beta.model, stream: true };
    says(piece('aa', 1) + piece('bb', 1), 'text/event-stream');
    await expect((await post(target.url, key, speech, body)).arrayBuffer()).rejects.toThrow();
    await expectFree();
    says(piece('aa', 1) + piece('bb', 1) + piece('aabb', 2), 'text/event-stream');
    const reply = await post(target.url, key, speech, body);
    expect(Buffer.from(await reply.arrayBuffer()).toString('hex')).toBe('aabb');
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 4 });
  });
});

describe('files', () => {
  const file = (body: Buffer | string, headers: Record<string, string> = {}, status = 200) => {
    answer = (request, response) => {
      if (request.path === '/file') {
        response.writeHead(status, headers).end(body);
        return;
      }
      response.setHeader('content-type', 'application/json');
      const told = {
        finish_reason: 'stop',
        audio: { data: '', url: `${upstream.url}/file`, id: 'a', expires_at: 1 },
      };
      response.end(JSON.stringify({ request_id: 'r', output: told, usage: { characters: 9 } }));
    };
  };
  const speak = (response_format: string) =>
    post(target.url, key, speech, { ...standard, model: 'voxa-v2', response_format });

  test.each([
    ['nothing', '', {}],
    ['a page', page, { 'content-type': 'text/html' }],
    ['a page that calls itself audio', page, { 'content-type': 'audio/wav' }],
    ['an error', '{"code":"NoSuchKey"}', { 'content-type': 'audio/wav' }],
    ['a sentence', 'No such file here.', {}],
    ['gzip', gzipSync(mp3), { 'content-type': 'audio/wav' }],
    ['gzip that says so', gzipSync(mp3), { 'content-type': 'application/gzip' }],
    ['audio packed for the way', gzipSync(mp3), { 'content-encoding': 'gzip', 'content-type': 'audio/mpeg' }],
    ['bytes that are JSON by their type', Buffer.alloc(100, 1), { 'content-type': 'application/json' }],
  ])('that are %s are a 502, and free', async (_what, body, headers) => {
    for (const format of ['wav', 'pcm']) {
      file(body, headers);
      await expectBadGateway(await speak(format));
    }
  });

  test('that are gone are a 502, and free', async () => {
    file('', {}, 404);
    await expectBadGateway(await speak('mp3'));
  });

  test.each([
    ['WAV', 'wav', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(100)]), 'audio/wav'],
    ['MP3 with a tag', 'mp3', mp3, 'audio/mpeg'],
    [
      'MP3 without one',
      'mp3',
      Buffer.concat([Buffer.from('fffb90c4', 'hex'), Buffer.alloc(100)]),
      'audio/mpeg',
    ],
    ['Ogg', 'opus', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(100)]), 'audio/ogg'],
    ['raw PCM', 'pcm', Buffer.alloc(100), 'audio/pcm'],
    ['another format than was asked for', 'mp3', Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'audio/wav'],
  ])(
    'that are %s go out as what they are, byte for byte, and are paid',
    async (_what, format, body, type) => {
      file(body, { 'content-type': 'application/octet-stream', 'content-length': String(body.length) });
      const reply = await speak(format);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type]);
      expect(reply.headers.get('content-length')).toBe(String(body.length));
      expect(Buffer.from(await reply.arrayBuffer()).equals(body)).toBe(true);
      expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 9 });
    },
  );

  test('whose beginning comes in drops are looked at when there is enough', async () => {
    answer = (request, response) => {
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

  test('that stand in the answer itself are looked at, too', async () => {
    says({
      output: { data: { audio: Buffer.from(page).toString('hex'), status: 2 } },
      usage: { characters: 9 },
    });
    await expectBadGateway(await post(target.url, key, speech, { ...standard, model: beta.model }));
    says({ output: { data: { audio: mp3.toString('hex'), status: 2 } }, usage: { characters: 9 } });
    const reply = await post(target.url, key, speech, { ...standard, model: beta.model });
    expect(Buffer.from(await reply.arrayBuffer()).equals(mp3)).toBe(true);
  });
});

describe('speech over a bridged socket', () => {
  let server: WebSocketServer;
  let bridge: TestGateway;
  /** What the provider does when it is told to run a task. */
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
    ['a page', [page]],
    ['an error', ['{"code":"InternalError","message":"x"}']],
    ['an end without audio', [frame('task-started'), frame('task-finished')]],
    ['a result without output', [frame('result-generated', { output: 'x' }), frame('task-finished')]],
  ])('%s is a 502, and free', async (_what, frames) => {
    run = (socket) => {
      for (const one of frames) socket.send(one);
    };
    const reply = await speak();
    expect([reply.status, await reply.json()]).toMatchObject([502, { error: { code: 'bad_response' } }]);
    expect(await lastState()).toBe('refunded');
  });

  test.each([
    ['an end of the connection', (socket: WebSocket) => socket.close()],
    ['nonsense', (socket: WebSocket) => socket.send('null')],
    ['a failure', (socket: WebSocket) => socket.send(frame('task-failed'))],
  ])('%s in the middle breaks the audio off, and is free', async (_what, end) => {
    run = (socket) => {
      socket.send(Buffer.alloc(1000, 1));
      // The client has seen the beginning by then.
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
    '%s that are taken with nonsense are a 502, and free',
    async (family) => {
      const [path, body] = create[family];
      for (const [what, told, type] of rubbish) {
        // An id is all that this protocol answers.
        if (family === 'of the eta family' && what === 'an answer without output') continue;
        says(told, type);
        await expectBadGateway(await post(target.url, key, path, body));
      }
    },
  );

  test.each([
    ['gamma3.0-video', { output: { task_id: 'up', task_status: 'PENDING' } }],
    ['epsilon-delta-2-0-260128', { id: 'up' }],
    ['eta-imagine-video', { request_id: 'up' }],
  ])('of %s are not over when a poll tells nonsense', async (model, taken) => {
    says(taken);
    const { id } = await new GenericClient({ url: target.url, key }).create({ model, prompt: 'A boat.' });
    const { channels, store } = target.gateway;
    const task = await findTaskById(store.read, id);
    const channel = channels.named(task?.channel ?? '');
    const driver = drivers.get(task?.driver ?? '');
    if (task === undefined || channel === undefined || driver === undefined) throw new Error('no task');
    const more: typeof rubbish = [
      ['an output without a status', { output: {} }],
      ['a status that is none', { status: 7, output: { task_status: [] } }],
    ];
    for (const [what, told, type] of [...rubbish, ...more]) {
      says(told, type);
      const { signal } = new AbortController();
      const polled = await driver
        .poll({ ...task, upstreamId: 'up' }, { channel, signal })
        .catch((error) => error);
      expect(polled, what).toSatisfy(({ state, kind }) => state === 'queued' || kind === 'unknown');
    }
    expect((await findTaskById(store.read, id))?.state).toBe('queued');
  });
});
