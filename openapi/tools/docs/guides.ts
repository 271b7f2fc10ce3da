import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A guide of openapi/guides: `<position in the menu>-<name>.md`. The first heading is its title. */
export interface Guide {
  name: string;
  /** Path of its file below the root. */
  file: string;
  title: string;
  markdown: string;
}

/** Reads the guides, in the order of the menu. */
export async function readGuides(root: string): Promise<Guide[]> {
  const folder = join(root, 'openapi/guides');
  const found = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.md'));
  const files = found.sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
  return Promise.all(
    files.map(async (file) => {
      const markdown = await readFile(join(folder, file), 'utf8');
      const title = /^# (.+)$/m.exec(markdown)?.[1];
      if (title === undefined) throw new Error(`openapi/guides/${file}: the first heading is missing`);
      const name = file.replace(/^\d+-/, '').replace(/\.md$/, '');
      return { name, file: `openapi/guides/${file}`, title, markdown };
    }),
  );
}

/** Removes the comments of a guide, which are markers for the tests. */
export const withoutComments = (markdown: string): string =>
  markdown.replace(/^<!--[^]*?-->\n/gm, '').trimStart();

/** Returns the first paragraph below the title, in one line. */
export function leadOf(markdown: string): string {
  const parts = withoutComments(markdown)
    .replace(/^---\n[^]*?\n---\n/, '')
    .split(/\n\s*\n/);
  return (parts.find((part) => part.trim() !== '' && !/^(#|:::|\||```)/.test(part.trim())) ?? '')
    .trim()
    .replaceAll('\n', ' ');
}
