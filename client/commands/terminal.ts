import type { Readable, Writable } from 'node:stream';

/** The standard streams and the environment of a command; `process` is one. */
export interface Terminal {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  env: Record<string, string | undefined>;
}
