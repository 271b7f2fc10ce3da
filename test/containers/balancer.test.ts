import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { createDeployment, type Deployment } from '../faults/deployment.ts';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { append, eventOf, update } from '../mock/sockets/client-events.ts';
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

test.skipIf(!hasBalancer)('the load balancer returns JSON while no gateway is ready', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-balancer-'));
  const [port, unused] = [await freePort(), await freePort()];
  const text = configText('balancer')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('maxconn 20000', 'maxconn 200')
    .replaceAll(/gateway-\d:8080/g, `127.0.0.1:${unused}`);
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, text);
  const balancer = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'ignore' });
  const reply = await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/v1/models`));
  expect([reply.status, reply.headers.get('content-type'), reply.headers.get('retry-after')]).toEqual([
    503,
    'application/json',
    '1',
  ]);
  expect(await reply.json()).toEqual({
    error: { code: 'unavailable', message: 'No gateway is ready. Try again.' },
  });
  balancer.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

describe.skipIf(!hasBalancer || !engines.includes('postgres'))(
  'the load balancer of compose.yaml',
  { timeout: 90_000 },
  () => {
    let deployment: Deployment;
    let provider: PausedStreams;
    let gateways: GatewayProcess[] = [];
    const balancers: ChildProcess[] = [];

    beforeAll(async () => {
      provider = await startPausedStreams(message.model);
      deployment = await createDeployment('postgres');
      const config = JSON.parse(await readFile(deployment.options.config, 'utf8')) as { channels: object[] };
      config.channels.unshift(provider.channel(10));
      const { stop } = parse(configText('gateway')) as { stop: object };
      await writeFile(deployment.options.config, JSON.stringify({ ...config, stop }));
      gateways = await Promise.all([1, 2].map(() => GatewayProcess.start(deployment.options)));
    }, 60_000);
    afterAll(async () => {
      for (const balancer of balancers) balancer.kill('SIGKILL');
      for (const gateway of gateways) gateway.kill();
      await Promise.all(gateways.map((gateway) => gateway.ended));
      await provider.upstream.close();
      await deployment.remove();
    });

    /** Starts the balancer of compose.yaml in front of the gateways of this test, with changes to its configuration. */
    async function startBalancer(change: (text: string) => string = (text) => text): Promise<string> {
      const port = await freePort();
      let text = change(configText('balancer'))
        .replace('bind :8080', `bind 127.0.0.1:${port}`)
        // This machine may allow fewer open files.
        .replace('maxconn 20000', 'maxconn 200');
      for (const [index, { url }] of gateways.entries())
        text = text.replace(`gateway-${index + 1}:8080`, new URL(url).host);
      const file = join(deployment.options.dataDir, `haproxy-${port}.cfg`);
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
          authorization: `Bearer ${deployment.key}`,
          'content-type': 'application/json',
          'compat-version': '2023-06-01',
        },
        body: JSON.stringify({ ...message, ...more }),
      });

    /** Opens a realtime session and sends its settings. */
    async function openSession(url: string) {
      const socket = new WebSocket(`${url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
        headers: { authorization: `Bearer ${deployment.key}` },
      });
      const receivedTypes: string[] = [];
      const send = (event: object) => socket.send(JSON.stringify(event));
      socket.on('message', (data: Buffer) =>
        receivedTypes.push((JSON.parse(data.toString()) as { type: string }).type),
      );
      await vi.waitFor(() => expect(receivedTypes).toContain('session.created'), { timeout: 10_000 });
      send(update({ voice: 'Aria', mode: 'commit' }));
      await vi.waitFor(() => expect(receivedTypes).toContain('session.updated'), { timeout: 10_000 });
      let count = 0;
      const speak = (text: string) => {
        count += 1;
        send(append(text, `append_${count}`));
        send(eventOf('input_text_buffer.commit', `commit_${count}`));
      };
      const done = (count: number) =>
        vi.waitFor(
          () => expect(receivedTypes.filter((type) => type === 'response.done')).toHaveLength(count),
          {
            timeout: 30_000,
          },
        );
      const closed = once(socket, 'close') as Promise<[number]>;
      const finished = async () => {
        send(eventOf('session.finish', 'finish'));
        const [code] = await closed;
        expect(receivedTypes).toContain('session.finished');
        return code;
      };
      return { socket, speak, done, finished };
    }

    test('keeps a silent session open for longer than any other connection', async () => {
      // As in compose.yaml, but with shorter timeouts for ordinary calls.
      const url = await startBalancer((text) =>
        text.replace(/timeout (client|server|http-request|http-keep-alive) +\d+s/g, 'timeout $1 1s'),
      );
      const { socket, speak, done } = await openSession(url);
      // Opened after the session, and closed by the balancer when it times out.
      const idle = request(`${url}/v1/messages`, { method: 'POST', headers: { 'content-length': '10' } });
      idle.on('error', () => {});
      idle.flushHeaders();
      await new Promise((resolve) => idle.once('close', resolve));
      speak('Still here.');
      await done(1);
      socket.close();
    });

    test('loses no call, stream or speech when one of two gateways stops', async () => {
      const url = await startBalancer();
      const streams = await Promise.all([call(url, { stream: true }), call(url, { stream: true })]);
      const texts = streams.map((stream) => stream.text());
      // The expectations below report a failure.
      Promise.all(texts).catch(() => {});
      await vi.waitFor(() => expect(provider.paused).toHaveLength(2));
      const sessions = [await openSession(url), await openSession(url)];

      let isRunning = true;
      const statuses: number[] = [];
      const calls = Array.from({ length: 4 }, async () => {
        while (isRunning) {
          const response = await call(url);
          await response.arrayBuffer();
          statuses.push(response.status);
        }
      });
      Promise.all(calls).catch(() => {});
      const waitForResponses = (count: number) =>
        vi.waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(count), { timeout: 30_000 });
      await waitForResponses(20);

      for (const { speak } of sessions) speak('This is spoken to its end, although the gateway stops.');
      const [stopped] = gateways;
      stopped?.kill('SIGTERM');
      await vi.waitFor(() => expect(fetch(`${stopped?.url}/readyz`)).rejects.toThrow(), { timeout: 10_000 });
      await waitForResponses(statuses.length + 40);
      provider.resume();
      // A gateway that stops lets its sessions finish normally.
      for (const { done, finished } of sessions) {
        await done(1);
        expect(await finished()).toBe(1000);
      }
      expect(await stopped?.ended).toMatchObject({ code: 0 });
      isRunning = false;
      await Promise.all(calls);

      expect(new Set(statuses)).toEqual(new Set([200]));
      // Each call reached the provider exactly once.
      const streamed = 2;
      expect(provider.upstream.seen).toHaveLength(statuses.length + streamed);
      for (const text of await Promise.all(texts))
        expect(text.match(/^event: \w+$/gm)).toHaveLength(provider.events);
      const newSession = await openSession(url);
      newSession.speak('Back again.');
      await newSession.done(1);
      newSession.socket.close();
    });
  },
);
