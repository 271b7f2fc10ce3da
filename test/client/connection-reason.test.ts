import { expect, test } from 'vitest';
import { connectionReason } from '../../client/connection-reason.ts';

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

test.each<[unknown, string]>([
  [
    coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:80'),
    'no server accepts connections there (ECONNREFUSED)',
  ],
  [new TypeError('fetch failed', { cause: coded('ENOTFOUND') }), 'the host name is unknown (ENOTFOUND)'],
  [
    Object.assign(new AggregateError([coded('ETIMEDOUT')], ''), { code: 'EMANY' }),
    'the server did not respond in time (ETIMEDOUT)',
  ],
  [
    coded('HPE_INVALID_CONSTANT', 'Parse Error: Expected HTTP/'),
    'Parse Error: Expected HTTP/ (HPE_INVALID_CONSTANT)',
  ],
  [new Error('The proxy is gone.'), 'The proxy is gone'],
  [new Error('toString'), 'toString'],
  ['broken', 'broken'],
])('%o', (cause, reason) => {
  expect(connectionReason(cause)).toBe(reason);
});
