import { describe, expect, test } from 'vitest';
import { runConformance } from '../conformance/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the contract in the console', { timeout: 60_000 }, () => {
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
