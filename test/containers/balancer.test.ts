import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { makeSite, type Site } from '../faults/site.ts';
import { append, plain, update } from '../mock/sockets/client-events.ts';
import { engines } from '../store/engines.ts';
import { freePort } from '../support/free-port.ts';
import { type PausedStreams, startPausedStreams } from '../support/paused-streams.ts';
import { configText } from './files.ts';

const hasBalancer = (() => {
  try {
    execFileSync('haproxy', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const message = { model: 'iota-chat-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }] };

describe.skipIf(!hasBalancer || !engines.includes('postgres'))(
  'the load balancer of compose.yaml',
  { timeout: 90_000 },
  () => {
    let site: Site;
    let provider: PausedStreams;
    let gateways: GatewayProcess[] = [];
    const balancers: ChildProcess[] = [];

    beforeAll(async () => {
      provider = await startPausedStreams(message.model);
      site = await makeSite('postgres');
      const config = JSON.parse(await readFile(site.options.config, 'utf8')) as { channels: object[] };
      config.channels.unshift(provider.channel(10));
      const { stop } = parse(configText('gateway')) as { stop: object };
      await writeFile(site.options.config, JSON.stringify({ ...config, stop }));
      gateways = await Promise.all([1, 2].map(() => GatewayProcess.start(site.options)));
    }, 60_000);
    afterAll(async () => {
      for (const balancer of balancers) balancer.kill('SIGKILL');
      for (const gateway of gateways) gateway.kill();
      await Promise.all(gateways.map((gateway) => gateway.ended));
      await provider.upstream.close();
      await site.remove();
    });

    /** The balancer as compose.yaml has it, but before the gateways of this test, and with some lines changed. */
    async function startBalancer(change: (text: string) => string = (text) => text): Promise<string> {
      const port = await freePort();
      let text = change(configText('balancer'))
        .replace('bind :8080', `bind 127.0.0.1:${port}`)
        // This machine may allow fewer open files.
        .replace('maxconn 20000', 'maxconn 200');
      for (const [index, { url }] of gateways.entries())
        text = text.replace(`gateway-${index + 1}:8080`, new URL(url).host);
      const file = join(site.options.dataDir, `haproxy-${port}.cfg`);
      await writeFile(file, text);
      execFileSync('haproxy', ['-c', '-q', '-f', file]);
      const balancer = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'ignore' });
      balancers.push(balancer);
      const url = `http://127.0.0.1:${port}`;
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), {
        timeout: 10_000,
      });
      return url;
    }

    const call = (url: string, more: object = {}) =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${site.key}`,
          'content-type': 'application/json',
          'compat-version': '2023-06-01',
        },
        body: JSON.stringify({ ...message, ...more }),
      });

    /** A realtime session that has been told how to speak. */
    async function session(url: string) {
      const socket = new WebSocket(`${url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
        headers: { authorization: `Bearer ${site.key}` },
      });
      const heard: string[] = [];
      const send = (event: object) => socket.send(JSON.stringify(event));
      socket.on('message', (data: Buffer) =>
        heard.push((JSON.parse(data.toString()) as { type: string }).type),
      );
      await vi.waitFor(() => expect(heard).toContain('session.created'), { timeout: 10_000 });
      send(update({ voice: 'Aria', mode: 'commit' }));
      await vi.waitFor(() => expect(heard).toContain('session.updated'), { timeout: 10_000 });
      let spoken = 0;
      const say = (text: string) => {
        spoken += 1;
        send(append(text, `append_${spoken}`));
        send(plain('input_text_buffer.commit', `commit_${spoken}`));
      };
      const done = (count: number) =>
        vi.waitFor(() => expect(heard.filter((type) => type === 'response.done')).toHaveLength(count), {
          timeout: 30_000,
        });
      const closed = once(socket, 'close') as Promise<[number]>;
      const finished = async () => {
        send(plain('session.finish', 'finish'));
        const [code] = await closed;
        expect(heard).toContain('session.finished');
        return code;
      };
      return { socket, say, done, finished };
    }

    test('keeps a silent session open for longer than any other connection', async () => {
      // As in compose.yaml, but for the times of ordinary calls, which are shortened for the test.
      const url = await startBalancer((text) =>
        text.replace(/timeout (client|server|http-request|http-keep-alive) +\d+s/g, 'timeout $1 1s'),
      );
      const { socket, say, done } = await session(url);
      // Opened after the session, and closed by the balancer since nothing comes.
      const idle = request(`${url}/v1/messages`, { method: 'POST', headers: { 'content-length': '10' } });
      idle.on('error', () => {});
      idle.flushHeaders();
      await new Promise((resolve) => idle.once('close', resolve));
      say('Still here.');
      await done(1);
      socket.close();
    });

    test('loses no call, stream or speech when one of two gateways is told to stop', async () => {
      const url = await startBalancer();
      const streams = await Promise.all([call(url, { stream: true }), call(url, { stream: true })]);
      const texts = streams.map((stream) => stream.text());
      // Told by what waits for them below.
      Promise.all(texts).catch(() => {});
      await vi.waitFor(() => expect(provider.paused).toHaveLength(2));
      const sessions = [await session(url), await session(url)];

      let going = true;
      const statuses: number[] = [];
      const callers = Array.from({ length: 4 }, async () => {
        while (going) {
          const answer = await call(url);
          await answer.arrayBuffer();
          statuses.push(answer.status);
        }
      });
      Promise.all(callers).catch(() => {});
      const answered = (count: number) =>
        vi.waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(count), { timeout: 30_000 });
      await answered(20);

      for (const { say } of sessions) say('This is said to its end, whatever becomes of the gateway.');
      const [stopped] = gateways;
      stopped?.kill('SIGTERM');
      await vi.waitFor(() => expect(fetch(`${stopped?.url}/readyz`)).rejects.toThrow(), { timeout: 10_000 });
      await answered(statuses.length + 40);
      provider.resume();
      // A session on a gateway that stops may finish, and ends as any other.
      for (const { done, finished } of sessions) {
        await done(1);
        expect(await finished()).toBe(1000);
      }
      expect(await stopped?.ended).toMatchObject({ code: 0 });
      going = false;
      await Promise.all(callers);

      expect(new Set(statuses)).toEqual(new Set([200]));
      // Each call was made once, and none twice.
      const streamed = 2;
      expect(provider.upstream.seen).toHaveLength(statuses.length + streamed);
      for (const text of await Promise.all(texts))
        expect(text.match(/^event: \w+$/gm)).toHaveLength(provider.events);
      const again = await session(url);
      again.say('Back again.');
      await again.done(1);
      again.socket.close();
    });
  },
);
