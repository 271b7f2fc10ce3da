import { Agent } from 'undici';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TaskHarness } from '../tasks/harness.ts';
import { Outbox } from './outbox.ts';

const request = vi.spyOn(Agent.prototype, 'request');
afterEach(() => request.mockReset());

/** An error with a code of any type, as libraries create it. */
const coded = (code: unknown, options?: ErrorOptions) =>
  Object.assign(new Error('failed', options), { code });

describe('a failed callback is recorded by', () => {
  let outbox: Outbox;
  TaskHarness.eachTest('sqlite', (rig) => {
    outbox = new Outbox(rig);
  });
  afterEach(() => outbox.close());

  test.each<[string, unknown, string]>([
    ['its code', coded('ECONNRESET'), 'ECONNRESET'],
    ['the name of an error whose code is undefined', coded(undefined), 'Error'],
    ['the name of an error whose code is empty', coded(''), 'Error'],
    ['the code of its cause', coded(undefined, { cause: coded('ENOTFOUND') }), 'ENOTFOUND'],
    ['the code of the first of several', new AggregateError([coded('EHOSTUNREACH')]), 'EHOSTUNREACH'],
    ['the name of an error without a code', new TypeError('failed'), 'TypeError'],
    ['unknown for a value that is not an error', 'failed', 'unknown'],
  ])('%s', async (_, thrown, recorded) => {
    request.mockRejectedValue(thrown);
    await outbox.submit('http://receiver.example/hook');
    await outbox.deliver();
    expect(await outbox.rows()).toMatchObject([{ tries: 1, last_status: null, last_error: recorded }]);
  });
});
