import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { startTestGateway } from '../support/gateway.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('amounts in a currency', () => {
  const target = useConsole(() => startTestGateway({ display: { quotaPerUnit: 500, currency: 'EUR' } }));
  const client = () => new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
  const locale = 'en-US';

  test('have the quota as a tooltip on every page', async () => {
    const { key } = await client().tokens.create({ name: 'limited', remain_quota: 1_000 });
    const limited = new Unigate({ baseUrl: target.gateway.url, apiKey: key });
    const audio = await limited.speech.create({
      model: 'alpha3-tts-flash',
      voice: 'Aria',
      input: 'Morning.',
    });
    await audio.bytes();

    const overview = await target.open('#/', { key, locale });
    await overview.getByText('€1.98').waitFor();
    expect(await overview.getByText('€1.98').getAttribute('title')).toBe('992 quota');

    const keys = await target.open('#/keys', { locale });
    await keys
      .getByRole('row', { name: /limited/ })
      .getByText('€1.98')
      .waitFor();
    await expectAccessible(keys);

    const activity = await target.open('#/activity', { locale });
    await activity.getByText('€0.016').first().click();
    const panel = activity.getByRole('region', { name: 'Cost' }).or(activity.locator('.charge'));
    await panel.getByText('€0.016').first().waitFor();
    expect(await activity.locator('.charge').innerText()).toMatch(/^8 characters × €0\.002 × 1 =\s+€0\.016$/);

    const users = await target.open('#/users', { locale });
    await users.getByRole('cell', { name: '€0.016', exact: true }).waitFor();

    const channels = await target.open('#/channels', { locale });
    await channels.getByRole('columnheader', { name: 'Price per unit' }).waitFor();
    expect(await channels.getByText('€0.002').first().getAttribute('title')).toBe('1 quota');
  });

  test('are charted in the currency', async () => {
    await client().embeddings.create({ model: 'theta-embedding-1', input: ['one'] });
    const page = await target.open('#/usage', { locale });
    await page.getByRole('img', { name: /^Quota per day by model/ }).waitFor();
    await page
      .locator('.usage-legend')
      .getByText(/^€0\.0/)
      .first()
      .waitFor();
    const row = page.getByRole('row', { name: /^alpha3-tts-flash/ });
    expect(await row.getByTitle('8 quota').innerText()).toBe('€0.016');
    await expectAccessible(page);
    await expectFits(page);
  });
});
