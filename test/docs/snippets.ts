import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled } from '../support/child-node.ts';

/** An executable code block of a Markdown text, with the result that the comments after it specify. */
export interface Snippet {
  language: 'sh' | 'ts' | 'python' | 'html';
  /** Its tab in a code group. */
  tab: string | undefined;
  /** Number of its first line. */
  line: number;
  code: string;
  /** `prints`: pattern of the output. `writes`: a file, and a mark in its head. `shows`: pattern of a page's text. */
  prints: RegExp | undefined;
  writes: { file: string; mark: string } | undefined;
  shows: RegExp | undefined;
}

const block = /^```(sh|ts|python|html)(?: \[([^\]\n]+)\])?\n([^]*?)^```\n((?:<!-- .*? -->\n)*)/gm;

/** Returns the snippets of a text, in order, except those marked with `run:` and those of other languages. */
export function snippetsOf(markdown: string): Snippet[] {
  const standalone = [...markdown.matchAll(block)].filter(
    // Commands of a checkout run in other tests, see commandsOf.
    ({ index }) => !/<!-- run: [^\n]+ -->\n+$/.test(markdown.slice(0, index)),
  );
  return standalone.map(({ 1: language, 2: tab, 3: code = '', 4: comments = '', index }) => {
    const pattern = (name: string) => {
      const source = new RegExp(`^<!-- ${name}: (.*) -->$`, 'm').exec(comments)?.[1];
      return source === undefined ? undefined : new RegExp(source);
    };
    const written = /^<!-- writes: (\S+) ?(\S*) -->$/m.exec(comments);
    return {
      language: language as Snippet['language'],
      tab,
      line: markdown.slice(0, index).split('\n').length,
      code,
      prints: pattern('prints'),
      shows: pattern('shows'),
      writes: written === null ? undefined : { file: written[1] ?? '', mark: written[2] ?? '' },
    };
  });
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The packages that snippets import, with their folders. */
const packages = {
  ws: join(root, 'node_modules/ws'),
  '@types': join(root, 'node_modules/@types'),
  ...Object.fromEntries(
    ['openai', 'ai', '@ai-sdk/alibaba', '@anthropic-ai/sdk'].map((name) => [
      name,
      join(root, 'test/interop/node_modules', name),
    ]),
  ),
};

/**
 * Creates a folder in which snippets can import their packages, like a user's project. The client is that of this
 * repository, under its public name. `remove` deletes the folder.
 */
export async function createSnippetFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unigate-snippets-')));
  const modules = join(folder, 'node_modules');
  for (const [name, path] of Object.entries(packages)) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(path, join(modules, name));
  }
  const client = join(modules, '@unigate/client');
  await mkdir(client, { recursive: true });
  const manifest = { name: '@unigate/client', type: 'module', exports: './index.ts' };
  await writeFile(join(client, 'package.json'), JSON.stringify(manifest));
  await symlink(join(root, 'client/index.ts'), join(client, 'index.ts'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Without Python and its package `requests`, the Python snippets are skipped. In CI, they fail. */
export const hasPython =
  process.env.CI === 'true' || spawnSync('python3', ['-c', 'import requests']).status === 0;

const commands = { sh: 'bash', ts: process.execPath, python: 'python3' };

export type RunnableSnippet = Snippet & { language: keyof typeof commands };

/** Whether a command can run the snippet. Pages run in a browser. */
export const isRunnable = (snippet: Snippet): snippet is RunnableSnippet => snippet.language !== 'html';

/** Runs a snippet. Returns its output and its exit code. */
export async function run(
  { language, code }: Pick<RunnableSnippet, 'language' | 'code'>,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const file = join(folder, `snippet.${language}`);
  await writeFile(file, language === 'sh' ? `set -euo pipefail\n${code}` : code);
  const child = spawn(commands[language], [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...compiled, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve({ code: exit, output }));
  });
}
