import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from './document.ts';
import { readYaml } from './problem.ts';

/** Reads the example dialogues of `asyncapi/examples/` by file name. */
export async function dialogues(root: string): Promise<JsonObject> {
  const folder = join(root, 'asyncapi/examples');
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.yaml')).sort();
  const read = async (file: string): Promise<[string, JsonObject]> => [
    basename(file, '.yaml'),
    readYaml(`asyncapi/examples/${file}`, await readFile(join(folder, file), 'utf8')) as JsonObject,
  ];
  return Object.fromEntries(await Promise.all(files.map(read)));
}
