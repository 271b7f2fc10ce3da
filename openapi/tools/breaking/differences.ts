import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../document.ts';
import { redocly } from '../redocly.ts';

/** A change of a document that `redocly diff` reports. */
export interface Difference {
  /** Pointer into the new bundle, or into the old one if the place was removed. */
  at: string;
  kind: 'added' | 'removed' | 'modified';
  impact: 'major' | 'minor' | 'patch';
  /** The changed field, if any. */
  property: string | undefined;
  /** Undefined if the value was added or removed. */
  before: Json | undefined;
  after: Json | undefined;
  /** Rules that classify the change, with their messages. */
  verdicts: readonly { rule: string; impact: Difference['impact']; message: string }[];
}

interface Report {
  changes: {
    kind: Difference['kind'];
    impact: Difference['impact'];
    property?: string;
    base?: { pointer: string; value?: Json };
    revision?: { pointer: string; value?: Json };
    verdicts: { ruleId: string; impact: Difference['impact']; message: string }[];
  }[];
}

const config = fileURLToPath(new URL('redocly.yaml', import.meta.url));

/** Lists the differences between two bundles of a document. */
export async function differences(base: JsonObject, next: JsonObject): Promise<Difference[]> {
  const folder = await mkdtemp(join(tmpdir(), 'diff-'));
  try {
    const paths = [join(folder, 'base.json'), join(folder, 'next.json')] as const;
    await Promise.all([writeFile(paths[0], serialized(base)), writeFile(paths[1], serialized(next))]);
    const options = ['--config', config, '--format=json', '--fail-on=none'];
    const { stdout, stderr } = await redocly(folder, 'diff', ...paths, ...options);
    if (!stdout.trim()) throw new Error(`redocly diff failed:\n${stderr}`);
    return (JSON.parse(stdout) as Report).changes.map((change) => ({
      at: change.revision?.pointer ?? change.base?.pointer ?? '',
      kind: change.kind,
      impact: change.impact,
      property: change.property,
      before: parsed(change.base?.value),
      after: parsed(change.revision?.value),
      verdicts: change.verdicts.map(({ ruleId, impact, message }) => ({
        rule: ruleId,
        impact,
        message,
      })),
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const listPrefix = 'list:';

/** Serializes a document. `redocly diff` ignores changes within the lists of extensions, so they become strings. */
const serialized = (document: JsonObject) =>
  JSON.stringify(document, (key, value: Json) =>
    key.startsWith('x-') && Array.isArray(value) ? `${listPrefix}${JSON.stringify(value)}` : value,
  );

const parsed = (value: Json | undefined): Json | undefined =>
  typeof value === 'string' && value.startsWith(listPrefix)
    ? (JSON.parse(value.slice(listPrefix.length)) as Json)
    : value;
