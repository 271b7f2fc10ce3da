import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { isObject, type Json } from '../document.ts';

/** Fields whose content is data: a `description` in it is not documentation. */
const dataFields: ReadonlySet<string> = new Set([
  'example',
  'examples',
  'value',
  'default',
  'const',
  'enum',
  'steps',
]);
const documentationFields: ReadonlySet<string> = new Set(['description', 'summary', 'x-decision']);

/** Returns the document without its documentation texts. */
function withoutTexts(node: Json): Json {
  if (Array.isArray(node)) return node.map(withoutTexts);
  if (!isObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name, value]) => !(documentationFields.has(name) && typeof value === 'string'))
      .map(([name, value]) => [name, dataFields.has(name) ? value : withoutTexts(value)]),
  );
}

/** Writes the documents that the conformance kit reads, compressed, into `generated/` of its build. */
export async function packContract(root: string, dist: string): Promise<void> {
  await mkdir(join(dist, 'generated'), { recursive: true });
  const names = ['openapi', 'asyncapi', 'dialogues'];
  await Promise.all(
    names.map(async (name) => {
      const document = JSON.parse(await readFile(join(root, `generated/${name}.json`), 'utf8')) as Json;
      const packed = gzipSync(JSON.stringify(withoutTexts(document)), { level: 9 });
      await writeFile(join(dist, `generated/${name}.json.gz`), packed);
    }),
  );
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  await packContract(root, join(root, 'test/conformance/dist'));
}
