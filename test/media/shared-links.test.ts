import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Settings } from '../../server/settings/settings.ts';
import { databaseUrl, engines, onServer } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

let provider: RecordingUpstream;
beforeAll(async () => {
  provider = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' }).end('clip');
  });
});
afterAll(() => provider.close());

describe.each(engines)('links on %s', (engine) => {
  let stored: Partial<Settings>;
  let remove: () => Promise<unknown>;
  beforeAll(async () => {
    if (engine === 'sqlite') {
      const dataDir = await mkdtemp(join(tmpdir(), 'unigate-'));
      stored = { dataDir };
      remove = () => rm(dataDir, { recursive: true, force: true });
      return;
    }
    const schema = `test_${randomUUID().replaceAll('-', '')}`;
    const url = new URL(databaseUrl);
    url.searchParams.set('options', `-csearch_path=${schema}`);
    await onServer((client) => client.query(`create schema ${schema}`));
    stored = { databaseUrl: url.href };
    remove = () => onServer((client) => client.query(`drop schema ${schema} cascade`));
  });
  afterAll(() => remove());

  const start = () =>
    startTestGateway({
      sandbox: false,
      channels: [channelTo(provider.url, { relayMedia: true })],
      ...stored,
    });
  const linkOf = ({ gateway }: TestGateway, baseUrl: string) =>
    gateway.files.linksFor(baseUrl).publicUrl(`${provider.url}/a.mp4`, {
      channel: 'recording',
      userId: 1,
      expiresAt: Date.now() + 60_000,
    });
  const load = async (link: string) => {
    const response = await fetch(link);
    return [response.status, await response.text()];
  };

  test('outlive a restart', async () => {
    const before = await start();
    const link = linkOf(before, '');
    expect(await load(before.url + link)).toEqual([200, 'clip']);
    await before.close();
    const after = await start();
    expect(await load(after.url + link)).toEqual([200, 'clip']);
    await after.close();
  });

  const nodesShareDatabase = async () => {
    const nodes = await Promise.all([start(), start(), start()]);
    const links = nodes.map((node) => linkOf(node, ''));
    for (const node of nodes)
      for (const link of links) expect(await load(node.url + link)).toEqual([200, 'clip']);
    await Promise.all(nodes.map((node) => node.close()));
  };
  if (engine === 'postgres') test('are served by every gateway that shares the database', nodesShareDatabase);

  test('have one secret when it is created concurrently', async () => {
    const { gateway, close } = await start();
    const secrets = await Promise.all(
      Array.from({ length: 20 }, () =>
        gateway.store.run('ensureSecret', { name: 'test', value: randomBytes(32).toString('base64url') }),
      ),
    );
    expect(new Set(secrets).size).toBe(1);
    const other = await gateway.store.run('ensureSecret', { name: 'other', value: 'another' });
    expect(other).toBe('another');
    await close();
  });
});
