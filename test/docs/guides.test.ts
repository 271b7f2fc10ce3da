import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readGuides } from '../../openapi/tools/docs/guides.ts';
import { type Mock, startMock } from '../mock/server.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { createSnippetFolder, run, type Snippet, snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const secret = 'whsec_c2VjcmV0IG9mIHRoZSBndWlkZXMgc25pcHBldHM=';
const guides = (await readGuides(root)).map((guide) => ({
  ...guide,
  snippets: snippetsOf(guide.markdown).filter(({ language }) => language !== 'html'),
}));

let target: TestGateway;
let mock: Mock;
let workspace: Awaited<ReturnType<typeof createSnippetFolder>>;
beforeAll(async () => {
  target = await startTestGateway({ callbacks: { allowPrivate: true, secret } });
  mock = await startMock();
  workspace = await createSnippetFolder();
});
afterAll(async () => {
  await Promise.all([target.close(), mock.close()]);
  await workspace.remove();
});

const started = (snippet: Snippet) =>
  run(snippet, workspace.folder, {
    UNIGATE_BASE_URL: target.url,
    UNIGATE_API_KEY: target.key,
    UNIGATE_MOCK_URL: mock.url,
    CALLBACK_SECRET: secret,
  });

describe.each(guides.filter(({ snippets }) => snippets.length > 0))('$title', ({ snippets }) => {
  test.each(snippets)('the $language snippet on line $line runs', { timeout: 60_000 }, async (snippet) => {
    const { code, output } = await started(snippet);
    expect(code, output).toBe(0);
    if (snippet.prints !== undefined) expect(output).toMatch(snippet.prints);
    if (snippet.writes === undefined) return;
    const written = await readFile(join(workspace.folder, snippet.writes.file));
    expect(written.length).toBeGreaterThan(1_000);
    expect(written.subarray(0, 12).toString('latin1')).toContain(snippet.writes.mark);
  });
});

test('every TypeScript snippet compiles', { timeout: 60_000 }, async () => {
  const written = guides.flatMap(({ name, snippets }) =>
    snippets
      .filter(({ language }) => language === 'ts')
      .map(({ line, code }) => ({ file: `${name}-${line}.ts`, code })),
  );
  expect(written.length).toBeGreaterThan(10);
  for (const { file, code } of written) await writeFile(join(workspace.folder, file), code);
  const options = { strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true };
  const config = {
    compilerOptions: {
      ...options,
      target: 'esnext',
      module: 'nodenext',
      types: ['node'],
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
    },
    files: written.map(({ file }) => file),
  };
  await writeFile(join(workspace.folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', workspace.folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});
