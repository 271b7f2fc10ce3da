import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { runConformance } from '../conformance/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the contract in the console', () => {
  const target = useConsole();

  test('one search finds operations, decisions and errors', async () => {
    const page = await target.open('#/contract');
    await page.getByRole('searchbox').fill('quota');
    await page.getByRole('link', { name: 'POST /api/admin/tokens/{id}/grants' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Decisions' }).click();
    await page.getByRole('columnheader', { name: 'Place' }).waitFor();
    await page.getByRole('tab', { name: 'Errors' }).click();
    await page.getByRole('link', { name: 'insufficient_user_quota' }).first().waitFor();
    expect(page.url()).toContain('#/contract?tab=Errors&search=quota');
    await expectFits(page);
    await page.getByRole('searchbox').fill('no such word');
    await page.getByText('No errors match the search.').waitFor();
  });

  test('shows the results of a conformance run and the coverage of each operation', async () => {
    const { url, key } = target.gateway;
    const report = await runConformance({
      baseUrl: url,
      key,
      only: ['models'],
      runs: 1,
      seed: 1,
      timeoutMs: 30_000,
      taskTimeoutMs: 30_000,
      triggers: 'off',
      admin: false,
      bodyLimitMb: 64,
    });
    const page = await target.open('#/contract?tab=Conformance');
    await page.getByText(`npx unigate-conformance --base-url ${url} --report report.json`).waitFor();
    const file = {
      name: 'report.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(report)),
    };
    await page.getByLabel('Report').setInputFiles({ ...file, buffer: Buffer.from('{}') });
    await page.getByText('The file is not a report of the conformance kit.').waitFor();
    await page.getByLabel('Report').setInputFiles(file);
    await page.getByText(`${report.passed} passed`).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('tab', { name: 'Operations' }).click();
    const row = page.getByRole('row').filter({ hasText: 'GET /v1/models/{model}' });
    await row.getByText(/^\d+ of \d+ responses$/).waitFor();
  });

  test('runs the conformance kit live, and stops a run', async () => {
    const page = await target.open('#/contract?tab=Conformance');
    await page.getByLabel('models', { exact: true }).check();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    const results = page.getByRole('region', { name: 'Results by operation' });
    const models = results.getByRole('row', { name: /^listModels .* of \d+$/ });
    await models.waitFor();
    expect(await models.innerText()).toMatch(/^listModels\s+0\s+\d+\s+\d+\s+\d+ of \d+$/);
    expect(await page.getByText(/\d+ failed/).innerText()).toContain('0 failed');
    await expectAccessible(page);
    await expectFits(page);

    await page.getByLabel('models', { exact: true }).uncheck();
    await page.getByLabel('video', { exact: true }).check();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await page.getByText(/operation \d+ of \d+/).waitFor();
    // Until the report arrives, the table has no coverage.
    await results.getByText('createGenericVideo').waitFor();
    expect(await results.getByRole('columnheader', { name: 'Responses' }).count()).toBe(0);
    await page.getByRole('progressbar', { name: 'Tested operations' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped before the end').waitFor();
    await expectAccessible(page);
  });

  test('names a server that cannot be tested', async () => {
    const page = await target.open('#/contract?tab=Conformance', { failures: [400, 429] });
    const run = page.getByRole('button', { name: 'Run the tests' });
    await page.getByLabel('Server').fill('http://127.0.0.1:81');
    await run.click();
    await page.getByText('Another server requires a key.').waitFor();
    await page.getByLabel('API key').fill('sk-of-another-server');
    await run.click();
    await page.getByText('base_url: must lead to a public address').waitFor();
    await page.getByLabel('Server').fill(target.gateway.url.replace('127.0.0.1', 'localhost'));
    await run.click();
    // A stopped run of another test deletes what it created.
    await expect
      .poll(async () => {
        if (await page.getByText('already has a conformance run').isVisible()) await run.click();
        return await page.getByText('rejects the key').isVisible();
      })
      .toBe(true);
    await expectAccessible(page);
  });

  test('offers only the command to a key without the scope admin', async () => {
    const { url, key } = target.gateway;
    const { key: plainKey } = await new Unigate({ baseUrl: url, apiKey: key }).tokens.create({
      name: 'plain',
      remain_quota: 1,
    });
    const page = await target.open('#/contract?tab=Conformance', { key: plainKey });
    await page.getByText('A key with the scope admin can run it from this page.').waitFor();
    expect(await page.getByRole('button', { name: 'Run the tests' }).count()).toBe(0);
  });

  test('shows the changes since a release, breaking changes first', async () => {
    const page = await target.open('#/contract?tab=Changes');
    const change = (severity: string, text: string) => ({
      severity,
      change: text,
      operations: ['createVideo'],
    });
    const list = {
      base: 'v0.1.0',
      baseVersion: '0.1.0',
      lowestVersion: '0.2.0',
      areas: { video: [change('minor', 'Field `a` was added.'), change('major', 'Field `b` was removed.')] },
    };
    const file = { name: 'changes.json', mimeType: 'application/json' };
    await page.getByLabel('Report').setInputFiles({ ...file, buffer: Buffer.from('no') });
    await page.getByText('The file is not JSON.').waitFor();
    await page.getByLabel('Report').setInputFiles({ ...file, buffer: Buffer.from(JSON.stringify(list)) });
    await page.getByText('They need at least version 0.2.0.').waitFor();
    const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(headings.filter((text) => /Breaking|Compatible/.test(text)).join()).toMatch(
      /Breaking.*Compatible/s,
    );
    await expectAccessible(page);
    await expectFits(page);
  });
});
