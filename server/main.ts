import { readFileSync } from 'node:fs';
import { oldNodeMessage } from './app/node-version.ts';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  engines: { node: string };
};
const tooOld = oldNodeMessage(process.versions.node, engines.node);
if (tooOld === undefined) await import('./app/start.ts');
else {
  console.error(tooOld);
  process.exitCode = 1;
}
