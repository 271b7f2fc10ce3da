import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../document.ts';
import { redocly } from '../redocly.ts';

/** A change of a document, as `redocly diff` has found it. */
export interface Difference {
  /** Where it stands in the bundle: after the change, or before it where it is gone. */
  at: string;
  kind: 'added' | 'removed' | 'modified';
  impact: 'major' | 'minor' | 'patch';
  /** The field, where one has changed. */
  property: string | undefined;
  /** Undefined: there was none, or is none any more. */
  before: Json | undefined;
  after: Json | undefined;
  /** In words, with the rule that says so. */
  verdicts: readonly { rule: string; impact: Difference['impact']; words: string }[];
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

/** All that differs between two bundles of one document. */
export async function differences(base: JsonObject, next: JsonObject): Promise<Difference[]> {
  const folder = await mkdtemp(join(tmpdir(), 'diff-'));
  try {
    const paths = [join(folder, 'base.json'), join(folder, 'next.json')] as const;
    await Promise.all([writeFile(paths[0], JSON.stringify(base)), writeFile(paths[1], JSON.stringify(next))]);
    const options = ['--config', config, '--format=json', '--fail-on=none'];
    const { stdout, stderr } = await redocly(folder, 'diff', ...paths, ...options);
    if (!stdout.trim()) throw new Error(`redocly diff failed:\n${stderr}`);
    return (JSON.parse(stdout) as Report).changes.map((change) => ({
      at: change.revision?.pointer ?? change.base?.pointer ?? '',
      kind: change.kind,
      impact: change.impact,
      property: change.property,
      before: change.base?.value,
      after: change.revision?.value,
      verdicts: change.verdicts.map(({ ruleId, impact, message }) => ({
        rule: ruleId,
        impact,
        words: message,
      })),
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}
