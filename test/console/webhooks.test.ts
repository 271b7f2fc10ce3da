import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { Receiver } from '../deliveries/receiver.ts';
import { hasChromium } from '../docs/chromium.ts';
import { startTestGateway } from '../support/gateway.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('webhooks', () => {
  const target = useConsole(() =>
    startTestGateway({ callbacks: { allowPrivate: true, secret: 'of the gateway' } }),
  );
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.close());
  const client = () => new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
  const createEndpoint = (path: string) =>
    client().me.endpoints.create({ url: receiver.url(path), events: ['quota.exhausted'] });

  test('adds an endpoint, shows its secret once, and shows the request of a test event', async () => {
    const page = await target.open('#/webhooks', { failures: [400] });
    await page.getByText('There is no endpoint yet.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add an endpoint' });
    const submit = dialog.getByRole('button', { name: 'Add endpoint' });
    await submit.click();
    await dialog.getByText('This field is required.').first().waitFor();
    expect(await dialog.getByText('This field is required.').count()).toBe(2);
    await dialog.getByLabel('URL').fill(receiver.url('/events'));
    await dialog.getByRole('checkbox', { name: 'quota.low' }).check();
    await expectAccessible(page);
    await submit.click();
    const alert = dialog.getByRole('alert');
    expect(await alert.innerText()).toContain('quota_threshold');
    await dialog.getByLabel('Threshold of quota.low').fill('10000');
    await dialog.getByRole('checkbox', { name: 'task.stuck' }).check();
    await submit.click();
    const created = page.getByRole('dialog', { name: 'Endpoint created' });
    const secret = await created.locator('.secret code').innerText();
    expect(secret).toMatch(/^whsec_/);
    await expectAccessible(page);
    await created.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: receiver.url('/events') }).waitFor();
    await page.getByText('10,000 quota').waitFor();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: 'Send test event' }).click();
    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    await deliveries.getByText('Delivered').waitFor();
    await deliveries.getByRole('button', { name: 'ping' }).click();
    const request = page.getByRole('region', { name: 'Request' });
    expect(await request.innerText()).toMatch(/^POST http[^]*webhook-signature: v1,[^]*"type": "ping"/);
    await expectAccessible(page);
    const before = receiver.seen.length;
    await page.getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => receiver.seen.length).toBe(before + 1);
    expect(new Set(receiver.seen.map(({ id }) => id)).size).toBe(1);
    await expectFits(page);
  });

  test('shows the status of a receiver that refuses an event', async () => {
    receiver.answer = 503;
    const { id } = await createEndpoint('/refused');
    await client().me.endpoints.test(id);
    const page = await target.open(`#/webhooks?endpoint=${id}`);
    await page.getByText('Retrying').waitFor();
    await page.getByRole('button', { name: 'ping' }).click();
    await page.getByText('Failed attempts').waitFor();
    expect(await page.getByText('Status 503').count()).toBe(2);
    receiver.answer = 200;
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Delivered').waitFor();
  });

  test('changes, disables and deletes an endpoint, and replaces its secret', async () => {
    const { id, secret } = await createEndpoint('/changed');
    const page = await target.open(`#/webhooks?endpoint=${id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the endpoint' });
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Description').fill('Accounting');
    await dialog.getByRole('checkbox', { name: 'budget.reached' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Accounting').waitFor();
    expect(await client().me.endpoints.retrieve(id)).toMatchObject({
      url: receiver.url('/changed'),
      events: ['quota.exhausted', 'budget.reached'],
    });

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    const rotate = page.getByRole('dialog', { name: 'Rotate the secret' });
    await rotate.getByLabel('The old secret expires').selectOption('In 1 hour');
    await expectAccessible(page);
    await rotate.getByRole('button', { name: 'Rotate secret' }).click();
    const rotated = page.getByRole('dialog', { name: 'Secret rotated' });
    expect(await rotated.locator('.secret code').innerText()).not.toBe(secret);
    await rotated.getByRole('button', { name: 'Done' }).click();
    await page.getByText('also signs until').waitFor();

    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Send test event' }).isDisabled()).toBe(true);

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    expect(await page.getByText(receiver.url('/changed')).count()).toBe(0);
  });

  test('lets an operator add an endpoint for the events of all users and channels', async () => {
    const page = await target.open('#/webhooks');
    await page.getByRole('tab', { name: 'Operator endpoints' }).click();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url('/operator'));
    await dialog.getByRole('checkbox', { name: 'channel.unhealthy' }).check();
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: receiver.url('/operator') }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: receiver.url('/operator') }).waitFor();
    expect((await client().admin.endpoints.list()).items).toMatchObject([{ events: ['channel.unhealthy'] }]);
  });

  test('reports an unknown endpoint with the request id', async () => {
    const page = await target.open('#/webhooks?endpoint=404', { failures: [404] });
    expect(await page.getByRole('alert').innerText()).toMatch(
      /no such callback endpoint[^]*req_[0-9a-f]{32}/,
    );
  });

  test('is hidden from keys that see only themselves', async () => {
    const { key } = await client().tokens.create({ name: 'limited', remain_quota: 1_000 });
    const page = await target.open('#/webhooks', { key });
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });
});
