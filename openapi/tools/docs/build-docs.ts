import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assemble, createWorkFolder, plainMarkdown, readText } from './assemble.ts';
import { llmsText } from './llms.ts';
import { readDocsSources, renderPages, type SitePages } from './pages.ts';
import { socialCard } from './social-card.ts';

/**
 * Builds the documentation into `generated/site/docs/`. Returns false if the inputs have not changed since the last build.
 * Throws if a page has a dead link.
 */
export async function buildDocs(root: string): Promise<boolean> {
  const target = join(root, 'generated/site');
  const site = await renderPages(root, await readDocsSources(root));
  const inputs = await hashInputs(root, site);
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

async function addMarkdown(output: string, site: SitePages): Promise<void> {
  for (const [path, markdown] of site.pages) {
    const file = join(output, path === 'index' ? 'docs/home.md' : `${path}.md`);
    await writeFile(file, plainMarkdown(markdown));
  }
  await writeFile(join(output, 'docs/llms.txt'), llmsText(site));
  await writeFile(join(output, 'docs/social-card.png'), await socialCard());
}

/** Hashes the pages, and the files and packages from which they are built. */
async function hashInputs(root: string, site: SitePages): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([[...site.pages], site.sidebar]));
  const folders = [import.meta.dirname, join(root, 'openapi/guides/drawings')];
  const files = (await Promise.all(folders.map(filesBelow))).flat();
  const packages = ['vitepress', '@scalar/fastify-api-reference'].map((name) =>
    join(root, 'node_modules', name, 'package.json'),
  );
  for (const file of [...files, join(root, 'client/console/tokens.css'), ...packages])
    hash.update(file.slice(root.length)).update((await readText(file)) ?? '');
  return hash.digest('hex');
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}
