import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDeployment, type Deployment } from '../faults/deployment.ts';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { engines } from '../store/engines.ts';
import { freePort } from '../support/free-port.ts';
import { scrape } from '../telemetry/scrape.ts';

const preload = fileURLToPath(new URL('./faulty-worker.ts', import.meta.url));
const bootstrap = 'sk-bootstrap-of-the-hung-workers';
const within = { timeout: 60_000, interval: 50 };

interface Line {
  msg: string;
  worker?: number;
  pid?: number;
  request_id?: string;
  ended?: string;
}

describe.skipIf(!engines.includes('postgres'))('two workers', { timeout: 240_000 }, () => {
  let deployment: Deployment;
  let gateway: GatewayProcess;
  let operatorUrl: string;
  let client: Client;
  beforeAll(async () => {
    deployment = await createDeployment('postgres');
  });
  afterEach(async () => {
    await client.destroy();
    gateway.kill();
    await gateway.ended;
  });
  afterAll(() => deployment?.remove());

  async function start(environment: Record<string, string> = {}): Promise<void> {
    const port = await freePort();
    operatorUrl = `http://127.0.0.1:${port}`;
    const common = { WORKERS: '2', LOG_LEVEL: 'debug', BOOTSTRAP_KEY: bootstrap, METRICS_PORT: String(port) };
    gateway = await GatewayProcess.start({
      ...deployment.options,
      preload,
      environment: { ...common, ...environment },
    });
    client = new Client(gateway.url);
  }

  const logged = (message: string): Line[] =>
    gateway.output.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === message);
  const hasLogged = (message: string, count = 1) =>
    vi.waitFor(() => expect(logged(message)).toHaveLength(count), within);

  /** Sends a request on the connection of the client, so always to the same worker. */
  async function send(path: string, method: 'GET' | 'POST' = 'GET') {
    const headers = { authorization: `Bearer ${bootstrap}` };
    const { statusCode, headers: answered, body } = await client.request({ path, method, headers });
    await body.dump();
    return { status: statusCode, requestId: String(answered['x-request-id']) };
  }

  /** Returns the process ids of the worker that the client is connected to and of the other one. */
  async function pids(): Promise<{ connected: number; other: number }> {
    const { requestId } = await send('/v1/models');
    const isAnswer = ({ request_id }: Line) => request_id === requestId;
    await vi.waitFor(() => expect(logged('request completed').some(isAnswer)).toBe(true), within);
    const connected = logged('request completed').find(isAnswer)?.worker;
    const serving = logged('a worker serves');
    const pidOf = (isWanted: (line: Line) => boolean) => serving.findLast(isWanted)?.pid ?? Number.NaN;
    return {
      connected: pidOf(({ worker }) => worker === connected),
      other: pidOf(({ worker }) => worker !== connected),
    };
  }

  /** Returns the statuses of `/readyz` on both ports until a message is logged. */
  async function readinessUntil(message: string): Promise<Set<number>> {
    const statuses = new Set<number>();
    await vi.waitFor(async () => {
      statuses.add((await send('/readyz')).status);
      statuses.add((await fetch(`${operatorUrl}/readyz`)).status);
      expect(logged(message)).not.toEqual([]);
    }, within);
    return statuses;
  }

  test.each([
    ['is stopped', 'SIGSTOP'],
    ['blocks its event loop', 'SIGUSR2'],
  ] as const)('stay ready while one that %s is replaced', async (_, signal) => {
    await start();
    const { other } = await pids();
    process.kill(other, signal);
    expect(await readinessUntil('a worker was replaced')).toEqual(new Set([200]));
    expect(logged('a worker does not respond and is killed')).toMatchObject([{ pid: other }]);
    expect(logged('a worker ended')).toMatchObject([{ pid: other, ended: 'SIGKILL' }]);
  });

  test('complete a reload during which one hangs and is replaced', async () => {
    await start();
    const { other } = await pids();
    process.kill(other, 'SIGSTOP');
    expect((await send('/api/admin/reload', 'POST')).status).toBe(200);
    await hasLogged('a worker ended');
    expect(logged('a worker ended')).toMatchObject([{ pid: other }]);
  });

  test('report counters that do not decrease after one is killed', async () => {
    await start();
    const counted = async () =>
      (await scrape(operatorUrl)).sum('http_server_request_duration_seconds_count', {
        unigate_operation: 'listModels',
      });
    const { connected } = await pids();
    for (let calls = 0; calls < 9; calls += 1) await send('/v1/models');
    expect(await counted()).toBe(10);
    process.kill(connected, 'SIGKILL');
    await hasLogged('a worker ended');
    expect(await counted()).toBe(10);
    await hasLogged('a worker was replaced');
    expect(await counted()).toBe(10);
  });

  test('start even if one is killed while it starts', async () => {
    await start({ KILL_ONE_AT_START: join(deployment.options.dataDir, 'killed') });
    await hasLogged('a worker ended');
    expect(logged('a worker ended')).toMatchObject([{ ended: 'SIGKILL' }]);
    await hasLogged('a worker was replaced');
    await hasLogged('a worker serves', 2);
    expect((await send('/readyz')).status).toBe(200);
  });
});
