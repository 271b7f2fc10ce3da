import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { errors } from '../../generated/errors.ts';
import { docsFile } from '../../server/operations/service/docs-site.ts';

const text = async (name: string) =>
  (await docsFile(name, 'http://127.0.0.1:8080'))?.body.toString('utf8') ?? '';

const pages = [...(await text('index.html')).matchAll(/href="([a-z0-9-]+\.html)"/g)].map(
  ([, file = '']) => file,
);

test('the index page links to the reference, the guides, the errors and the decisions', () => {
  expect(pages).toEqual(
    expect.arrayContaining([
      'reference.html',
      'quick-start.html',
      'webhooks.html',
      'errors.html',
      'decisions.html',
    ]),
  );
});

test.each([...new Set(pages), 'docs.html', 'home.html'])('all links of %s resolve', async (page) => {
  const body = await text(page);
  expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
  const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, link = ''] of body.matchAll(/ (?:href|src)="([^"]+)"/g)) {
    if (link.startsWith('https://') || link === 'data:,') continue;
    const [file = '', place = ''] = link.replace(/^(\/docs|docs)\//, '').split('#');
    if (file !== '') expect(await docsFile(file, 'http://127.0.0.1:8080'), `${page}: ${link}`).toBeDefined();
    else expect(ids, `${page}: ${link}`).toContain(place);
  }
});

test('no page loads resources from another host', async () => {
  for (const page of pages)
    expect(await text(page)).not.toMatch(/<(?:script|img|link|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//);
});

test('each error code has a section', async () => {
  const body = await text('errors.html');
  for (const { code } of errors) expect(body).toContain(`<section id="${code}"`);
});

test.each([
  ['invalid_request', 'No. The same request fails again.'],
  [
    'rate_limit_exceeded',
    'Yes, after the number of seconds in <code>retry-after</code>, or after a short pause.',
  ],
  ['service_restarting', 'Yes, at once.'],
])('the section of %s states: %s', async (code, sentence) => {
  const section = (await text('errors.html')).split(`<section id="${code}"`)[1]?.split('</section>')[0];
  expect(section).toContain(`<dt>Retry</dt><dd>${sentence}</dd>`);
});

test('no page shows a comment of its source', async () => {
  for (const page of pages) {
    const body = await text(page);
    expect(body, page).not.toContain('&lt;!--');
    expect(body, page).not.toMatch(/<!-- (?:writes|prints|shows|needs)/);
  }
});

test('behind a proxy with a path prefix, links and requests include the prefix', async () => {
  const page = (await docsFile('docs.html', 'http://127.0.0.1:8080/speech'))?.body.toString();
  expect(page).toContain('href="/speech/docs/errors.html"');
  expect(page).not.toContain('"/docs/');
  const reference = (await docsFile('reference.html', 'http://127.0.0.1:8080/speech'))?.body.toString();
  expect(reference).toContain('<div id="reference" data-home="/speech/">');
});

test('the exported site is complete', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-docs-'));
  const script = fileURLToPath(new URL('../../server/docs.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [script, '--out', folder]);
  const files = await readdir(folder);
  expect(files).toEqual(expect.arrayContaining([...pages, 'openapi.json', 'asyncapi.json', 'scalar.js']));
  expect(await readFile(join(folder, 'reference.html'), 'utf8')).not.toContain('data-home');
  await rm(folder, { recursive: true });
});
