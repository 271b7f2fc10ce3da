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
  /** Address it listens on, without a slash at the end. */
  url: string;
  close(): Promise<void>;
}

/** `prism mock generated/openapi.json`, as anybody may start it, on a free port. It keeps nothing and knows JSON only. */
export async function startPrism(): Promise<Prism> {
  const child = spawn(process.execPath, [program, 'mock', bundle, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const gone = once(child, 'exit').then(() => process.off('exit', kill));
  const told: string[] = [];
  child.stderr.on('data', (piece: Buffer) => told.push(piece.toString()));
  for await (const line of createInterface(child.stdout)) {
    told.push(line);
    const url = /listening on (http:\/\/\S+)/.exec(stripVTControlCharacters(line))?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    const close = async () => {
      kill();
      await gone;
    };
    return { url, close };
  }
  throw new Error(`Prism did not start: ${told.join('\n').slice(0, 1000)}`);
}
