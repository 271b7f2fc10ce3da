import { readFile } from 'node:fs/promises';

/**
 * Returns the commands of the `sh` blocks directly below `<!-- run: <name> -->` on a page, in order. Throws an Error if
 * there are none, so that a rename of the marker fails the test.
 */
export async function commandsOf(page: URL, name: string): Promise<string[]> {
  const text = await readFile(page, 'utf8');
  const pattern = /^<!-- run: ([^\n]+?) -->\n+```sh\n(.*?)^```$/gms;
  const found = [...text.matchAll(pattern)].filter(([, marked]) => marked === name);
  if (found.length === 0) throw new Error(`${page.pathname} has no commands marked "run: ${name}".`);
  return found.map(([, , commands = '']) => commands);
}
