import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../../openapi/tools/docs/main.ts', import.meta.url));

/** Builds the documentation if its inputs have changed, so that no test sees an old one. */
export default async function buildSite(): Promise<void> {
  await promisify(execFile)(process.execPath, [main]);
}
