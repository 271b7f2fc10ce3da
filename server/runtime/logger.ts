import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** A shorter one would be found in ordinary words. */
const minSecretLength = 6;

/**
 * JSON lines on standard error, so that standard output carries only what the operator is to read. No line holds one of
 * the `secrets`, however it came there.
 */
export function createLogger(
  level: string,
  secrets: readonly string[] = [],
  destination: DestinationStream = pino.destination({ dest: 2, sync: false }),
): Logger {
  const written = secrets
    .filter(({ length }) => length >= minSecretLength)
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return pino(
    {
      level,
      base: null,
      redact: { paths: ['authorization', '*.authorization', 'key', '*.key'], censor: '***' },
      hooks: {
        streamWrite: (line) => written.reduce((shown, secret) => shown.replaceAll(secret, '***'), line),
      },
    },
    destination,
  );
}
