import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { isObject, type Json } from '../../openapi/tools/document.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const read = (name: string): string => readFileSync(`${root}/${name}`, 'utf8');

/** `compose.yaml` with resolved anchors and merges. Variables are not substituted. */
export const compose = parse(read('compose.yaml'), { merge: true }) as Json;

/** Returns the content of a config of compose.yaml. */
export function configText(name: string): string {
  const configs = isObject(compose) && isObject(compose.configs) ? compose.configs : {};
  const config = configs[name];
  if (!isObject(config) || typeof config.file !== 'string')
    throw new Error(`compose.yaml has no config ${name}`);
  return read(config.file);
}
