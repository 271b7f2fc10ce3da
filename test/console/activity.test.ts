import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { startTestGateway } from '../support/gateway.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

const film = { model: 'gamma3.0-video', prompt: 'A kite.', seconds: '2' } as const;

describe.skipIf(!hasChromium)('activity', () => {
  const target = useConsole(() => startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } }));
  const client = () => new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
  const embed = (input: string) => client().embeddings.create({ model: 'theta-embedding-1', input });

  test('shows a new call, and its cost as arithmetic', async () => {
    const page = await target.open('#/activity');
    await page.getByText('Nothing yet.').waitFor();
    const { requestId } = await client().speech.create({
      model: 'alpha3-tts-flash',
      voice: 'Aria',
      input: 'Good morning.',
    });
    await page.getByRole('row').filter({ hasText: requestId }).click();
    expect(page.url()).toContain(`request=${requestId}`);
    await page.getByText('13 characters × 1 × 1 =').waitFor();
    await page.getByText('createSpeech').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('complementary', { name: 'Call' }).waitFor({ state: 'detached' });
  });

  test('opens a task with its timeline, its film and its cost at a shared address', async () => {
    const { id } = await client().videos.createAndWait(film, { pollIntervalMs: 100 });
    const page = await target.open(`#/activity?task=${id}`);
    await page.getByText('2 seconds × 1 × 1 =').waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'Submitted to the provider' }).count()).toBe(1);
    expect(await page.getByRole('listitem').filter({ hasText: 'Completed' }).count()).toBe(1);
    await page.locator('video').waitFor();
    await page.evaluate('document.querySelector("video").play()');
    await expect
      .poll(() => page.evaluate('document.querySelector("video").currentTime'))
      .toBeGreaterThan(0.1);
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByText('"seconds": "2"').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });

  test('keeps the visible rows in place while new calls arrive, and loads older ones', async () => {
    await Promise.all(Array.from({ length: 130 }, (_, index) => embed(`old ${index}`)));
    const page = await target.open('#/activity?view=calls');
    const table = page.getByRole('grid', { name: 'Calls and tasks' });
    const rowCount = async () => Number(await table.getAttribute('aria-rowcount'));
    await expect.poll(rowCount).toBe(101);
    await table.evaluate((element) => element.scrollTo(0, 52 * 95));
    await expect.poll(rowCount).toBeGreaterThan(130);
    expect(await page.getByRole('row').count()).toBeLessThan(50);

    await table.evaluate((element) => element.scrollTo(0, 52 * 40));
    await expect.poll(() => firstVisible(page)).toContain('theta');
    const before = await firstVisible(page);
    const count = await rowCount();
    await Promise.all(['new 1', 'new 2', 'new 3'].map(embed));
    await expect.poll(rowCount).toBe(count + 3);
    expect(await firstVisible(page)).toBe(before);
  });

  test('starts again when more calls arrive than a page holds', async () => {
    await embed('before');
    const page = await target.open('#/activity?view=calls');
    const table = page.getByRole('grid', { name: 'Calls and tasks' });
    const rowCount = async () => Number(await table.getAttribute('aria-rowcount'));
    await expect.poll(rowCount).toBeGreaterThan(1);
    const { promise: created, resolve } = Promise.withResolvers<void>();
    await page.route('**/api/log/search*', async (route) => {
      await created;
      await route.continue();
    });
    await Promise.all(Array.from({ length: 105 }, (_, index) => embed(`burst ${index}`)));
    const { request_id: newest } = (await client().logs.search({ page_size: 1 })).items[0] ?? {};
    resolve();
    await page.getByRole('row').filter({ hasText: newest }).waitFor();
    const { total } = await client().logs.search({ model: 'theta-embedding-1' });
    await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect.poll(rowCount).toBeGreaterThanOrEqual(Math.min(total, 200));
  });

  test('moves between rows with arrow keys', async () => {
    await Promise.all(['a', 'b', 'c'].map(embed));
    const page = await target.open('#/activity?view=calls');
    await page.getByRole('row').nth(1).click();
    const selected = page.getByRole('row', { selected: true });
    const first = await selected.innerText();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => selected.innerText()).not.toBe(first);
    await page.keyboard.press('Home');
    await expect.poll(() => selected.innerText()).toBe(first);
  });

  test('shows the start and the duration of a task, and one unit in the singular', async () => {
    const { id } = await client().imageJobs.createAndWait({ prompt: 'A pier.' }, { pollIntervalMs: 100 });
    const page = await target.open(`#/activity?task=${id}`);
    await page.getByText('1 action × 1 × 1 =').waitFor();
    await page.getByText('Made by the sandbox').waitFor();
    await page.getByRole('button', { name: 'Close (Escape)' }).click();
    await page.getByRole('columnheader', { name: 'Started' }).waitFor();
    await expect
      .poll(() => page.getByRole('row').filter({ hasText: id }).innerText())
      .toMatch(/\d (?:ms|s)$/);
  });

  test('explains that refused calls are not logged, and shows an error that the tab has received', async () => {
    const page = await target.open('#/activity');
    // The browser itself logs the status 404.
    page.removeAllListeners('console');
    const refused = await fetch(`${target.gateway.url}/v1/embeddings`, { method: 'POST' });
    const unseen = refused.headers.get('x-request-id') ?? '';
    await page.getByRole('searchbox').fill(unseen);
    await page.getByText('The request log has no entry with this id.').waitFor();
    await page.getByText('It does not contain calls that the gateway refused').waitFor();
    expect(await page.getByRole('link', { name: /All errors/ }).getAttribute('href')).toMatch(
      /\/docs\/errors$/,
    );
    await expectAccessible(page);

    await page.goto(`${target.gateway.url}/console#/music`);
    await page.getByText('Continue a song').click();
    await page.getByLabel('Clip id').fill('nope');
    const response = page.waitForResponse(/sigma\/submit\/music/);
    await page.getByRole('button', { name: 'Create songs' }).click();
    const seen = (await (await response).headerValue('x-request-id')) ?? '';
    await page.getByText('there is no song "nope" here.').waitFor();
    await page.goto(`${target.gateway.url}/console#/activity?request=${seen}`);
    await page.reload();
    const panel = page.getByRole('complementary', { name: 'Call' });
    await panel.getByText('continue_clip_id: there is no song "nope" here.').waitFor();
    await panel.getByText('404', { exact: true }).waitFor();
    await panel.getByText('The gateway refused this call').waitFor();
  });

  test('filters by model, and finds nothing for an unused one', async () => {
    await embed('one');
    const page = await target.open('#/activity?view=calls');
    await page.getByLabel('Model', { exact: true }).selectOption('theta-embedding-1');
    await page.getByRole('row').filter({ hasText: 'theta-embedding-1' }).first().waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'alpha3' }).count()).toBe(0);
    await page.getByLabel('Model', { exact: true }).selectOption('voxa-v2');
    await page.getByText('Nothing matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('row').nth(1).waitFor();
  });

  test('exports the request log', async () => {
    await embed('exported');
    const page = await target.open('#/activity');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('requests.csv');
    const text = await new Response(await download.createReadStream()).text();
    expect(text).toMatch(/^id,request_id,[^]*theta-embedding-1/);
  });

  test('sends a callback again', async () => {
    let received = 0;
    const receiver = createServer((request, response) => {
      received += 1;
      request.resume();
      response.end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void receiver.close());
    await new Promise((resolve) => receiver.once('listening', resolve));
    const { port } = receiver.address() as AddressInfo;
    const created = await client().imageJobs.create({
      prompt: 'A harbor.',
      notifyHook: `http://127.0.0.1:${port}/hook`,
    });
    const id = client().imageJobs.idOf(created);
    await client().imageJobs.waitFor(id, { pollIntervalMs: 100 });
    const page = await target.open(`#/activity?task=${id}`);
    await page.getByText('Delivered').last().waitFor();
    const before = received;
    await page.getByRole('button', { name: 'Send again' }).last().click();
    await expect.poll(() => received).toBe(before + 1);
  });

  test('reports an unknown task with the request id', async () => {
    const page = await target.open('#/activity');
    // The browser itself logs the status 404.
    page.removeAllListeners('console');
    await page.getByRole('button', { name: 'Tasks' }).click();
    await page.getByLabel('Open a task by id').fill('task_unknown');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').innerText()).toMatch(/there is no task[^]*req_[0-9a-f]{32}/);
  });
});

describe.skipIf(!hasChromium)('a queued task', () => {
  const target = useConsole(() => startTestGateway({ sandboxTaskMs: 120_000 }));

  test('can be canceled', async () => {
    const client = new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
    const { id } = await client.videos.create(film);
    const page = await target.open('#/activity?view=tasks');
    await page.getByRole('row').filter({ hasText: id }).click();
    await page.getByRole('button', { name: 'Cancel task' }).click();
    const panel = page.getByRole('complementary', { name: 'Task' });
    await panel.getByText('task_canceled').first().waitFor();
    await panel.getByText('0 quota').first().waitFor();
  });
});

/** Returns the text and the position of the first visible row. */
function firstVisible(page: Page): Promise<string> {
  return page.getByRole('grid').evaluate((table) => {
    const top = table.getBoundingClientRect().top + 38;
    const row = [...table.querySelectorAll('.virtual-row')].find(
      (element) => element.getBoundingClientRect().bottom > top,
    );
    return row === undefined ? '' : `${row.textContent} ${Math.round(row.getBoundingClientRect().top)}`;
  });
}
