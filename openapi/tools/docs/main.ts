import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const usage = `npm run build

Builds the documentation and the console into generated/site/, which the gateway serves at /docs and /console. Skips a part
if nothing has changed.

  --if-installed  does nothing if the packages that build them are not installed`;

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
  console.log('The documentation and the console are not built, because their packages are not installed.');
else {
  // These modules load the packages.
  const { buildDocs } = await import('./build-docs.ts');
  const { buildConsole } = await import('./build-console.ts');
  report('docs', await buildDocs(root));
  report('console', await buildConsole(root));
}

function report(site: string, isNew: boolean): void {
  console.log(`generated/site/${site} is ${isNew ? 'built' : 'up to date'}`);
}

/** Whether VitePress and its native parts can be loaded. Installations without optional packages lack these parts. */
async function isInstalled(): Promise<boolean> {
  return import('vitepress').then(
    () => true,
    () => false,
  );
}
