import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openStore } from '../../server/store/open-store.ts';
import type { Store } from '../../server/store/store.ts';
import { createDeployment, type Deployment } from '../faults/deployment.ts';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { engines } from '../store/engines.ts';
import { expectBalanced } from '../store/ledger.ts';
import { freePort } from '../support/free-port.ts';
import { type PausedStreams, startPausedStreams } from '../support/paused-streams.ts';
import { connect } from '../support/socket-client.ts';
import { startUpstream } from '../support/upstream.ts';
import { scrape } from '../telemetry/scrape.ts';

const message = { model: 'iota-chat-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }] };
const bootstrap = 'sk-bootstrap-of-the-workers';
const speech = '/v1/realtime?model=alpha3-tts-flash-realtime';
const within = { timeout: 30_000, interval: 50 };

let deployment: Deployment;
let provider: PausedStreams;
let store: Store;
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  if (!engines.includes('postgres')) return;
  provider = await startPausedStreams(message.model);
  deployment = await createDeployment('postgres');
  await configure((channels) => [provider.channel(10), ...channels]);
  store = await openStore(deployment.options);
});
afterAll(async () => {
  for (const gateway of gateways) gateway.kill();
  await Promise.all(gateways.map((gateway) => gateway.ended));
  await store?.close();
  await provider?.upstream.close();
  await deployment?.remove();
});

async function configure(change: (channels: { name: string }[]) => object[]): Promise<void> {
  const config = JSON.parse(await readFile(deployment.options.config, 'utf8')) as {
    channels: { name: string }[];
  };
  await writeFile(
    deployment.options.config,
    JSON.stringify({ ...config, channels: change(config.channels) }),
  );
}

async function start(environment: Record<string, string> = {}): Promise<GatewayProcess> {
  const ours = { WORKERS: '2', LOG_LEVEL: 'debug', BOOTSTRAP_KEY: bootstrap, ...environment };
  const gateway = await GatewayProcess.start({ ...deployment.options, environment: ours });
  gateways.push(gateway);
  return gateway;
}

interface Line {
  msg: string;
  worker?: number;
  pid?: number;
  gateway?: string;
  request_id?: string;
}

/** Returns the log lines with a message. */
function logged({ output }: GatewayProcess, message: string): Line[] {
  const lines = output.stderr.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message);
}

/** Sends a request on a new connection, so that either worker may handle it. */
const ask = (url: string, path: string, init: RequestInit = {}, key = deployment.key) =>
  fetch(url + path, {
    ...init,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'compat-version': '2023-06-01',
      connection: 'close',
    },
  });
const call = (url: string, more: object = {}) =>
  ask(url, '/v1/messages', { method: 'POST', body: JSON.stringify({ ...message, ...more }) });
const reload = (url: string) => ask(url, '/api/admin/reload', { method: 'POST' }, bootstrap);

const gatewayRows = () => store.read.selectFrom('gateways').select('id').execute();

/** Starts a stream that the provider does not finish yet. Resolves when it has begun. */
async function startStream(url: string): Promise<{ text: Promise<string> }> {
  const before = provider.paused.length;
  const answer = await call(url, { stream: true });
  const text = answer.text();
  // The caller handles the rejection.
  text.catch(() => {});
  await vi.waitFor(() => expect(provider.paused.length).toBe(before + 1), within);
  return { text };
}

