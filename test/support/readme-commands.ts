import { readFile } from 'node:fs/promises';

/**
 * The commands of a page's `sh` blocks that stand right below `<!-- run: <name> -->`, in their order. Throws when there
 * are none, so that no test passes because its commands were renamed.
 */
export async function commandsOf(page: URL, name: string): Promise<string[]> {
  const text = await readFile(page, 'utf8');
  const pattern = /^<!-- run: ([^\n]+?) -->\n+```sh\n(.*?)^```$/gms;
  const found = [...text.matchAll(pattern)].filter(([, marked]) => marked === name);
  if (found.length === 0) throw new Error(`${page.pathname} has no commands marked "run: ${name}".`);
  return found.map(([, , commands = '']) => commands);
}
