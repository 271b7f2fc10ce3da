import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../server/sandbox/sandbox.ts';
import { multimodalPath, SandboxClient } from './sandbox-client.ts';

const client = new SandboxClient();
let folder: string;
let time: number;

const start = async (options: Partial<SandboxOptions> = {}) => {
  client.sandbox = await startSandbox({ key: 'k', folder, now: () => time, taskTime: 10, ...options });
};
const restart = async () => {
  await client.sandbox.close();
  await start();
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-restart-'));
  time = Date.UTC(2026, 0, 1);
  await start();
});
afterEach(async () => {
  await client.sandbox.close();
  await rm(folder, { recursive: true });
});

async function speak(): Promise<{ url: string; file: Buffer }> {
  const body = { model: 'alpha3-tts-flash', input: { text: 'Hello there.', voice: 'Aria' } };
  const { reply, file } = await client.speak(multimodalPath, body);
  return { url: reply.output.audio.url, file };
}

describe('a sandbox that starts again on its folder', () => {
  test('serves its files at the same address until they run out, and then has none', async () => {
    const { url, file } = await speak();
    time += 3_600_000;
    await restart();
    const again = await fetch(url);
    expect(again.status).toBe(200);
    expect(Buffer.from(await again.arrayBuffer()).equals(file)).toBe(true);
    time += 23 * 3_600_000;
    await restart();
    expect((await fetch(url)).status).toBe(403);
    expect(await readdir(join(folder, 'files'))).toEqual([]);
  });

  test('takes another port when the last one is taken, and keeps its state to itself', async () => {
    const { url } = await speak();
    await expect(startSandbox({ key: 'k', folder })).rejects.toMatchObject({ errcode: 5 });
    const { url: last } = client.sandbox;
    await client.sandbox.close();
    const other = createServer().listen(Number(new URL(last).port), '127.0.0.1');
    try {
      await start();
      expect(client.sandbox.url).not.toBe(last);
      expect((await fetch(url.replace(last, client.sandbox.url))).status).toBe(200);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });
});
