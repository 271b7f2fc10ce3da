import { expect, test } from 'vitest';
import { ensureKey } from '../../server/keys/bootstrap-key.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';

let store: Store;
eachTestOnOneStore('sqlite', (made) => {
  store = made.store;
});

async function start(bootstrapKey?: string) {
  const lines: { msg: string; keys?: unknown }[] = [];
  const logger = createLogger('warn', [], { write: (line) => void lines.push(JSON.parse(line)) });
  const generated = await ensureKey({ bootstrapKey }, store, logger, 1_000);
  return { generated, warnings: lines };
}

test('each start warns of earlier bootstrap keys, with their ids and the command that deletes them', async () => {
  expect(await start('first-key-1')).toEqual({ generated: undefined, warnings: [] });
  for (const key of ['second-key', 'second-key', undefined]) {
    const { warnings } = await start(key);
    expect(warnings).toMatchObject([{ keys: [{ id: 1, name: 'bootstrap' }] }]);
    expect(warnings[0]?.msg).toContain('npm run admin -- keys revoke 1');
    expect(JSON.stringify(warnings)).not.toContain('first-key-1');
  }
});

test('a generated key counts as an earlier one when BOOTSTRAP_KEY is set', async () => {
  const { generated } = await start();
  expect(generated).toMatch(/^sk-/);
  expect((await start()).warnings).toEqual([]);
  expect((await start('given-key')).warnings).toMatchObject([{ keys: [{ id: 1, name: 'bootstrap' }] }]);
});

test('a BOOTSTRAP_KEY without admin access is reported', async () => {
  await start('first-key-1');
  const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
  await store.run('updateToken', { id: 1, set: { unlimitedQuota: false, adminScope: false }, change });
  const { warnings } = await start('first-key-1');
  expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringContaining('no admin access')]);
});
