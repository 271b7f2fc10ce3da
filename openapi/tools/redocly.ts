import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from './document.ts';

const run = promisify(execFile);
const cli = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Lints one API of redocly.yaml in `root`; throws with the report when there is an error or a warning. */
export async function lint(root: string, api: string): Promise<void> {
  const { stdout } = await redocly(root, 'lint', api, '--format=json', '--max-problems=1000');
  const { problems } = JSON.parse(stdout) as { problems: Problem[] };
  if (problems.length > 0) throw new Error(`redocly lint ${api}:\n${problems.map(line).join('\n')}`);
}

/** Bundles one API of redocly.yaml in `root` into a document whose `$ref`s are all local. */
export async function bundle(root: string, api: string): Promise<JsonObject> {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
  const file = join(folder, 'bundle.json');
  try {
    const { stderr, failed } = await redocly(root, 'bundle', api, '--output', file);
    if (failed) throw new Error(`redocly bundle ${api}:\n${stderr}`);
    return JSON.parse(await readFile(file, 'utf8')) as JsonObject;
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Problem {
  ruleId: string;
  severity: string;
  message: string;
  location: { source: { ref: string }; pointer?: string; start?: { line: number; col: number } }[];
}

function line({ ruleId, severity, message, location: [place] }: Problem): string {
  const position = place?.start ? `:${place.start.line}:${place.start.col}` : ` ${place?.pointer ?? ''}`;
  return `${place?.source.ref}${position} ${severity} ${ruleId}: ${message}`;
}

export async function redocly(root: string, ...args: string[]) {
  const options = { cwd: root, env, maxBuffer: 64 * 1024 * 1024 };
  try {
    return { ...(await run(process.execPath, [cli, ...args], options)), failed: false };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    if (!stdout.trim() && args[0] === 'lint')
      throw new Error(`redocly lint failed:\n${stderr}`, { cause: error });
    return { stdout, stderr, failed: true };
  }
}
