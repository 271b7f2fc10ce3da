import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Returns the accessibility violations of a page, as text. */
export async function problems(page: Page): Promise<string[]> {
  // Evaluated by the browser, so the page's content security policy does not apply.
  await page.evaluate(axe);
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
