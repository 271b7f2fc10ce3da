import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDeployment, type Deployment } from '../faults/deployment.ts';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { engines } from '../store/engines.ts';

const bootstrap = 'sk-bootstrap-of-the-workers';

describe.skipIf(!engines.includes('postgres'))('two workers', () => {
  let deployment: Deployment;
  let gateway: GatewayProcess | undefined;
  beforeAll(async () => {
    deployment = await createDeployment('postgres');
  });
  afterAll(async () => {
    gateway?.kill();
    await gateway?.ended;
    await deployment.remove();
  });

  test('have one conformance run together', { timeout: 120_000 }, async () => {
    const environment = { WORKERS: '2', BOOTSTRAP_KEY: bootstrap, LOG_LEVEL: 'warn' };
    gateway = await GatewayProcess.start({ ...deployment.options, environment });
    const { url } = gateway;
    // Each request opens a connection, which any of the workers can accept.
    const start = (body: object, signal?: AbortSignal) =>
      fetch(`${url}/api/admin/conformance-runs`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bootstrap}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        body: JSON.stringify(body),
        ...(signal !== undefined && { signal }),
      });
    const controller = new AbortController();
    const first = await start({ only: ['music'], triggers: 'off' }, controller.signal);
    expect(first.status).toBe(200);
    const short = { only: ['getHealth'], runs: 0, triggers: 'off' };
    const others = await Promise.all(Array.from({ length: 12 }, () => start(short)));
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([429]));
    controller.abort();
    await vi.waitFor(
      async () => {
        const response = await start(short);
        expect(response.status).toBe(200);
        expect(await response.text()).toContain('event: run_finished');
      },
      { timeout: 60_000, interval: 500 },
    );
  });
});
