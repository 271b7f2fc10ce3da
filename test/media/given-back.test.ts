import { expect, test } from 'vitest';
import { FileRelay } from '../../server/media/file-relay.ts';
import { channelTo } from '../support/upstream.ts';

const now = Date.UTC(2026, 10, 22);
const provider = 'https://provider.example';
const relay = new FileRelay({
  secret: 'the secret of all gateways of a store',
  channels: [
    channelTo(`${provider}/one`, { name: 'one', relayMedia: true }),
    channelTo(`${provider}/two`, { name: 'two' }),
    channelTo('https://other.example', { name: 'other', relayMedia: true }),
  ],
  home: () => 'http://127.0.0.1:8080',
  clock: () => now,
});
const url = 'https://bucket.provider.example/a.png?signature=1';
const owner = { channel: 'one', userId: 1, expiresAt: now + 1_000 };
const link = relay.linksAt('https://gateway.example').shown(url, owner);
const to = (body: unknown, change = {}) => relay.givenBack(body, { userId: 1, channel: 'one', ...change });

test('a link becomes the address again wherever a file is taken', () => {
  const body = (file: string) => ({
    model: 'm',
    image: file,
    images: ['https://x.example/1.png', file],
    input: {
      media: [{ type: 'first_frame', url: file }],
      clone_prompt: { prompt_audio: file },
      audio_url: file,
    },
    content: [{ type: 'image_url', image_url: { url: file }, role: 'first_frame' }],
    reference_images: [{ url: file }],
    video: { url: file },
    nothing: null,
    number: 1,
  });
  expect(to(body(link))).toEqual(body(url));
  // The gateway has several addresses, and its operator may move it.
  const moved = link.replace('https://gateway.example', 'http://localhost:1/behind');
  expect(to(body(moved))).toEqual(body(url));
  expect(to(body(link), { channel: 'two' })).toEqual(body(url));
});

test('also when its time is over: whether the file is there is the provider’s to say', () => {
  const late = relay.linksAt(undefined).shown(url, { ...owner, expiresAt: now - 1 });
  expect(to({ url: late })).toEqual({ url });
});

test('text that reads like a link stays', () => {
  const body = {
    prompt: link,
    input: { text: link, input: [link], voice_prompt: link },
    content: [{ type: 'text', text: link }, link],
    url: `see ${link}`,
  };
  expect(to(body)).toBe(body);
});

test.each([
  ['of another user', { url: link }, { userId: 2 }],
  ['to another provider', { url: link }, { channel: 'other' }],
  ['to a channel that nobody knows', { url: link }, { channel: 'gone' }],
  ['that was changed', { url: link.replace(/files\/./, 'files/_') }, {}],
  ['that is another path', { url: link.replace('/v1/files/', '/v1/file/') }, {}],
  ['that is cut', { url: link.slice(0, -20) }, {}],
  ['that is another address', { url: 'https://x.example/v1/files/abc/a.png' }, {}],
  ['that is none', { url: 'not an address /v1/files/abc/a.png' }, {}],
])('a link %s stays as it is', (_what, body, change) => {
  expect(to(body, change)).toBe(body);
});

test('a file of a channel without relay_media has no link', () => {
  expect(relay.linksAt('https://gateway.example').shown(url, { ...owner, channel: 'two' })).toBe(url);
});

test('a reader of whom nobody knows more is shown the gateway’s own address', () => {
  expect(relay.linksAt(undefined).shown(url, owner)).toMatch(
    /^http:\/\/127\.0\.0\.1:8080\/v1\/files\/[\w-]+\/image\.png$/,
  );
});
