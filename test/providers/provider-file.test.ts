import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { FileHosts } from '../../server/providers/provider-file.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

let upstream: RecordingUpstream;
beforeAll(async () => {
  upstream = await startUpstream((_, response) => void response.write('RIFF'));
});
afterAll(() => upstream.close());

const logger = createLogger('silent');
const by = (privateFiles: boolean, more: object = {}) => {
  const channel = new Channel(channelTo(upstream.url, { name: 'own', privateFiles }), Date.now);
  return { channel, user: 1, logger, signal: AbortSignal.timeout(60_000), ...more };
};
const unusable = {
  status: 502,
  code: 'bad_response',
  message: 'The provider returned the URL of a file that cannot be fetched.',
};

test('a private address is used only if the channel allows it and no client chose the URL', async () => {
  const warned = vi.spyOn(logger, 'warn');
  const hosts = new FileHosts({});
  const opened = await hosts.open(upstream.url, by(true));
  expect(opened.status).toBe(200);
  opened.body.destroy();
  expect(warned).not.toHaveBeenCalled();
  for (const request of [by(false), by(true, { publicOnly: true }), by(true, { channel: undefined })])
    await expect(hosts.open(upstream.url, request)).rejects.toMatchObject(unusable);
  const hint = "a provider's file was not fetched; `private_files` of the channel allows it";
  expect(warned.mock.calls.map(([facts, words]) => [facts, words])).toEqual(
    ['own', 'own', undefined].map((channel) => [
      { channel, reason: '127.0.0.1 is not a public address' },
      hint,
    ]),
  );
  warned.mockClear();
  await expect(hosts.open('ftp://files.example/a', by(true))).rejects.toMatchObject(unusable);
  expect(warned.mock.calls[0]?.[1]).toBe("a provider's file was not fetched");
  warned.mockRestore();
});

test('an unreachable host fails with 502 and releases its slot', async () => {
  const gone = await startUpstream(() => {});
  await gone.close();
  const hosts = new FileHosts({}, { count: 1, waitMs: 10_000, timers: new ManualTimers() });
  for (let times = 0; times < 2; times += 1)
    await expect(hosts.open(gone.url, by(true))).rejects.toMatchObject({
      status: 502,
      code: 'do_request_failed',
    });
});

test('open files of a host are limited by its slots, and a closed file releases one', async () => {
  const timers = new ManualTimers();
  const hosts = new FileHosts({}, { count: 1, waitMs: 10_000, timers });
  const request = by(true);
  const first = await hosts.open(upstream.url, request);
  const late = hosts.open(upstream.url, request).catch((error: unknown) => error);
  timers.advance(10_000);
  expect(await late).toMatchObject({ status: 503, code: 'get_channel_failed' });
  const second = hosts.open(upstream.url, request);
  first.body.destroy();
  (await second).body.destroy();
});
