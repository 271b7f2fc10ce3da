import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ledgerRows, makeKey, post, remainingQuota } from '../server/books.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

/** Makes a disk of a few megabytes and gives where; undefined where that is not allowed. */
function mountDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'unigate-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmdirSync(folder);
    return undefined;
  }
}

const disk = mountDisk();
const speech = '/api/v1/services/audio/tts/SpeechSynthesizer';
const sentence = { model: 'voxa-v3-flash', input: { text: 'Nine char', voice: 'v1' } };
const spoken = {
  request_id: 'r',
  output: {
    finish_reason: 'stop',
    audio: { data: '', url: 'https://files.example/a.mp3', id: 'a', expires_at: 1 },
  },
  usage: { characters: 9 },
};
const quota = 1_000;

describe.skipIf(disk === undefined)('a gateway whose disk is full', () => {
  const dataDir = disk ?? '';
  let upstream: RecordingUpstream;
  let target: TestGateway;
  let meanwhile: () => void = () => {};

  const fill = () => {
    for (const [index, size] of [1 << 20, 1 << 14, 1 << 12].entries()) {
      for (let part = 0; ; part += 1) {
        try {
          writeFileSync(join(dataDir, `filler-${index}-${part}`), Buffer.alloc(size));
        } catch {
          break;
        }
      }
    }
  };
  const free = () => execFileSync('find', [dataDir, '-name', 'filler-*', '-delete']);
  const ready = async () => (await fetch(`${target.url}/readyz`)).status;

  beforeAll(async () => {
    upstream = await startUpstream((_request, response: ServerResponse) => {
      meanwhile();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(spoken));
    });
    target = await startTestGateway({ dataDir, sandbox: false, channels: [channelTo(upstream.url)] });
  });
  afterEach(() => {
    meanwhile = () => {};
    free();
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    execFileSync('umount', [dataDir]);
    rmSync(dataDir, { recursive: true });
  });

  test('answers 503 and is not ready, and goes on when there is room again', async () => {
    const { key, id } = await makeKey(target, { quota });
    fill();
    await vi.waitFor(async () => expect(await ready()).toBe(503));
    const refused = await post(target.url, key, speech, sentence);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
    free();
    await vi.waitFor(async () => expect(await ready()).toBe(200));
    expect((await post(target.url, key, speech, sentence)).status).toBe(200);
    expect(await remainingQuota(target, id)).toBe(quota - 9);
  });

  test('tells the end of what it spoke when it is paid, once', async () => {
    const { key, id } = await makeKey(target, { quota });
    meanwhile = fill;
    let told = false;
    const answered = post(target.url, key, speech, sentence).finally(() => {
      told = true;
    });
    await vi.waitFor(async () => expect(await ready()).toBe(503));
    expect(told).toBe(false);
    free();
    expect((await answered).status).toBe(200);
    expect((await ledgerRows(target)).at(-1)).toMatchObject({ state: 'settled', charged: 9 });
    expect(await remainingQuota(target, id)).toBe(quota - 9);
  });
});
