import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drifted, settle } from './drift.ts';
import { outputs } from './outputs.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, root: { type: 'string' } },
});
const root = values.root ?? fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'generated');

try {
  const expected = await outputs(root);
  if (values.check) {
    const names = await drifted(folder, expected);
    for (const name of names) console.error(`generated/${name} is out of date. Run npm run generate.`);
    if (names.length > 0) process.exitCode = 1;
  } else {
    for (const name of await settle(folder, expected)) console.log(`generated/${name}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
