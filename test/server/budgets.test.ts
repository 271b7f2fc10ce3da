import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PermissionDeniedError, Unigate } from '../../client/index.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { makeKey, setKeyLimited } from './ledger.ts';

describe.each(engines)('a hard budget on %s', (engine) => {
  let target: TestGateway;
  let admin: Unigate;
  beforeAll(async () => {
    target = await startTestGateway({}, engine);
    admin = new Unigate({ baseUrl: target.url, apiKey: target.key, maxRetries: 0 });
  });
  afterAll(() => target.close());

  test('refuses calls and tasks of a key without a limit of quota, and names the end of the period', async () => {
    const key = await makeKey(target, { quota: 0 });
    await setKeyLimited(target, key, false);
    const client = new Unigate({ baseUrl: target.url, apiKey: key.key, maxRetries: 0 });
    const speak = () => client.speech.create({ model: 'voxa-v2', voice: 'voxanna', input: 'Hi there.' });
    const first = await speak();
    expect(first).toBeDefined();
    const budget = await admin.admin.budgets.create({
      token_id: key.id,
      amount: 0,
      period: 'daily',
      hard: true,
    });
    const end = new Date(budget.period_end * 1_000).toISOString();
    const refusal = await speak().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PermissionDeniedError);
    expect(refusal).toMatchObject({
      code: 'insufficient_user_quota',
      message: expect.stringContaining(`the daily budget of the key has 0 of 0 left until ${end}`),
    });
    await expect(client.videos.create({ model: 'gamma3.0-video', prompt: 'A kite.' })).rejects.toMatchObject({
      message: expect.stringContaining('the daily budget of the key'),
    });
    expect((await client.me.budgets()).items).toMatchObject([{ id: budget.id, spent: 0, reserved: 0 }]);
    await admin.admin.budgets.update(budget.id, { amount: 1_000_000 });
    await speak();
    await vi.waitFor(async () => {
      const [spent] = (await client.me.budgets()).items;
      expect(spent?.spent).toBeGreaterThan(0);
      expect(spent?.reserved).toBe(0);
    });
    await admin.admin.budgets.delete(budget.id);
    await speak();
    expect((await client.me.budgets()).items).toEqual([]);
  });
});
