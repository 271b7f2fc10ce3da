import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { oldNodeMessage } from './app/node-version.ts';

// Caches compiled code for later starts. The environment variable also applies to threads.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));
enableCompileCache();
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  engines: { node: string };
};
const tooOld = oldNodeMessage(process.versions.node, engines.node);
if (tooOld === undefined) await import('./app/start.ts');
else {
  console.error(tooOld);
  process.exitCode = 1;
}
