import { type DestinationStream, type Logger, pino } from 'pino';
import { logFields } from './telemetry-context.ts';

export type { Logger };

/** Shorter secrets would match parts of ordinary words. */
const minSecretLength = 6;

/** Fields that can contain a secret of a client, also one level deeper. */
const redacted = ['authorization', 'key', 'x-unigate-user-assertion'].flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
]);

/** The secrets that the logger masks. Secrets can be added while the logger is in use. */
export class Secrets {
  /** As they appear inside JSON strings. */
  #escaped: readonly string[] = [];

  constructor(secrets: readonly string[] = []) {
    this.add(secrets);
  }

  add(secrets: readonly string[]): void {
    const escaped = secrets
      .filter(({ length }) => length >= minSecretLength)
      .map((secret) => JSON.stringify(secret).slice(1, -1));
    // The longest first, since a secret can be a prefix of another.
    this.#escaped = [...new Set([...this.#escaped, ...escaped])].sort(
      (one, other) => other.length - one.length,
    );
  }

  mask(line: string): string {
    return this.#escaped.reduce((masked, secret) => masked.replaceAll(secret, '***'), line);
  }
}

/**
 * Creates a logger that writes JSON lines to standard error and masks the `secrets`. Each line has its request id and
 * trace id and, if there are several workers, the number of the worker.
 */
export function createLogger(
  level: string,
  secrets: readonly string[] | Secrets = [],
  destination: DestinationStream = pino.destination({ dest: 2, sync: false }),
  worker?: number,
): Logger {
  const masked = secrets instanceof Secrets ? secrets : new Secrets(secrets);
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      mixin: () => ({ ...logFields() }),
      redact: { paths: redacted, censor: '***' },
      hooks: {
        streamWrite: (line) => masked.mask(line),
      },
    },
    destination,
  );
}
