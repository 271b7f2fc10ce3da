import { type AddressInfo, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Channels } from '../../server/channels/channels.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

let upstream: RecordingUpstream;
let channels: Channels;
/** Ends the latest response. */
let finish: () => void;

beforeEach(async () => {
  upstream = await startUpstream((_request, response) => {
    response.write('begun ');
    finish = () => void response.end('and ended');
  });
});
afterEach(async () => {
  await channels.close();
  await upstream.close();
});

const start = (...settings: Parameters<typeof channelTo>[1][]) => {
  channels = new Channels(
    settings.map((change) => channelTo(upstream.url, change)),
    () => 0,
  );
};
const apply = (...settings: Parameters<typeof channelTo>[1][]) =>
  channels.apply(settings.map((change) => channelTo(upstream.url, change)));
/** Returns a function that sends a request on the current channel of that name. */
const senderOf = (name: string) => {
  const channel = channels.named(name);
  if (channel === undefined) throw new Error(`there is no channel ${name}`);
  return () => channel.request({ method: 'GET', path: '/', signal: new AbortController().signal });
};

test('a channel with unchanged settings keeps its health and connections', () => {
  start({ name: 'eu' }, { name: 'us', key: 'one' });
  const [eu, us] = [channels.named('eu'), channels.named('us')];
  apply({ name: 'us', key: 'another' }, { name: 'asia' }, { name: 'eu' });
  expect(channels.names).toEqual(['us', 'asia', 'eu']);
  expect(channels.named('eu')).toBe(eu);
  expect(channels.named('us')).not.toBe(us);
  expect(channels.named('us')?.settings.key).toBe('another');
  apply({ name: 'asia' });
  expect(channels.names).toEqual(['asia']);
  expect(channels.named('eu')).toBeUndefined();
  expect(channels.serving('native', 'voxa-v2', 'default').map(({ name }) => name)).toEqual(['asia']);
});

test('a changed channel serves the models and groups of its new settings', () => {
  start({ name: 'eu', models: [{ id: 'voxa-v2', upstream: 'old' }] });
  apply({ name: 'eu', models: [{ id: 'voxa-v3-*', upstream: undefined }], groups: ['trial'] });
  expect(channels.serving('native', 'voxa-v2', 'trial')).toEqual([]);
  expect(channels.serving('native', 'voxa-v3-plus', 'default')).toEqual([]);
  expect(channels.serving('native', 'voxa-v3-plus', 'trial')).toHaveLength(1);
  expect(channels.upstreamNames('voxa-v2')).toEqual(['voxa-v2']);
});

describe('the connections of a removed channel', () => {
  let counted: Server;
  let open = 0;

  /** Starts an upstream that counts its connections. */
  beforeEach(async () => {
    open = 0;
    counted = createServer((socket) => {
      open += 1;
      socket.on('close', () => (open -= 1)).on('error', () => {});
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nhalf'));
      end = () => socket.write('and half');
    });
    counted.listen(0, '127.0.0.1');
    await vi.waitFor(() => expect(counted.listening).toBe(true));
    const url = `http://127.0.0.1:${(counted.address() as AddressInfo).port}`;
    channels = new Channels([channelTo(url)], () => 0);
  });
  afterEach(async () => {
    await channels.close();
    counted.close();
  });
  let end = () => {};

  test('stay open until running requests end', async () => {
    const send = senderOf('recording');
    const { body } = await send();
    channels.apply([]);
    expect(channels.named('recording')).toBeUndefined();
    expect(open).toBe(1);
    end();
    expect(await text(body)).toBe('halfand half');
    await vi.waitFor(() => expect(open).toBe(0));
  });

  test('are closed at once if they are idle', async () => {
    const send = senderOf('recording');
    const { body } = await send();
    end();
    await text(body);
    expect(open).toBe(1);
    channels.apply([]);
    await vi.waitFor(() => expect(open).toBe(0));
  });

  test('are opened again for a request that had already selected the channel', async () => {
    const send = senderOf('recording');
    channels.apply([]);
    const { body } = await send();
    end();
    expect(await text(body)).toBe('halfand half');
    await vi.waitFor(() => expect(open).toBe(0));
  });
});

test('close() also aborts running requests of removed channels', async () => {
  start({ name: 'eu' });
  const send = senderOf('eu');
  const { body } = await send();
  apply({ name: 'us' });
  const cut = text(body);
  cut.catch(() => {});
  await channels.close();
  await expect(cut).rejects.toThrow();
  finish();
});
