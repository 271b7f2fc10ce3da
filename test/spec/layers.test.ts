import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

interface Refusal {
  rule: string;
  message: string;
}

/** A small house: each file, what it imports, and what the lint must say of it; undefined when it passes. */
const house: [file: string, imports: string, refused: RegExp | undefined][] = [
  ['server/operations/speech/speak.ts', '../../ledger/ledger.ts', undefined],
  ['server/ledger/ledger.ts', '../store/commands/tasks.ts', undefined],
  ['server/store/commands/tasks.ts', '../../failure.ts', undefined],
  ['server/failure.ts', 'node:fs', undefined],
  ['server/sandbox/video/page.ts', '../../outbound/agent.ts', undefined],
  ['server/outbound/agent.ts', '../runtime/timers.ts', undefined],
  ['server/runtime/timers.ts', 'node:timers', undefined],
  ['server/tasks/up.ts', '../operations/speech/speak.ts', /^The way in server\/ is down: tasks may import/],
  ['server/tasks/roof.ts', '../serve.ts', /^The way in server\/ is down/],
  ['server/serve.ts', './operations/speech/speak.ts', undefined],
  ['server/realtime/neighbour.ts', '../inference/session.ts', /^The way in server\/ is down: realtime/],
  ['server/inference/session.ts', '../ledger/ledger.ts', undefined],
  ['server/store/commands/deep.ts', '../../settings/settings.ts', undefined],
  ['server/settings/settings.ts', '../failure.ts', undefined],
  ['server/store/measured.ts', '../telemetry/metrics.ts', undefined],
  ['server/telemetry/metrics.ts', '../settings/settings.ts', undefined],
  ['server/telemetry/up.ts', '../store/commands/tasks.ts', /^The way in server\/ is down: telemetry/],
  ['server/settings/up.ts', '../store/commands/tasks.ts', /^The way in server\/ is down: settings/],
  ['server/http/engine.ts', '../sandbox/sandbox.ts', /^The way in server\/ is down: http/],
  ['server/http/package.ts', '@unigate/sandbox', /^The way in server\/ is down: http/],
  ['server/sandbox/sandbox.ts', './video/page.ts', undefined],
  ['server/sandbox/reach.ts', '../ledger/ledger.ts', /^The sandbox may import/],
  ['server/sandbox/video/reach.ts', '../../store/commands/tasks.ts', /^The sandbox may import/],
  ['server/models/left.ts', './right.ts', /Dependency cycle/],
  ['server/models/right.ts', './left.ts', /Dependency cycle/],
];

describe('the rule of the layers', () => {
  let folder: string;
  const found = new Map<string, Refusal[]>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-layers-'));
    for (const [file, imports] of house) {
      await mkdir(join(folder, dirname(file)), { recursive: true });
      await writeFile(
        join(folder, file),
        `import type { Thing } from '${imports}';\nexport type Own = Thing;\n`,
      );
    }
    await cp(join(root, 'oxlint.config.ts'), join(folder, 'oxlint.config.ts'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const output = await lint(folder);
    for (const { filename, code, message, help } of JSON.parse(output).diagnostics) {
      const file = filename.replaceAll('\\', '/');
      found.set(file, [...(found.get(file) ?? []), { rule: code, message: `${help ?? ''} ${message}` }]);
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(house)('%s imports %s', (file, _imports, refused) => {
    const refusals = found.get(file) ?? [];
    if (refused === undefined) expect(refusals).toEqual([]);
    else expect(refusals.map(({ message }) => message.trim())).toEqual([expect.stringMatching(refused)]);
  });
});

/** What the lint prints as JSON; it ends with 1 when it finds something. */
function lint(cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/oxlint'), ['--format', 'json'], { cwd }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
