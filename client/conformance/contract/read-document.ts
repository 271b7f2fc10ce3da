import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../../openapi/tools/document.ts';

/** A generated document: as it stands in the repository, or compressed as the package has it. */
export function readDocument(name: 'openapi' | 'asyncapi' | 'dialogues'): JsonObject {
  const file = new URL(`../../../generated/${name}.json`, import.meta.url);
  const text = existsSync(file) ? readFileSync(file) : gunzipSync(readFileSync(new URL(`${file.href}.gz`)));
  return JSON.parse(text.toString('utf8')) as JsonObject;
}
