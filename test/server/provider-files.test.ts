import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { GenericClient } from '../video/generic-client.ts';
import { ledgerRows, post } from './ledger.ts';

/** Content of an internal server that clients must not receive. */
const secret = 'internal content';
const video = { model: 'eta-imagine-video', prompt: 'A paper boat.', seconds: '2', resolution: '480p' };

let provider: RecordingUpstream;
let internalServer: RecordingUpstream;
let target: TestGateway;
/** The URL of the file in the provider's response. */
let fileUrl: string;

const port = () => new URL(internalServer.url).port;

beforeAll(async () => {
  internalServer = await startUpstream((_request, response) => void response.end(secret));
  provider = await startUpstream(({ method, path }, response) => {
    if (path.startsWith('/moved')) {
      response.writeHead(302, { location: new URL(path, provider.url).searchParams.get('to') ?? '' }).end();
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (path.startsWith('/v1/videos/') && method === 'POST') response.end('{"request_id":"up-1"}');
    else if (path.startsWith('/v1/videos/')) {
      response.end(JSON.stringify({ status: 'done', video: { url: fileUrl, duration: 2 } }));
    } else {
      const audio = { data: '', url: fileUrl, id: 'a', expires_at: 1 };
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
  await internalServer.close();
});
beforeEach(() => {
  internalServer.seen.length = 0;
});

const speak = () =>
  post(target.url, target.key, '/v1/audio/speech', { model: 'voxa-v2', input: 'Hi', voice: 'v1' });

/** Creates a video whose file is at `fileUrl` and downloads it. */
const downloadVideo = async () => {
  const client = new GenericClient(target);
  const { id } = await client.create(video);
  await client.waitForStatus(id, 'completed');
  return client.fetch(`/v1/videos/${id}/content`);
};

const startGateway = (privateFiles: boolean) =>
  startTestGateway({
    sandbox: false,
    channels: [
      channelTo(provider.url, { privateFiles }),
      channelTo(provider.url, { name: 'eta', protocol: 'eta', privateFiles }),
    ],
  });

describe('a file URL from a provider', () => {
  beforeAll(async () => {
    target = await startGateway(false);
  });
  afterAll(() => target.close());

  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0.0.0.0'];

  test.each([
    ...hosts.map((host) => [`at ${host}`, () => `http://${host}:${port()}/`] as const),
    [
      'behind a redirect',
      () => `${provider.url}/moved?to=${encodeURIComponent(internalServer.url)}`,
    ] as const,
  ])('%s is not fetched as audio, and the call is free', async (_name, address) => {
    fileUrl = address();
    const reply = await speak();
    const text = await reply.text();
    expect([reply.status, JSON.parse(text)]).toMatchObject([502, { error: { code: 'bad_response' } }]);
    for (const privateText of [secret, new URL(fileUrl).host]) expect(text).not.toContain(privateText);
    expect(internalServer.seen).toEqual([]);
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded' });
  });

  test('at a private address is not downloaded as a video', async () => {
    fileUrl = `http://localhost:${port()}/video.mp4`;
    const reply = await downloadVideo();
    expect([reply.status, await reply.json()]).toMatchObject([502, { error: { code: 'bad_response' } }]);
    expect(internalServer.seen).toEqual([]);
  });
});

describe('a file URL from a provider on a channel with private_files', () => {
  beforeAll(async () => {
    target = await startGateway(true);
  });
  afterAll(() => target.close());

  test('is fetched as a video, also after a redirect', async () => {
    fileUrl = `${provider.url}/moved?to=${encodeURIComponent(`${internalServer.url}/video.mp4`)}`;
    const reply = await downloadVideo();
    expect([reply.status, await reply.text()]).toEqual([200, secret]);
  });

  test.each(['file:///etc/hostname', 'ftp://127.0.0.1/', 'data:audio/wav;base64,UklGRg==', 'http://'])(
    'does not follow a redirect to %s',
    async (to) => {
      fileUrl = `${provider.url}/moved?to=${encodeURIComponent(to)}`;
      const reply = await speak();
      expect([reply.status, await reply.json()]).toMatchObject([502, { error: { code: 'bad_response' } }]);
      expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'refunded' });
    },
  );

  test('does not follow redirects without end', async () => {
    const loop = new URL('/moved', provider.url);
    loop.searchParams.set('to', '/moved?to=/moved?to=/moved?to=/moved?to=/moved');
    fileUrl = loop.href;
    expect((await speak()).status).toBe(502);
  });
});
