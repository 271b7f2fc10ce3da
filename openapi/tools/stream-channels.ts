import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isObject, type JsonObject } from './document.ts';
import type { Problem } from './problem.ts';

const reference = /\bx-events: *['"]?(asyncapi\.json#\/channels\/([\w-]+))/g;

/** Finds event streams below `root` that name a channel which the AsyncAPI document does not define. */
export function missingChannels(root: string, asyncapi: JsonObject): Problem[] {
  const channels = isObject(asyncapi.channels) ? asyncapi.channels : {};
  const files = globSync('openapi/{paths,responses}/**/*.yaml', { cwd: root }).sort();
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(reference)].flatMap(({ 1: name = '', 2: channel = '', index }): Problem[] => {
      if (channel in channels) return [];
      const before = text.slice(0, index).split('\n');
      const message = `The channel ${name} does not exist. The channels are ${Object.keys(channels).join(', ')}.`;
      return [
        {
          file: file.split(sep).join('/'),
          line: before.length,
          column: (before.at(-1)?.length ?? 0) + 1,
          severity: 'error',
          rule: 'stream-channel',
          message,
        },
      ];
    });
  });
}
