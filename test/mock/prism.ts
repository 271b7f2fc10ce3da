import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const require = createRequire(import.meta.url);
const program = require.resolve('@stoplight/prism-cli');
const bundle = fileURLToPath(new URL('../../generated/openapi.json', import.meta.url));

export interface Prism {
  /** URL without a trailing slash. */
  url: string;
  close(): Promise<void>;
}

/** Starts `prism mock generated/openapi.json` on a free port. It is stateless and supports only JSON. */
export async function startPrism(): Promise<Prism> {
  const child = spawn(process.execPath, [program, 'mock', bundle, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').then(() => process.off('exit', kill));
  const output: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  for await (const line of createInterface(child.stdout)) {
    output.push(line);
    const url = /listening on (http:\/\/\S+)/.exec(stripVTControlCharacters(line))?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    const close = async () => {
      kill();
      await exited;
    };
    return { url, close };
  }
  throw new Error(`Prism did not start: ${output.join('\n').slice(0, 1000)}`);
}
