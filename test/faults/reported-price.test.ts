import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { post } from '../server/ledger.ts';
import { engines } from '../store/engines.ts';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { createDeployment, type Deployment } from './deployment.ts';
import { GatewayProcess } from './gateway-process.ts';

const model = 'gamma3.0-video';
const path = '/api/v1/services/aigc/video-generation/video-synthesis';
const body = {
  model,
  input: { prompt: 'A cat' },
  parameters: { duration: 6, resolution: '720P', ratio: '16:9' },
};

describe.each(engines)('a gateway on %s', (engine) => {
  let deployment: Deployment;
  let upstream: RecordingUpstream;
  let isDone = false;

  beforeAll(async () => {
    upstream = await startUpstream(({ method }, response) => {
      const done = { task_status: 'SUCCEEDED', video_url: 'https://files.example/cat.mp4' };
      const output = method === 'POST' || !isDone ? { task_id: 'upstream', task_status: 'RUNNING' } : done;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ output, usage: { SR: 1080, ratio: '16:9', output_video_duration: 6 } }));
    });
    deployment = await createDeployment(engine);
  });
  afterAll(async () => {
    await deployment.remove();
    await upstream.close();
  });

  /** Writes the configuration, with a price for 1080p and one for all other videos. */
  const configure = (high: number, other: number) => {
    const prices = {
      [model]: [{ when: { resolution: '1080p' }, per: { seconds: high } }, { per: { seconds: other } }],
    };
    const channels = [
      {
        name: 'native',
        protocol: 'native',
        base_url: upstream.url,
        key: 'k',
        models: [model],
        private_files: true,
      },
    ];
    return writeFile(deployment.options.config, JSON.stringify({ sandbox: false, prices, channels }));
  };

  test('settles a task of a killed one by the report and the stored rules', {
    timeout: 120_000,
  }, async () => {
    await configure(9, 4);
    const child = await GatewayProcess.start(deployment.options);
    const created = await post(child.url, deployment.key, path, body);
    const { output } = (await created.json()) as { output: { task_id: string } };
    expect(created.status).toBe(200);
    await vi.waitFor(() => expect(upstream.seen.some(({ method }) => method === 'GET')).toBe(true), {
      timeout: 30_000,
    });
    child.kill();
    await child.waitForKill();

    await configure(1_000, 2_000);
    await deployment.releaseOrphans();
    isDone = true;
    const other = await deployment.serve();
    const readTask = async () => {
      const response = await fetch(`${other.url}/api/me/tasks/${output.task_id}`, {
        headers: { authorization: `Bearer ${deployment.key}` },
      });
      return ((await response.json()) as { data: object }).data;
    };
    await vi.waitFor(async () => expect(await readTask()).toMatchObject({ state: 'completed' }), {
      timeout: 60_000,
      interval: 200,
    });
    expect(await readTask()).toMatchObject({
      reserved: 24,
      charged: 54,
      price_rule: { when: { resolution: '1080p' }, per: { seconds: 9 } },
      charge: { calculated: 54, price_rule: { number: 1, reported: { resolution: '1080P' } } },
    });
    await other.close(1_000);
  });
});
