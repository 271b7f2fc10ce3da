import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { failureKind } from '../../server/store/postgres/failures.ts';
import { databaseUrl, engines } from './engines.ts';

const ofServer = (code: string) => Object.assign(new pg.DatabaseError('failed', 6, 'error'), { code });

test.each([
  ['a deadlock', ofServer('40P01'), false, 'conflict'],
  ['a lock timeout', ofServer('55P03'), false, 'conflict'],
  ['a shutdown of the server', ofServer('57P01'), false, 'lost'],
  ['a full disk', ofServer('53100'), false, 'shortage'],
  ['a violated constraint', ofServer('23505'), false, 'statement'],
  ['any error after the connection broke', new Error('write EPIPE'), true, 'lost'],
  ['an error of the program', new TypeError('no value'), false, 'statement'],
])('%s is of its kind', (_, error, isBroken, kind) => {
  expect(failureKind(error, isBroken)).toBe(kind);
});

describe.skipIf(!engines.includes('postgres'))('on postgres', () => {
  test.each(['destroyed', 'ended'] as const)(
    'a client that was %s before its first use is lost',
    async (how) => {
      const client = new pg.Client(databaseUrl);
      client.on('error', () => {});
      await client.connect();
      const { promise, resolve } = Promise.withResolvers<void>();
      client.once('end', resolve);
      if (how === 'ended') await client.end();
      else client.connection.stream.destroy(new Error('read ECONNRESET'));
      await promise;
      const error: unknown = await client.query('select 1').then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(failureKind(error, false)).toBe('lost');
    },
  );
});
