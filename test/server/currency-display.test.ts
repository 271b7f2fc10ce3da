import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { runCommand } from '../client/terminal.ts';
import { type ConfiguredGateway, startConfigured } from '../reload/configured-gateway.ts';
import { newToken, newUser } from '../support/operator.ts';

const euro = { quota_per_unit: 500_000, currency: 'EUR' };
const yen = { quota_per_unit: 4_000, currency: 'JPY' };
const configuration = (display?: object, ofGroup?: object) => ({
  sandbox: true,
  prices: { '*': 1 },
  groups: { default: { models: ['*'] }, tokyo: { models: ['*'], ...(ofGroup && { display: ofGroup }) } },
  ...(display && { display }),
});

let target: ConfiguredGateway;
beforeAll(async () => {
  target = await startConfigured(configuration());
});
afterAll(() => target.close());

const apply = async (...displays: Parameters<typeof configuration>) => {
  await target.write(configuration(...displays));
  return await target.gateway.liveSettings.reload();
};
const displayFor = async (apiKey: string) => {
  const { display } = await new Unigate({ baseUrl: target.url, apiKey }).me.retrieve();
  return display;
};
const keyOf = async (userGroup: string, keyGroup?: string) => {
  const user = await newUser(target, { name: 'Ada', group: userGroup });
  const limits: Record<string, string> = keyGroup === undefined ? {} : { group: keyGroup };
  return (await newToken(target, user.id, { name: 'ada', unlimited_quota: true, ...limits })).key;
};

describe('GET /api/me', () => {
  test('has no currency by default', async () => {
    await apply();
    expect(await displayFor(target.key)).toBeNull();
    expect(await displayFor(await keyOf('default'))).toBeNull();
  });

  test('has the currency of the group of the user, or else that of the configuration', async () => {
    await apply(euro, yen);
    expect(await displayFor(await keyOf('default'))).toEqual(euro);
    expect(await displayFor(await keyOf('tokyo'))).toEqual(yen);
    expect(await displayFor(await keyOf('default', 'tokyo'))).toEqual(euro);
    await apply(undefined, yen);
    expect(await displayFor(await keyOf('default'))).toBeNull();
    expect(await displayFor(await keyOf('tokyo'))).toEqual(yen);
  });

  test('has the currency of a group that is no longer configured from the configuration', async () => {
    await apply(euro, yen);
    const key = await keyOf('tokyo');
    await target.write({
      ...configuration(euro),
      groups: { default: { models: ['*'] } },
    });
    await target.gateway.liveSettings.reload();
    expect(await displayFor(key)).toEqual(euro);
  });

  test('has the new currency after a reload, which names the change', async () => {
    await apply(euro, yen);
    const key = await keyOf('default');
    const changes = await apply({ ...euro, currency: 'USD' }, euro);
    expect(changes).toMatchObject({
      settings: ['display'],
      groups: { changed: ['tokyo'] },
      needsRestart: [],
    });
    expect(await displayFor(key)).toEqual({ ...euro, currency: 'USD' });
  });
});

describe('the command line', () => {
  const run = async (...args: string[]) => {
    const env = { UNIGATE_BASE_URL: target.url, UNIGATE_API_KEY: target.key };
    const { code, stdout, stderr } = await runCommand(args, { env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout.toString();
  };

  test('shows amounts in the currency, and numbers of quota as JSON', async () => {
    await apply(euro);
    const user = String((await newUser(target, { name: 'Wanda' })).id);
    const grant = ['admin', 'wallets', 'grant', user, '--amount', '750000', '--reason', 'March'];
    expect(await run(...grant)).toMatch(/\namount +€1\.50\n.*\ndebt_settled +€0\.00\nbalance +€1\.50\n/s);
    expect(await run('admin', 'wallets', 'show', user)).toMatch(/\nbalance +€1\.50\n/);
    expect(JSON.parse(await run('admin', 'wallets', 'show', user, '--json'))).toMatchObject({
      balance: 750_000,
    });
    expect(await run('admin', 'users', 'list', '--name', 'Wanda')).toMatch(/ €1\.50 +€0\.00 /);
    await apply();
    expect(await run('admin', 'wallets', 'show', user)).toMatch(/\nbalance +750000\n/);
  });

  test('shows charges, figures and statements in the currency', async () => {
    await apply(euro);
    const client = new Unigate({ baseUrl: target.url, apiKey: target.key });
    const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' } as const;
    await (await client.speech.create(speech)).bytes();
    await expect
      .poll(() => run('admin', 'logs', 'search', '--model', speech.model))
      .toMatch(/ 13 +0 +€0\.000026 /);
    expect(await run('logs', 'tail', '--no-follow', '--lines', '1')).toMatch(/ {2}€0\.000026$/m);
    await expect.poll(() => run('admin', 'figures', '--by', 'model')).toMatch(/ €0\.000026 +€0\.00 /);
    const month = new Date().toISOString().slice(0, 7);
    expect(await run('statement', month)).toMatch(/^closing +€0\.00 +€0\.00$/m);
  });
});
