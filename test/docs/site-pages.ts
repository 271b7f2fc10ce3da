import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../generated/site/docs', import.meta.url));

/** Paths of all pages of the documentation on a gateway. */
export const sitePages: readonly string[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((file) => relative(folder, join(folder, file)).replaceAll(sep, '/'))
  .filter((file) => file.endsWith('.html') && file !== '404.html')
  .map((file) => (file === 'home.html' ? '/' : `/docs/${file.replace(/(index)?\.html$/, '')}`))
  .sort();
