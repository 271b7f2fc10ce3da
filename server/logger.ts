import { type Logger, pino } from 'pino';

export type { Logger };

/** JSON lines on standard error, so that standard output carries only what the operator is told. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: { paths: ['authorization', '*.authorization', 'key', '*.key'], censor: '***' },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}
