import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../document.ts';
import { readText } from './input-hash.ts';
import type { SitePages } from './pages.ts';
import { referenceDocument } from './reference-document.ts';
import { referenceScript } from './reference-script.ts';

/** Creates a folder for `assemble`. It is in this repository, whose packages the pages import. */
export async function createWorkFolder(): Promise<string> {
  const parent = join(import.meta.dirname, '../../../generated/site');
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, 'work-'));
}

/** Stands for the path of the gateway. The server replaces it, see `server/operations/service/site-files.ts`. */
const homeMarker = '/__home__/';

/**
 * Writes the pages, the theme and the static files to a folder, from which VitePress builds the site. A preview has both
 * documents and no prefix. Returns true if a file has changed.
 */
export async function assemble(
  root: string,
  folder: string,
  { pages, sidebar }: SitePages,
  { isPreview = false } = {},
): Promise<boolean> {
  const base = isPreview ? '/' : homeMarker;
  let hasChanged = false;
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    if ((await readText(file)) === text) return;
    hasChanged = true;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  const theme = join(import.meta.dirname, 'theme');
  const quoted = (text: string) => JSON.stringify(text);
  await write('sidebar.json', JSON.stringify(sidebar));
  await write(
    '.vitepress/config.mjs',
    `import { siteConfig } from ${quoted(join(theme, 'config.ts'))};\nexport default siteConfig(${quoted(folder)}, ${quoted(base)});\n`,
  );
  await write('.vitepress/theme/index.ts', `export { default } from ${quoted(join(theme, 'index.ts'))};\n`);
  for (const [path, markdown] of pages) {
    await write(`pages/${path}.md`, markdown.replaceAll(homeMarker, base));
  }
  const publicFolder = 'pages/public/docs';
  await writeStatic(root, join(folder, publicFolder));
  await write(`${publicFolder}/scalar.js`, await referenceScript());
  const bundle = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8')) as JsonObject;
  await write(`${publicFolder}/reference-openapi.json`, JSON.stringify(referenceDocument(bundle)));
  if (isPreview)
    for (const name of ['openapi.json', 'asyncapi.json'])
      await write(`${publicFolder}/${name}`, await readFile(join(root, 'generated', name), 'utf8'));
  return hasChanged;
}

async function writeStatic(root: string, folder: string): Promise<void> {
  await cp(join(import.meta.dirname, 'static'), folder, { recursive: true });
  await cp(join(root, 'openapi/guides/drawings'), join(folder, 'drawings'), { recursive: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    },
  );
}

/** Returns the page as a reader of Markdown gets it: without front matter, and without the syntax of the site. */
export function plainMarkdown(markdown: string): string {
  return markdown
    .replace(/^---\n[^]*?\n---\n+/, '')
    .replace(/ \{#[\w.-]+\}$/gm, '')
    .replaceAll(homeMarker, '/');
}
