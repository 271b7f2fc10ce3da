import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readGuides } from '../../openapi/tools/docs/guides.ts';
import { type Mock, startMock } from '../mock/server.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { compileErrors } from './compile-snippets.ts';
import {
  createSnippetFolder,
  hasPython,
  isRunnable,
  type RunnableSnippet,
  run,
  snippetsOf,
} from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const secret = 'whsec_c2VjcmV0IG9mIHRoZSBndWlkZXMgc25pcHBldHM=';
const guides = (await readGuides(root)).map((guide) => ({
  ...guide,
  snippets: snippetsOf(guide.markdown).filter(isRunnable),
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

const started = (snippet: RunnableSnippet) =>
  run(snippet, workspace.folder, {
    UNIGATE_BASE_URL: target.url,
    UNIGATE_API_KEY: target.key,
    UNIGATE_MOCK_URL: mock.url,
    CALLBACK_SECRET: secret,
  });

describe.each(guides.filter(({ snippets }) => snippets.length > 0))('$title', ({ snippets }) => {
  test.for(snippets)('the $language snippet on line $line runs', async (snippet, { skip }) => {
    skip(snippet.language === 'python' && !hasPython, 'Python or its package requests is missing');
    // An earlier snippet may have written the same file.
    if (snippet.writes !== undefined) await rm(join(workspace.folder, snippet.writes.file), { force: true });
    const { code, output } = await started(snippet);
    expect(code, output).toBe(0);
    if (snippet.prints !== undefined) expect(output).toMatch(snippet.prints);
    if (snippet.writes === undefined) return;
    const written = await readFile(join(workspace.folder, snippet.writes.file));
    expect(written.length).toBeGreaterThan(1_000);
    expect(written.subarray(0, 12).toString('latin1')).toContain(snippet.writes.mark);
  });
});

test('every TypeScript snippet compiles', async () => {
  const written = guides.flatMap(({ name, snippets }) =>
    snippets
      .filter(({ language }) => language === 'ts')
      .map(({ line, code }) => ({ file: `${name}-${line}.ts`, code })),
  );
  expect(written.length).toBeGreaterThan(10);
  expect(await compileErrors(workspace.folder, written)).toBe('');
});
