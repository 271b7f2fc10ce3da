import { type DestinationStream, type Logger, pino } from 'pino';
import { logFields } from './work.ts';

export type { Logger };

/** A shorter one would be found in ordinary words. */
const minSecretLength = 6;

/** What no line of a log may hold. There may be more of them while the log is written. */
export class Secrets {
  #written: readonly string[] = [];

  constructor(secrets: readonly string[] = []) {
    this.add(secrets);
  }

  add(secrets: readonly string[]): void {
    const written = secrets
      .filter(({ length }) => length >= minSecretLength)
      .map((secret) => JSON.stringify(secret).slice(1, -1));
    // The longest first: nothing is left of one that begins like another.
    this.#written = [...new Set([...this.#written, ...written])].sort(
      (one, other) => other.length - one.length,
    );
  }

  hidden(line: string): string {
    return this.#written.reduce((shown, secret) => shown.replaceAll(secret, '***'), line);
  }
}

/**
 * JSON lines on standard error, so that standard output carries only what the operator is to read. No line holds one of
 * the `secrets`, however it came there; each has the request and the trace that it belongs to, and of several workers the number
 * of the one that wrote it.
 */
export function createLogger(
  level: string,
  secrets: readonly string[] | Secrets = [],
  destination: DestinationStream = pino.destination({ dest: 2, sync: false }),
  worker?: number,
): Logger {
  const hiding = secrets instanceof Secrets ? secrets : new Secrets(secrets);
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      mixin: () => ({ ...logFields() }),
      redact: { paths: ['authorization', '*.authorization', 'key', '*.key'], censor: '***' },
      hooks: {
        streamWrite: (line) => hiding.hidden(line),
      },
    },
    destination,
  );
}
