import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { isObject, type Json } from '../document.ts';

/** Values, in which a text of the same name is no text for readers. */
const data: ReadonlySet<string> = new Set([
  'example',
  'examples',
  'value',
  'default',
  'const',
  'enum',
  'steps',
]);
const forReaders: ReadonlySet<string> = new Set(['description', 'summary', 'x-decision']);

/** The document without what only readers need. */
function terse(node: Json): Json {
  if (Array.isArray(node)) return node.map(terse);
  if (!isObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name, value]) => !(forReaders.has(name) && typeof value === 'string'))
      .map(([name, value]) => [name, data.has(name) ? value : terse(value)]),
  );
}

/** Writes the documents that the conformance kit holds a server to into `generated/` of the built client. */
export async function packContract(root: string, dist: string): Promise<void> {
  await mkdir(join(dist, 'generated'), { recursive: true });
  const names = ['openapi', 'asyncapi', 'dialogues'];
  await Promise.all(
    names.map(async (name) => {
      const document = JSON.parse(await readFile(join(root, `generated/${name}.json`), 'utf8')) as Json;
      const packed = gzipSync(JSON.stringify(terse(document)), { level: 9 });
      await writeFile(join(dist, `generated/${name}.json.gz`), packed);
    }),
  );
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  await packContract(root, join(root, 'client/dist'));
}
