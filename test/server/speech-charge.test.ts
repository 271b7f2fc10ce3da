import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as sendHttp } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post } from './ledger.ts';

const speech = '/v1/audio/speech';
const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const sse = { 'x-native-sse': 'enable' };
const text = 'Good day.';
const price = 3;

const nativeBody = { model: 'voxa-v3-flash', input: { text, voice: 'v1' } };
const fileBody = { model: 'voxa-v3-flash', input: text, voice: 'v1', response_format: 'mp3' };
const audioBody = { ...fileBody, stream: true };
const eventsBody = { ...audioBody, stream_format: 'sse' };

const event = (data: object) => `event:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
const audio = (data: string, usage?: object) =>
  event({ output: { finish_reason: 'null', audio: { data } }, ...(usage && { usage }) });
const last = (usage?: object, output: object = { finish_reason: 'stop', audio: { data: '' } }) =>
  event({ output, ...(usage && { usage }) });

interface Reply {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
  body: string;
  isComplete: boolean;
}

/** Sends a request that accepts trailers. Returns the response before its body. `fetch` does not show trailers. */
async function open(
  { url, key }: { url: string; key: string },
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const all = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    te: 'trailers',
    ...headers,
  };
  const sent = sendHttp(url + path, { method: 'POST', headers: all }).end(JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function read(response: IncomingMessage): Promise<Reply> {
  let body = '';
  response.setEncoding('latin1');
  response.on('data', (part: string) => {
    body += part;
  });
  response.on('error', () => {});
  await new Promise((resolve) => {
    response.on('close', resolve);
  });
  const { statusCode: status, headers, trailers, complete: isComplete } = response;
  return { status, headers, trailers, body, isComplete };
}

const call = async (...args: Parameters<typeof open>) => read(await open(...args));

/** Returns the usage in each event of a stream. */
const usages = (body: string) =>
  [...body.matchAll(/^data:(.*)$/gm)].map(
    ([, data = '']) => (JSON.parse(data) as { usage?: { characters?: number; cost?: number } }).usage,
  );

describe.each(engines)('the charge of speech on %s', (engine) => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let respond: Parameters<typeof startUpstream>[0];

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => respond(request, response));
    const channels = [channelTo(upstream.url)];
    target = await startTestGateway({ sandbox: false, channels, prices: { '*': price } }, engine);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    target.gateway.channels.named('recording')?.health.reset();
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  /** Answers with a stream of events in these parts. */
  const stream = (...parts: readonly string[]) => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of parts) response.write(part);
      response.end();
    };
  };
  const sendEvents = (key = target.key) => call({ url: target.url, key }, synthesizer, nativeBody, sse);
  const entryOf = async ({ headers }: Pick<Reply, 'headers'>) =>
    (await logRows(target)).find(({ request_id }) => request_id === headers['x-request-id']);
  /** Returns the log entry of a call that ends without its response. */
  const awaitEntry = async (response: Pick<Reply, 'headers'>) => {
    await vi.waitFor(async () => expect(await entryOf(response)).toBeDefined());
    return entryOf(response);
  };

  describe('as events', () => {
    const beta = {
      model: 'beta/speech-2.8-turbo',
      input: { text, voice_setting: { voice_id: 'v1' } },
    };
    const betaOutput = (length: number) => ({ data: { audio: 'f0'.repeat(length), status: 2 } });

    test.each([
      ['synthesizeSpeech', synthesizer, nativeBody, last({ characters: 9 })],
      [
        'generateMultimodalSpeech',
        multimodal,
        { model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } },
        last({ characters: 9 }),
      ],
      ['a beta model', multimodal, beta, last({ characters: 9 }, betaOutput(0))],
      ['a beta model that repeats its audio', multimodal, beta, last({ characters: 9 }, betaOutput(150_000))],
      ['createSpeech', speech, eventsBody, last({ characters: 9 })],
    ])('%s is in the last event and the trailer', async (_, path, body, end) => {
      stream(audio('AAAA', { characters: 4 }), audio('BBBB'), end);
      const reply = await call(target, path, body, sse);
      expect([reply.status, reply.isComplete, reply.headers.trailer]).toEqual([200, true, 'x-unigate-cost']);
      const charged = 9 * price;
      expect(usages(reply.body)).toEqual([{ characters: 4 }, undefined, { characters: 9, cost: charged }]);
      expect(reply.trailers['x-unigate-cost']).toBe(String(charged));
      expect(reply.headers['x-unigate-cost']).toBeUndefined();
      expect(await entryOf(reply)).toMatchObject({ quota: charged, units: 9, status: 200 });
    });

    test('counts the last of two reports', async () => {
      stream(audio('AAAA'), last({ characters: 5 }), last({ characters: 7 }));
      const reply = await sendEvents();
      expect(usages(reply.body)).toEqual([undefined, { characters: 5 }, { characters: 7, cost: 21 }]);
      expect(await entryOf(reply)).toMatchObject({ quota: 21 });
    });

    test('is that of the expected usage if the provider reports none', async () => {
      stream(audio('AAAA'), last());
      const reply = await sendEvents();
      const charged = text.length * price;
      expect(usages(reply.body)).toEqual([undefined, { cost: charged }]);
      expect(await entryOf(reply)).toMatchObject({ quota: charged });
    });

    test('is only in the trailer if a report precedes a long last audio', async () => {
      const output = { finish_reason: 'stop', audio: { data: 'A'.repeat(300_000) } };
      stream(event({ usage: { characters: 5 }, output }));
      const reply = await sendEvents();
      expect(usages(reply.body)).toEqual([{ characters: 5 }]);
      expect(reply.trailers['x-unigate-cost']).toBe('15');
      expect(await entryOf(reply)).toMatchObject({ quota: 15 });
    });

    test('is in the header if the only event is the last one', async () => {
      stream(last({ characters: 5 }, { finish_reason: 'stop', audio: { data: 'AAAA' } }));
      const reply = await sendEvents();
      expect(usages(reply.body)).toEqual([{ characters: 5, cost: 15 }]);
      expect([reply.headers['x-unigate-cost'], reply.headers.trailer]).toEqual(['15', undefined]);
    });

    test('contains no debt', async () => {
      const { key } = await makeKey(target, { quota: 30 });
      stream(audio('AAAA'), last({ characters: 12 }));
      const reply = await sendEvents(key);
      expect(usages(reply.body).at(-1)).toEqual({ characters: 12, cost: 30 });
      expect(await entryOf(reply)).toMatchObject({ quota: 30, debt: 6 });
    });

    test.each([
      [
        'a failure after audio',
        'event:error\ndata:{"code":"InternalError","message":"x","request_id":"y"}\n\n',
      ],
      ['no audio', last()],
    ])('is absent for %s', async (_, end) => {
      stream(audio(''), end);
      const reply = await sendEvents();
      expect(reply.isComplete).toBe(true);
      expect(reply.body).not.toContain('cost');
      expect(reply.trailers).toEqual({});
      expect(await entryOf(reply)).toMatchObject({ quota: 0 });
    });

    test('is absent if the provider breaks off after the last event, which is sent', async () => {
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(audio('AAAA') + last({ characters: 5 }), () => response.destroy());
      };
      const reply = await sendEvents();
      expect([reply.status, reply.isComplete]).toEqual([200, false]);
      expect(usages(reply.body)).toEqual([undefined, { characters: 5 }]);
      expect(await awaitEntry(reply)).toMatchObject({ quota: 0, status: 502 });
    });

    test('is due if the client disconnects before the last event is sent', async () => {
      respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(audio('AAAA') + last({ characters: 5 }));
      };
      const response = await open(target, synthesizer, nativeBody, sse);
      const [first] = (await once(response, 'data')) as [Buffer];
      expect(first.toString()).toBe(audio('AAAA'));
      response.destroy();
      expect(await awaitEntry(response)).toMatchObject({
        quota: 15,
        status: 499,
        error_code: 'client_closed_request',
      });
    });

    describe('after a running event whose report is not JSON', () => {
      const invalid = audio('BBBB', { characters: 4 }).replace(':4', ':');

      test('is refunded at the end', async () => {
        stream(audio('AAAA'), invalid, last());
        const reply = await sendEvents();
        expect([reply.status, reply.isComplete]).toEqual([200, false]);
        expect(await awaitEntry(reply)).toMatchObject({ quota: 0, status: 502, error_code: 'bad_response' });
      });

      test('is that of the expected usage if the client disconnects', async () => {
        respond = (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(audio('AAAA') + invalid);
        };
        const response = await open(target, synthesizer, nativeBody, sse);
        await once(response, 'data');
        response.destroy();
        expect(await awaitEntry(response)).toMatchObject({
          quota: text.length * price,
          status: 499,
          error_code: 'client_closed_request',
        });
      });
    });

    test('is that of the whole stream if the client reads slowly', async () => {
      const parts = Array.from({ length: 400 }, () => audio('A'.repeat(20_000)));
      // The buffers of the connections may hold the complete stream, so the provider waits with its end.
      const waiting = Promise.withResolvers<void>();
      respond = (_request, upstreamResponse) => {
        upstreamResponse.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const part of parts) upstreamResponse.write(part);
        void waiting.promise.then(() => upstreamResponse.end(last({ characters: 6 })));
      };
      const response = await open(target, synthesizer, nativeBody, sse);
      response.pause();
      await vi.waitFor(() => expect(response.readableLength).toBeGreaterThan(0));
      expect(await entryOf(response)).toBeUndefined();
      waiting.resolve();
      const reply = await read(response.resume());
      expect(reply.isComplete).toBe(true);
      expect(usages(reply.body)).toHaveLength(401);
      expect(usages(reply.body).at(-1)).toEqual({ characters: 6, cost: 18 });
      expect(await entryOf(reply)).toMatchObject({ quota: 18 });
    });

    /** Lets the next settlements fail. */
    const failSettlement = (error: Error, times: number) => {
      const { store } = target.gateway;
      const { run } = store;
      let attempts = 0;
      vi.spyOn(store, 'run').mockImplementation(async (...command) => {
        if (command[0] === 'settleCalls' || command[0] === 'settle') {
          attempts += 1;
          if (attempts <= times) throw error;
        }
        return Reflect.apply(run, store, command);
      });
      return () => attempts;
    };

    test('is due once the ledger is available again', async () => {
      stream(audio('AAAA'), last({ characters: 5 }));
      const attempts = failSettlement(new StoreUnavailable(new Error('away')), 2);
      const reply = await sendEvents();
      expect(attempts()).toBe(3);
      expect([reply.isComplete, usages(reply.body).at(-1)]).toEqual([true, { characters: 5, cost: 15 }]);
      const entries = (await logRows(target)).filter(
        ({ request_id }) => request_id === reply.headers['x-request-id'],
      );
      expect(entries).toMatchObject([{ quota: 15 }]);
    });

    test('is absent if the settlement fails, and no audio is lost', async () => {
      const whole =
        audio('AAAA') + last({ characters: 5 }, { finish_reason: 'stop', audio: { data: 'BBBB' } });
      stream(whole);
      failSettlement(new Error('the store is broken'), 1);
      const reply = await sendEvents();
      expect([reply.status, reply.isComplete, reply.body]).toEqual([200, false, whole]);
      expect(await entryOf(reply)).toBeUndefined();
    });
  });

  test('is the trailer of streamed audio', async () => {
    stream(audio('AAAA'), audio('BBBB'), last({ characters: 8 }));
    const reply = await call(target, speech, audioBody);
    expect([reply.status, reply.body.length, reply.isComplete]).toEqual([200, 6, true]);
    expect([reply.headers.trailer, reply.trailers['x-unigate-cost']]).toEqual(['x-unigate-cost', '24']);
    expect(await entryOf(reply)).toMatchObject({ quota: 24 });
  });

  test('is not a trailer for a client that does not accept trailers', async () => {
    stream(audio('AAAA'), last({ characters: 8 }));
    const reply = await call(target, speech, audioBody, { te: '' });
    expect([reply.isComplete, reply.headers.trailer, reply.trailers]).toEqual([true, undefined, {}]);
    expect(await entryOf(reply)).toMatchObject({ quota: 24 });
  });

  test('is the trailer of long JSON', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const output = { finish_reason: 'stop', audio: { data: 'A'.repeat(2_000_000) } };
      response.end(JSON.stringify({ output, usage: { characters: 8 } }));
    };
    const reply = await call(target, synthesizer, nativeBody);
    expect([reply.body.length > 2_000_000, reply.trailers['x-unigate-cost']]).toEqual([true, '24']);
  });

  test('is not sent to HTTP/1.0 clients as a trailer', async () => {
    stream(audio('AAAA'), last({ characters: 8 }));
    const { hostname, port } = new URL(target.url);
    const socket = connect(Number(port), hostname);
    const content = JSON.stringify(audioBody);
    socket.write(
      `POST ${speech} HTTP/1.0\r\nAuthorization: Bearer ${target.key}\r\nTE: trailers\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n${content}`,
    );
    const reply = await readText(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(reply).not.toMatch(/unigate-cost|trailer|chunked/i);
    const { quota } = (await logRows(target)).at(-1) ?? {};
    expect(quota).toBe(24);
  });

  describe('of a file', () => {
    const mp3 = (length: number) => Buffer.concat([Buffer.from('ID3'), Buffer.alloc(length - 3, 1)]);
    /** Answers with a URL, and with the file that `write` sends there. */
    const file = (write: (response: Parameters<typeof respond>[1]) => void) => {
      respond = ({ path }, response) => {
        if (path === '/file') {
          write(response);
          return;
        }
        response.writeHead(200, { 'content-type': 'application/json' });
        const output = { finish_reason: 'stop', audio: { url: `${upstream.url}/file` } };
        response.end(JSON.stringify({ output, usage: { characters: 7 } }));
      };
    };
    const sized = (bytes: Buffer) =>
      file((response) => {
        response.writeHead(200, { 'content-length': bytes.length });
        response.end(bytes);
      });
    const limit = 1024 * 1024;

    test.each([5000, limit])('of %i bytes is the header', async (length) => {
      sized(mp3(length));
      const reply = await call(target, speech, fileBody);
      expect([reply.status, reply.body.length]).toEqual([200, length]);
      expect(reply.headers).toMatchObject({
        'content-type': 'audio/mpeg',
        'content-length': String(length),
        'x-unigate-cost': '21',
      });
      expect(reply.headers.trailer).toBeUndefined();
      expect(await entryOf(reply)).toMatchObject({ quota: 21 });
    });

    test('above 1 MB is absent, unless the client accepts trailers', async () => {
      sized(mp3(limit + 1));
      const plain = await call(target, speech, fileBody, { te: 'deflate' });
      expect([plain.body.length, plain.headers['content-length']]).toEqual([limit + 1, String(limit + 1)]);
      expect([plain.headers['x-unigate-cost'], plain.headers.trailer, plain.trailers]).toEqual([
        undefined,
        undefined,
        {},
      ]);
      const reply = await call(target, speech, fileBody);
      expect([reply.body.length, reply.headers['content-length']]).toEqual([limit + 1, undefined]);
      expect(reply.trailers['x-unigate-cost']).toBe('21');
      expect(await entryOf(reply)).toMatchObject({ quota: 21 });
    });

    test('of unknown length is the trailer', async () => {
      file((response) => {
        response.write(mp3(5000));
        response.end();
      });
      const reply = await call(target, speech, fileBody);
      expect([reply.body.length, reply.trailers['x-unigate-cost']]).toEqual([5000, '21']);
    });

    test.each([
      [
        'breaks off',
        502,
        (response: Parameters<typeof respond>[1]) => {
          response.writeHead(200, { 'content-length': 5000 });
          response.write(mp3(4000), () => response.destroy());
        },
      ],
      [
        'is not audio',
        502,
        (response: Parameters<typeof respond>[1]) => {
          response.writeHead(200, { 'content-length': 6, 'content-type': 'text/html' });
          response.end('<html>');
        },
      ],
    ])('that %s is refunded without the header', async (_, status, write) => {
      file(write);
      const reply = await call(target, speech, fileBody);
      expect([reply.status, reply.headers['x-unigate-cost']]).toEqual([status, undefined]);
      expect(await entryOf(reply)).toMatchObject({ quota: 0, status });
    });

    test('that the client does not wait for is not charged', async () => {
      const sent = Promise.withResolvers<void>();
      file((response) => {
        response.writeHead(200, { 'content-length': 5000 });
        response.write(mp3(4000), () => sent.resolve());
      });
      const controller = new AbortController();
      const before = (await logRows(target)).length;
      const reply = post(target.url, target.key, speech, fileBody, { signal: controller.signal });
      await sent.promise;
      controller.abort();
      await expect(reply).rejects.toThrow();
      await vi.waitFor(async () =>
        expect((await logRows(target)).slice(before)).toMatchObject([{ quota: 0, status: 499 }]),
      );
    });
  });
});

test('is the trailer of audio from a model with only a socket', async () => {
  const target = await startTestGateway({ prices: { '*': price } });
  try {
    const body = { model: 'voxa-v1', input: text, voice: 'voxanna', response_format: 'mp3' };
    const reply = await call(target, speech, body);
    const entry = (await logRows(target)).find(
      ({ request_id }) => request_id === reply.headers['x-request-id'],
    );
    expect(entry?.quota).toBeGreaterThan(0);
    expect(reply.trailers['x-unigate-cost']).toBe(String(entry?.quota));
  } finally {
    await target.close();
  }
});
