import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { createDeployment, type Deployment } from '../faults/deployment.ts';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { engines } from '../store/engines.ts';

const bootstrap = 'sk-bootstrap-of-the-workers';

describe.skipIf(!engines.includes('postgres'))('two workers in maintenance mode', () => {
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

  test('are released by one request', { timeout: 120_000 }, async () => {
    const environment = { WORKERS: '2', BOOTSTRAP_KEY: bootstrap, MAINTENANCE: 'true', LOG_LEVEL: 'warn' };
    gateway = await GatewayProcess.start({ ...deployment.options, environment });
    const { url, output } = gateway;
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const count = (message: string) => output.stderr.split(message).length - 1;
    expect(count('maintenance mode: no task')).toBe(2);
    const { admin } = new Unigate({ baseUrl: url, apiKey: bootstrap });
    expect(await admin.release()).toEqual({ released: true });
    await vi.waitFor(() => expect(count('maintenance mode has ended')).toBe(2));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
