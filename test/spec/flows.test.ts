import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const maxHops = 20;

interface Hop {
  file: string;
  /** A function, class or method: `name` or `Class.name`. */
  name: string;
}

/** The numbered lists below `### <title>` of the section "Flows" in CONTRIBUTING.md. */
function readFlows(): { title: string; hops: Hop[] }[] {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, section = ''] = /^## Flows\n(.*?)^## /ms.exec(text) ?? [];
  return section
    .split(/^### /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')),
      hops: [...part.matchAll(/^\d+\. `(?<file>[^`]+)`: `(?<name>[^`]+)`/gm)].map(
        ({ groups: { file = '', name = '' } = {} }) => ({ file, name }),
      ),
    }));
}

const flows = readFlows();

test('three flows are described', () => {
  expect(flows.map(({ title }) => title)).toEqual([
    'A speech call',
    'A video task with a callback',
    'A realtime session',
  ]);
});

describe.each(flows)('$title', ({ hops }) => {
  test(`has at most ${maxHops} hops`, () => {
    expect(hops.length).toBeGreaterThan(5);
    expect(hops.length).toBeLessThanOrEqual(maxHops);
  });

  test.each(hops)('$file has $name', ({ file, name }) => {
    const path = join(root, 'server', file);
    expect(existsSync(path), file).toBe(true);
    const source = readFileSync(path, 'utf8');
    const [owner = '', member] = name.split('.');
    expect(source).toMatch(new RegExp(`\\b(?:function|class|const|interface) ${owner}\\b`));
    if (member !== undefined)
      expect(source).toMatch(
        new RegExp(`^  (?:async |readonly |static )*#?${member.replace('#', '')}[<(]`, 'm'),
      );
  });
});
