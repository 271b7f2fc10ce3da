import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assemble, createWorkFolder, plainMarkdown } from './assemble.ts';
import { hashInputs, readText } from './input-hash.ts';
import { llmsText } from './llms.ts';
import { readDocsSources, renderPages, type SitePages } from './pages.ts';
import { socialCard } from './social-card.ts';

/** Files that the site is built from, in addition to the pages. */
const builderFiles = [
  'openapi/tools/docs',
  'generated/openapi.json',
  'openapi/guides/drawings',
  'client/console/tokens.css',
  'node_modules/vitepress/package.json',
  'node_modules/@scalar/fastify-api-reference/package.json',
];

/**
 * Builds the documentation into `generated/site/docs/`. Returns false if the inputs have not changed since the last build.
 * Throws if a page has a dead link.
 */
export async function buildDocs(root: string): Promise<boolean> {
  const target = join(root, 'generated/site');
  const site = await renderPages(root, await readDocsSources(root));
  const inputs = await hashInputs(root, JSON.stringify([[...site.pages], site.sidebar]), builderFiles);
  if ((await readText(join(target, 'docs.sha256'))) === inputs) return false;
  await mkdir(target, { recursive: true });
  const folder = await createWorkFolder();
  try {
    await assemble(root, folder, site);
    const output = await buildPages(folder);
    await addMarkdown(output, site);
    await rm(join(target, 'docs'), { recursive: true, force: true });
    await rename(join(output, 'docs'), join(target, 'docs'));
    await writeFile(join(target, 'docs.sha256'), inputs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return true;
}

/** Runs VitePress. Moves what it writes beside `docs/` into it. Returns the output folder. */
async function buildPages(folder: string): Promise<string> {
  const { build } = await import('vitepress');
  await build(folder);
  const output = join(folder, '.vitepress/dist');
  const docs = join(output, 'docs');
  await rename(join(output, 'index.html'), join(docs, 'home.html'));
  for (const name of ['404.html', 'vp-icons.css', 'hashmap.json']) {
    await rename(join(output, name), join(docs, name));
  }
  await addNotFound(join(docs, '404.html'));
  for (const entry of await readdir(docs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(html|js)$/.test(entry.name) || entry.name === 'scalar.js') continue;
    const file = join(entry.parentPath, entry.name);
    const text = await readFile(file, 'utf8');
    const moved = text
      .replaceAll('/__home__/vp-icons.css', '/__home__/docs/vp-icons.css')
      .replaceAll('"hashmap.json"', '"docs/hashmap.json"');
    if (moved !== text) await writeFile(file, moved);
  }
  return output;
}

/** Adds the content of the page `404` for browsers without JavaScript. VitePress renders it in the browser only. */
async function addNotFound(file: string): Promise<void> {
  const app = '<div id="app"></div>';
  const page = await readFile(file, 'utf8');
  if (!page.includes(app)) throw new Error('The page 404 of VitePress has an unexpected form.');
  const content = `<noscript><main class="not-found"><p class="status">404</p><h1>Page not found</h1>
<p>There is no page at this address. Start from an overview.</p>
<p class="overviews"><a href="/__home__/docs/">Documentation</a> · <a href="/__home__/docs/errors">Errors</a></p></main></noscript>`;
  await writeFile(file, page.replace(app, `${app}${content}`));
}

async function addMarkdown(output: string, site: SitePages): Promise<void> {
  for (const [path, markdown] of site.pages) {
    const file = join(output, path === 'index' ? 'docs/home.md' : `${path}.md`);
    await writeFile(file, plainMarkdown(markdown));
  }
  await writeFile(join(output, 'docs/llms.txt'), llmsText(site));
  await writeFile(join(output, 'docs/social-card.png'), await socialCard());
}
