import { afterEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import { decideOn } from './end-user.ts';
import { SessionClient, sendJson, sessionsPath, startSessionProvider } from './session-provider.ts';

describe('channels for verification', () => {
  const closing: (() => Promise<void>)[] = [];
  const started = async (...args: Parameters<typeof startTestGateway>): Promise<TestGateway> => {
    const target = await startTestGateway(...args);
    closing.unshift(() => target.close());
    return target;
  };
  const provided = async (name: string) => {
    const provider = await startSessionProvider(name);
    closing.push(() => provider.close());
    return provider;
  };
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  test('without a channel return 503 and reserve nothing', async () => {
    const target = await started({ sandbox: false, channels: [] });
    const { status, body } = await new SessionClient(target.url, target.key).call('POST', sessionsPath, {});
    expect([status, body.success]).toEqual([503, false]);
  });

  test('use the next one only if the first has certainly not created a session', async () => {
    const [first, second] = [await provided('first'), await provided('second')];
    const target = await started({
      sandbox: false,
      channels: [
        channelTo(first.url, { name: 'first', protocol: 'verification', priority: 1 }),
        channelTo(second.url, { name: 'second', protocol: 'verification' }),
      ],
    });
    const client = new SessionClient(target.url, target.key);
    first.instead = (_request, response) => sendJson(response, 500, {});
    expect((await client.call('POST', sessionsPath, {})).status).toBe(502);
    expect(second.sessions.size).toBe(0);
    first.instead = (_request, response) => sendJson(response, 401, {});
    const { session_id: id } = await client.start();
    expect(id).toBe('vs_second_1');
    first.seen.length = 0;
    await client.show(id);
    expect([first.seen.length, second.reads().length]).toEqual([0, 1]);
  });

  test('return 503 for a session of a removed channel until it expires', async () => {
    const provider = await provided('gone');
    let now = Date.now();
    const target = await started(
      { sandbox: false, channels: [channelTo(provider.url, { name: 'people', protocol: 'verification' })] },
      'sqlite',
      () => now,
    );
    const client = new SessionClient(target.url, target.key);
    const { session_id: id } = await client.start();
    await target.gateway.store.run('saveVerificationSession', {
      session_id: 'vs_gone',
      user_id: 1,
      token_id: 1,
      channel: 'gone',
      h5_link: 'https://pages.vendor.example/',
      callback_url: '',
      status: 'pending',
      group_id: null,
      upstream_group_id: null,
      result_code: null,
      created_at: now,
      updated_at: now,
      expires_at: now + 1_000,
    });
    expect((await client.read('vs_gone')).status).toBe(503);
    expect((await client.show(id)).status).toBe('pending');
    now += 1_000;
    expect((await client.show('vs_gone')).status).toBe('expired');
  });

  test('may lead to another gateway', async () => {
    const upstream = await started();
    const target = await started({
      sandbox: false,
      channels: [channelTo(upstream.url, { name: 'other', protocol: 'verification', key: upstream.key })],
    });
    const client = new SessionClient(target.url, target.key);
    const { session_id: id, h5_link } = await client.start();
    const answer = await decideOn(h5_link, 'approve');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `https://app.example/verified?vendor_token=${id}&resultCode=10000`,
    ]);
    const verified = await client.show(id, 10_000);
    expect(verified).toMatchObject({ status: 'verified', result_code: 10_000 });
    const other = await new SessionClient(upstream.url, upstream.key).show(id);
    expect(other).toMatchObject({ status: 'verified', group_id: expect.stringMatching(/^group-/) });
    expect(other.group_id).not.toBe(verified.group_id);
  });
});
