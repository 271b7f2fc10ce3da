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

/** A small server: each file, its import, and the expected message of the lint. Undefined: the import is allowed. */
const fixture: [file: string, imports: string, expected: RegExp | undefined][] = [
  ['server/operations/speech/speak.ts', '../../quota/ledger.ts', undefined],
  ['server/quota/ledger.ts', '../store/commands/tasks.ts', undefined],
  ['server/store/commands/tasks.ts', '../../lib/failure.ts', undefined],
  ['server/lib/failure.ts', 'node:fs', undefined],
  ['server/sandbox/video/page.ts', '../../outbound/agent.ts', undefined],
  ['server/outbound/agent.ts', '../lib/timers.ts', undefined],
  ['server/lib/timers.ts', 'node:timers', undefined],
  ['server/tasks/up.ts', '../operations/speech/speak.ts', /^tasks may import from itself and from channels/],
  ['server/tasks/top.ts', '../app/serve.ts', /^tasks may import/],
  ['server/tasks/entry.ts', '../main.ts', /^tasks may import/],
  ['server/main.ts', './app/serve.ts', undefined],
  ['server/app/serve.ts', '../operations/speech/speak.ts', undefined],
  ['server/channels/neighbor.ts', '../quota/ledger.ts', /^channels may import/],
  ['server/sockets/realtime/session.ts', '../../quota/ledger.ts', undefined],
  ['server/store/commands/deep.ts', '../../settings/settings.ts', undefined],
  ['server/settings/settings.ts', '../lib/failure.ts', undefined],
  ['server/store/measured.ts', '../telemetry/metrics.ts', undefined],
  ['server/telemetry/metrics.ts', 'node:os', undefined],
  ['server/telemetry/neighbor.ts', '../lib/timers.ts', /^telemetry may import .* nothing else/],
  ['server/telemetry/up.ts', '../store/commands/tasks.ts', /^telemetry may import/],
  ['server/settings/up.ts', '../store/commands/tasks.ts', /^settings may import/],
  ['server/http/engine.ts', '../sandbox/sandbox.ts', /^http may import/],
  ['server/http/package.ts', '@unigate/sandbox', /^http may import/],
  ['server/sandbox/sandbox.ts', './video/page.ts', undefined],
  ['server/sandbox/reach.ts', '../quota/ledger.ts', /^The sandbox may import/],
  ['server/sandbox/video/reach.ts', '../../store/commands/tasks.ts', /^The sandbox may import/],
  ['server/models/left.ts', './right.ts', /Dependency cycle/],
  ['server/models/right.ts', './left.ts', /Dependency cycle/],
];

describe('the layer rule', () => {
  let folder: string;
  const found = new Map<string, Refusal[]>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-layers-'));
    for (const [file, imports] of fixture) {
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

  test.each(fixture)('%s imports %s', (file, _imports, expected) => {
    const refusals = found.get(file) ?? [];
    if (expected === undefined) expect(refusals).toEqual([]);
    else expect(refusals.map(({ message }) => message.trim())).toEqual([expect.stringMatching(expected)]);
  });
});

/** JSON output of the linter, which exits with 1 if it finds problems. */
function lint(cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/oxlint'), ['--format', 'json'], { cwd }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
