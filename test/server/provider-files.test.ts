import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from '../video/generic-client.ts';
import { ledgerRows, post } from './ledger.ts';

/** Something of the inside that must not get out. */
const secret = 'the secret of the house';
const video = { model: 'eta-imagine-video', prompt: 'A paper boat.', seconds: '2', resolution: '480p' };

let provider: RecordingUpstream;
let inside: RecordingUpstream;
let target: TestGateway;
/** Where the provider says that the file is. */
let named: string;

const port = () => new URL(inside.url).port;

beforeAll(async () => {
  inside = await startUpstream((_request, response) => void response.end(secret));
  provider = await startUpstream(({ method, path }, response) => {
    if (path.startsWith('/moved')) {
      response.writeHead(302, { location: new URL(path, provider.url).searchParams.get('to') ?? '' }).end();
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (path.startsWith('/v1/videos/') && method === 'POST') response.end('{"request_id":"up-1"}');
    else if (path.startsWith('/v1/videos/')) {
      response.end(JSON.stringify({ status: 'done', video: { url: named, duration: 2 } }));
    } else {
      const audio = { data: '', url: named, id: 'a', expires_at: 1 };
      response.end(
        JSON.stringify({
          request_id: 'r',
          output: { finish_reason: 'stop', audio },
          usage: { characters: 2 },
        }),
      );
    }
  });
});
afterAll(async () => {
  await provider.close();
  await inside.close();
});
beforeEach(() => {
  inside.seen.length = 0;
});

const speak = () =>
  post(target.url, target.key, '/v1/audio/speech', { model: 'voxa-v2', input: 'Hi', voice: 'v1' });

/** Makes a video that lies where `named` says, and asks for its file. */
const load = async () => {
  const client = new GenericClient(target);
  const { id } = await client.create(video);
  await client.waitForStatus(id, 'completed');
  return client.fetch(`/v1/videos/${id}/content`);
};

const start = (privateFiles: boolean) =>
  startTestGateway({
    sandbox: false,
    channels: [
      channelTo(provider.url, { privateFiles }),
      channelTo(provider.url, { name: 'eta', protocol: 'eta', privateFiles }),
    ],
  });

describe('a file that a provider names', () => {
  beforeAll(async () => {
    target = await start(false);
  });
  afterAll(() => target.close());

  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0.0.0.0'];

  test.each([
    ...hosts.map((host) => [`at ${host}`, () => `http://${host}:${port()}/`] as const),
    ['behind a redirect', () => `${provider.url}/moved?to=${encodeURIComponent(inside.url)}`] as const,
  ])('%s is not fetched as audio, and the call is free', async (_what, address) => {
    named = address();
    const reply = await speak();
    const text = await reply.text();
    expect([reply.status, JSON.parse(text)]).toMatchObject([502, { error: { code: 'bad_response' } }]);
    for (const word of [secret, new URL(named).host]) expect(text).not.toContain(word);
    expect(inside.seen).toEqual([]);
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded' });
  });

  test('at a private address is not handed out as a video', async () => {
    named = `http://localhost:${port()}/video.mp4`;
    const reply = await load();
    expect([reply.status, await reply.json()]).toMatchObject([502, { error: { code: 'bad_response' } }]);
    expect(inside.seen).toEqual([]);
  });
});

describe('a file that a provider names on a channel with private_files', () => {
  beforeAll(async () => {
    target = await start(true);
  });
  afterAll(() => target.close());

  test('is a video, also where it is moved to', async () => {
    named = `${provider.url}/moved?to=${encodeURIComponent(`${inside.url}/video.mp4`)}`;
    const reply = await load();
    expect([reply.status, await reply.text()]).toEqual([200, secret]);
  });

  test.each(['file:///etc/hostname', 'ftp://127.0.0.1/', 'data:audio/wav;base64,UklGRg==', 'http://'])(
    'does not lead to %s',
    async (to) => {
      named = `${provider.url}/moved?to=${encodeURIComponent(to)}`;
      const reply = await speak();
      expect([reply.status, await reply.json()]).toMatchObject([502, { error: { code: 'bad_response' } }]);
      expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded' });
    },
  );

  test('is not looked for in a ring of redirects', async () => {
    const ring = new URL('/moved', provider.url);
    ring.searchParams.set('to', '/moved?to=/moved?to=/moved?to=/moved?to=/moved');
    named = ring.href;
    expect((await speak()).status).toBe(502);
  });
});
