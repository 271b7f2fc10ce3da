import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../../openapi/tools/document.ts';

/** Reads a generated document. The package contains it compressed. */
export function readDocument(name: 'openapi' | 'asyncapi' | 'dialogues'): JsonObject {
  const file = new URL(`../../../generated/${name}.json`, import.meta.url);
  const text = existsSync(file) ? readFileSync(file) : gunzipSync(readFileSync(new URL(`${file.href}.gz`)));
  return JSON.parse(text.toString('utf8')) as JsonObject;
}
