import { Readable, Writable } from 'node:stream';
import { run } from '../../client/cli.ts';

export interface Outcome {
  code: number;
  stdout: Buffer;
  stderr: string;
}

interface CommandEnvironment {
  stdin?: string;
  env?: Record<string, string>;
  /** Whether stdout and stderr are terminals. */
  isTTY?: boolean;
  /** Aborts the command. */
  signal?: AbortSignal;
  onStderr?: (text: string) => void;
}

/** Runs a command in this process with its own streams. */
export async function runCommand(
  args: string[],
  { stdin = '', env = {}, isTTY, signal = new AbortController().signal, onStderr }: CommandEnvironment = {},
): Promise<Outcome> {
  const written: Buffer[] = [];
  let stderr = '';
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      written.push(chunk);
      done();
    },
  });
  const terminal = {
    stdin: Readable.from([stdin]),
    stdout: Object.assign(stdout, { isTTY }),
    stderr: {
      isTTY,
      write(text: string) {
        stderr += text;
        onStderr?.(text);
      },
    },
    env,
  };
  const code = await run(args, terminal, '1.2.3', signal);
  return { code, stdout: Buffer.concat(written), stderr };
}
