import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildDocs } from './build-docs.ts';

const usage = `npm run build

Builds the documentation into generated/site/docs/, which the gateway serves at /docs. Skips it if nothing has changed.

  --if-installed  does nothing if the packages that build the documentation are not installed`;

const { values } = parseArgs({
  options: {
    'if-installed': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
// The packages choose their production code by it, and the test runner sets another value.
process.env.NODE_ENV = 'production';
const root = fileURLToPath(new URL('../../..', import.meta.url));

if (values.help) console.log(usage);
else if (values['if-installed'] && !(await isInstalled()))
  console.log('The documentation is not built, because its packages are not installed.');
else {
  const isNew = await buildDocs(root);
  console.log(`generated/site/docs is ${isNew ? 'built' : 'up to date'}`);
}

/** Whether VitePress and its native parts can be loaded. Installations without optional packages lack these parts. */
async function isInstalled(): Promise<boolean> {
  return import('vitepress').then(
    () => true,
    () => false,
  );
}
