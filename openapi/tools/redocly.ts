import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cli = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs the Redocly CLI in `root`. */
export async function redocly(root: string, ...args: string[]) {
  const options = { cwd: root, env, maxBuffer: 64 * 1024 * 1024 };
  try {
    return await run(process.execPath, [cli, ...args], options);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { stdout, stderr };
  }
}
