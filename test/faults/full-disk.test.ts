import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ledgerRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { Cluster, serverPrograms } from '../store/cluster.ts';
import { type Engine, engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

/** Mounts a disk of a size in megabytes and returns its folder. Undefined if the process may not mount. */
function mountDisk(sizeMb: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'unigate-disk-'));
  try {
    const options = `size=${sizeMb}m,mode=755`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmdirSync(folder);
    return undefined;
  }
}

/** Disk sizes in megabytes: for the SQLite files, and for a PostgreSQL cluster with one WAL segment. */
const sizes = { sqlite: 8, postgres: 128 };
const disks = new Map(
  engines
    .filter((engine) => engine === 'sqlite' || serverPrograms !== undefined)
    .flatMap((engine) => {
      const disk = mountDisk(sizes[engine]);
      return disk === undefined ? [] : [[engine, disk] as const];
    }),
);
const speech = '/api/v1/services/audio/tts/SpeechSynthesizer';
const sentence = { model: 'voxa-v3-flash', input: { text: 'Nine char', voice: 'v1' } };
const speechResult = {
  request_id: 'r',
  output: {
    finish_reason: 'stop',
    audio: { data: '', url: 'https://files.example/a.mp3', id: 'a', expires_at: 1 },
  },
  usage: { characters: 9 },
};
const quota = 100_000;

for (const engine of engines) {
  const disk = disks.get(engine);
  describe.skipIf(disk === undefined)('a gateway with a full disk', () => {
    fullDisk(engine, disk ?? '');
  });
}

function fullDisk(engine: Engine, disk: string): void {
  let cluster: Cluster | undefined;
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let beforeResponse: () => void = () => {};

  const fill = () => {
    for (const [index, size] of [1 << 20, 1 << 14, 1 << 12].entries()) {
      for (let part = 0; ; part += 1) {
        try {
          writeFileSync(join(disk, `filler-${index}-${part}`), Buffer.alloc(size));
        } catch {
          break;
        }
      }
    }
  };
  const free = () => execFileSync('find', [disk, '-maxdepth', '1', '-name', 'filler-*', '-delete']);
  const ready = async () => (await fetch(`${target.url}/readyz`)).status;

  beforeAll(async () => {
    upstream = await startUpstream((_request, response: ServerResponse) => {
      beforeResponse();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(speechResult));
    });
    cluster = engine === 'postgres' ? await Cluster.start(disk) : undefined;
    const stored = cluster === undefined ? { dataDir: disk } : { databaseUrl: cluster.url };
    target = await startTestGateway({ ...stored, sandbox: false, channels: [channelTo(upstream.url)] });
  });
  afterEach(() => {
    beforeResponse = () => {};
    free();
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await cluster?.remove();
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });

  test(`answers 503 and is not ready until there is space again, on ${engine}`, async () => {
    const { key, id } = await makeKey(target, { quota });
    fill();
    // The allocated files may have space for some calls. Every other call gets a 503 or waits until it is settled.
    const calls: Promise<Response>[] = [];
    let refused: Response | undefined;
    await vi.waitFor(() => {
      const call = post(target.url, key, speech, sentence);
      calls.push(call);
      void call.then((reply) => {
        if (reply.status === 503) refused = reply;
      });
      expect(refused).toBeDefined();
    });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(await refused?.clone().json()).toMatchObject({ error: { code: 'store_unavailable' } });
    await vi.waitFor(async () => expect(await ready()).toBe(503));
    expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
    free();
    await vi.waitFor(async () => expect(await ready()).toBe(200));
    expect((await post(target.url, key, speech, sentence)).status).toBe(200);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const paid = 1 + statuses.filter((status) => status === 200).length;
    expect(await remainingQuota(target, id)).toBe(quota - 9 * paid);
  });

  // PostgreSQL has space for one more call.
  if (engine === 'postgres') return;
  // Not `on sqlite`: the tally expects such a test on both engines.
  test('ends a response after it is settled, once', async () => {
    const { key, id } = await makeKey(target, { quota });
    beforeResponse = fill;
    let isDone = false;
    const response = post(target.url, key, speech, sentence).finally(() => {
      isDone = true;
    });
    await vi.waitFor(async () => expect(await ready()).toBe(503));
    expect(isDone).toBe(false);
    free();
    expect((await response).status).toBe(200);
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 9 });
    expect(await remainingQuota(target, id)).toBe(quota - 9);
  });
}