describe.skipIf(!engines.includes('postgres'))('two workers on one port', { timeout: 240_000 }, () => {
  let gateway: GatewayProcess;
  let operatorUrl: string;
  const workersThatLogged = (message: string) =>
    new Set(logged(gateway, message).map(({ worker }) => worker));

  beforeAll(async () => {
    const port = await freePort();
    operatorUrl = `http://127.0.0.1:${port}`;
    gateway = await start({ METRICS_PORT: String(port) });
  }, 120_000);

  test('are separate gateways, report the address once and share the calls', async () => {
    expect(gateway.output.stdout).toBe(`console: ${gateway.url}/console\nlistening on ${gateway.url}\n`);
    await vi.waitFor(() => expect(logged(gateway, 'a worker serves')).toHaveLength(2), within);
    expect(new Set((await gatewayRows()).map(({ id }) => id))).toEqual(
      new Set(logged(gateway, 'a worker serves').map(({ gateway: id }) => id)),
    );
    for (const url of [gateway.url, operatorUrl]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const answered = async () => {
      expect((await call(gateway.url)).status).toBe(200);
      expect(new Set(logged(gateway, 'request completed').map(({ worker }) => worker))).toEqual(
        new Set([1, 2]),
      );
    };
    await vi.waitFor(answered, within);
  });

  test('appear as one gateway in metrics, channel views and reloads', async () => {
    const labels = { unigate_operation: 'listModels' };
    const counted = async () =>
      (await scrape(operatorUrl)).sum('http_server_request_duration_seconds_count', labels);
    const before = await counted();
    const rounds = 30;
    for (let round = 0; round < rounds; round += 1)
      expect((await ask(gateway.url, '/v1/models')).status).toBe(200);
    expect((await counted()) - before).toBe(rounds);
    const metrics = await scrape(operatorUrl);
    expect(metrics.values('unigate_channel_healthy', { unigate_channel: 'scripted' })).toMatchObject([
      { value: 1 },
    ]);

    const requests = provider.upstream.seen.length;
    const response = await ask(gateway.url, '/api/admin/channels', {}, bootstrap);
    const { data } = (await response.json()) as {
      data: { items: { name: string; figures: { requests: number; latency_p50_ms: number } }[] };
    };
    const figures = data.items.find(({ name }) => name === 'scripted')?.figures;
    expect(figures?.requests).toBe(requests);
    expect(figures?.latency_p50_ms).toBeGreaterThanOrEqual(0);

    const message = 'the configuration was reloaded';
    await configure((channels) =>
      channels.map((one) => (one.name === 'scripted' ? provider.channel(11) : one)),
    );
    expect((await reload(gateway.url)).status).toBe(200);
    // The response is sent after all workers have reloaded.
    const priorities = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      const answer = await ask(gateway.url, '/api/admin/channels', {}, bootstrap);
      const { items } = ((await answer.json()) as { data: { items: { name: string; priority: number }[] } })
        .data;
      priorities.add(items.find(({ name }) => name === 'scripted')?.priority ?? Number.NaN);
    }
    expect(priorities).toEqual(new Set([11]));
    gateway.kill('SIGHUP');
    await vi.waitFor(() => expect(logged(gateway, message)).toHaveLength(4), within);
    expect(workersThatLogged(message)).toEqual(new Set([1, 2]));
  });

  test('continue when one is killed: its leases are released and it is replaced', async () => {
    const countedBefore = (await scrape(operatorUrl)).sum('http_server_request_duration_seconds_count');
    const streams = [await startStream(gateway.url), await startStream(gateway.url)];
    const log = logged(gateway, 'a worker serves');
    const holding = async () => {
      const leases = await store.read.selectFrom('quota_leases').select('gateway').execute();
      const open = await store.read
        .selectFrom('ledger')
        .select('gateway')
        .where('state', '=', 'open')
        .execute();
      return [...leases, ...open].map((row) => row.gateway);
    };
    const [holder] = await holding();
    const victim = log.find(({ gateway: id }) => id === holder);
    if (victim?.pid === undefined) throw new Error('no worker holds quota');

    let running = true;
    const statuses: number[] = [];
    const callers = Array.from({ length: 3 }, async () => {
      while (running) {
        // Calls of the killed worker fail; every response that arrives is correct.
        const answer = await call(gateway.url).catch(() => undefined);
        if (answer !== undefined) statuses.push(answer.status);
        await answer?.arrayBuffer().catch(() => {});
      }
    });
    const more = (count: number) => vi.waitFor(() => expect(statuses.length).toBeGreaterThan(count), within);
    await more(5);
    process.kill(victim.pid, 'SIGKILL');
    await more(statuses.length + 10);
    await vi.waitFor(
      () => expect(logged(gateway, 'released the leases of a worker')).toHaveLength(1),
      within,
    );
    expect(logged(gateway, 'released the leases of a worker')).toMatchObject([{ worker: victim.worker }]);
    // The primary released them, not another gateway after missed heartbeats.
    expect(logged(gateway, 'a gateway was removed for missed heartbeats')).toEqual([]);
    expect(await holding()).not.toContain(holder);
    running = false;
    await Promise.all(callers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await vi.waitFor(() => expect(logged(gateway, 'a worker was replaced')).toHaveLength(1), {
      timeout: 120_000,
    });
    const before = logged(gateway, 'request completed').length;
    const answers = async () => {
      expect((await call(gateway.url)).status).toBe(200);
      const since = logged(gateway, 'request completed').slice(before);
      expect(since.some(({ worker }) => worker === victim.worker)).toBe(true);
    };
    await vi.waitFor(answers, within);
    provider.resume();
    const ended = await Promise.allSettled(streams.map(({ text }) => text));
    // Streams of the killed worker are aborted, so that no client takes them for complete.
    for (const one of ended)
      if (one.status === 'fulfilled') expect(one.value.match(/^event: \w+$/gm)).toHaveLength(provider.events);
    expect(logged(gateway, 'a worker serves').at(-1)).toMatchObject({ worker: victim.worker });
    const countedAfter = (await scrape(operatorUrl)).sum('http_server_request_duration_seconds_count');
    expect(countedAfter).toBeGreaterThan(countedBefore);
    for (const url of [gateway.url, operatorUrl]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await vi.waitFor(() => expectBalanced(store, deployment.token), within);
  });

  test('finish calls, streams and sockets after SIGTERM, and exit with 0', async () => {
    const streams: { text: Promise<string> }[] = [];
    for (let count = 0; count < 6; count += 1) streams.push(await startStream(gateway.url));
    const sockets = await Promise.all(
      Array.from({ length: 6 }, () => connect(gateway.url + speech, { key: deployment.key })),
    );
    for (const socket of sockets) {
      await socket.next(({ type }) => type === 'session.created');
      const session = { voice: 'Aria', mode: 'commit' };
      socket.send({ event_id: 'update', type: 'session.update', session });
      await socket.next(({ type }) => type === 'session.updated');
      socket.send({ event_id: 'text', type: 'input_text_buffer.append', text: 'To the end.' });
      socket.send({ event_id: 'commit', type: 'input_text_buffer.commit' });
    }
    gateway.kill('SIGTERM');
    await vi.waitFor(() => expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow(), within);
    provider.resume();
    for (const { text } of streams)
      expect((await text).match(/^event: \w+$/gm)).toHaveLength(provider.events);
    for (const socket of sockets) {
      await socket.next(({ type }) => type === 'response.done');
      socket.send({ event_id: 'finish', type: 'session.finish' });
      expect((await socket.closed).code).toBe(1000);
    }
    expect(await gateway.ended).toMatchObject({ code: 0 });
    expect(await gatewayRows()).toEqual([]);
    await expectBalanced(store, deployment.token);
    expect(logged(gateway, 'a part of the gateway failed to stop')).toEqual([]);
  });
});

describe.skipIf(!engines.includes('postgres'))('workers', { timeout: 240_000 }, () => {
  test('serve TLS and finish their calls when the primary is killed', async () => {
    const [certificate, key] = ['certificate.pem', 'key.pem'].map((name) =>
      join(deployment.options.dataDir, name),
    );
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
        .concat(['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'])
        .concat(['-keyout', key ?? '', '-out', certificate ?? '']),
      { stdio: 'pipe' },
    );
    const gateway = await start({ TLS_CERT: certificate ?? '', TLS_KEY: key ?? '' });
    expect(gateway.url).toMatch(/^https:/);
    const ca = readFileSync(certificate ?? '', 'utf8');
    const status = (agent: Agent) =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${gateway.url}/readyz`, { agent, ca }, (answer) => resolve(answer.resume().statusCode)).once(
          'error',
          reject,
        );
      });
    expect(await status(new Agent({ keepAlive: false }))).toBe(200);
    const client = await connect(gateway.url + speech, { ca, key: deployment.key });
    await client.next(({ type }) => type === 'session.created');
    const pids = logged(gateway, 'a worker serves').map(({ pid }) => pid);
    gateway.kill();
    const expectExited = (pid: number | undefined) =>
      expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
    await vi.waitFor(() => expectExited(gateway.pid), within);
    client.send({ event_id: 'finish', type: 'session.finish' });
    expect((await client.closed).code).toBe(1000);
    const ends = async () => {
      for (const pid of pids) expectExited(pid);
      // They removed themselves.
      expect(await gatewayRows()).toEqual([]);
    };
    await vi.waitFor(ends, { timeout: 60_000, interval: 100 });
  });

  test('report once why they cannot start', async () => {
    const taken = await startUpstream(() => {});
    try {
      const port = new URL(taken.url).port;
      await expect(start({ PORT: port })).rejects.toThrow(
        /"code":1.*"stderr":"PORT: 127.0.0.1:\d+ is in use; stop the other program or set another PORT.\\n"/,
      );
    } finally {
      await taken.close();
    }
  });
});
