import { expect, test } from 'vitest';
import { createLogger, Secrets } from '../../server/telemetry/logger.ts';

test('no line contains a secret, also one that is added later or that begins like another one', () => {
  const lines: string[] = [];
  const secrets = new Secrets(['first-secret', 'short']);
  const logger = createLogger('info', secrets, { write: (line) => void lines.push(line) });
  const last = () => (JSON.parse(lines.at(-1) ?? '') as { msg: string }).msg;
  logger.info('first-secret first-secret-and-more a "quoted" one, short');
  expect(last()).toBe('*** ***-and-more a "quoted" one, short');
  secrets.add(['first-secret-and-more', 'a "quoted" one']);
  logger.info('first-secret first-secret-and-more a "quoted" one, short');
  expect(last()).toBe('*** *** ***, short');
});
