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
  defaultBaseUrl: () => 'http://127.0.0.1:8080',
  clock: () => now,
});
const url = 'https://bucket.provider.example/a.png?signature=1';
const owner = { channel: 'one', userId: 1, expiresAt: now + 1_000 };
const link = relay.linksFor('https://gateway.example').publicUrl(url, owner);
const restore = (body: unknown, change = {}) =>
  relay.restoreProviderUrls(body, { userId: 1, channel: 'one', ...change });

test('replaces a link with the provider URL in every field of a file', () => {
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
  expect(restore(body(link))).toEqual(body(url));
  // The gateway's base URL may differ or change.
  const moved = link.replace('https://gateway.example', 'http://localhost:1/behind');
  expect(restore(body(moved))).toEqual(body(url));
  expect(restore(body(link), { channel: 'two' })).toEqual(body(url));
});

test('replaces an expired link, because the provider decides whether the file exists', () => {
  const expired = relay.linksFor(undefined).publicUrl(url, { ...owner, expiresAt: now - 1 });
  expect(restore({ url: expired })).toEqual({ url });
});

test('keeps a link in a text field', () => {
  const body = {
    prompt: link,
    input: { text: link, input: [link], voice_prompt: link },
    content: [{ type: 'text', text: link }, link],
    url: `see ${link}`,
  };
  expect(restore(body)).toBe(body);
});

test.each([
  ['of another user', { url: link }, { userId: 2 }],
  ['restore another provider', { url: link }, { channel: 'other' }],
  ['restore an unknown channel', { url: link }, { channel: 'unknown' }],
  ['with a changed token', { url: link.replace(/files\/./, 'files/_') }, {}],
  ['with another path', { url: link.replace('/v1/files/', '/v1/file/') }, {}],
  ['with a truncated token', { url: link.slice(0, -20) }, {}],
  ['of another host', { url: 'https://x.example/v1/files/abc/a.png' }, {}],
  ['that is not a URL', { url: 'not a URL /v1/files/abc/a.png' }, {}],
])('keeps a link %s', (_what, body, change) => {
  expect(restore(body, change)).toBe(body);
});

test('keeps the URL of a file of a channel without relay_media', () => {
  expect(relay.linksFor('https://gateway.example').publicUrl(url, { ...owner, channel: 'two' })).toBe(url);
});

test('uses the default base URL for a client whose own is unknown', () => {
  expect(relay.linksFor(undefined).publicUrl(url, owner)).toMatch(
    /^http:\/\/127\.0\.0\.1:8080\/v1\/files\/[\w-]+\/image\.png$/,
  );
});
