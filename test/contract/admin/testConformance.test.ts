import { expect, test, vi } from 'vitest';
import type { ConformanceRunServerEvent } from '../../../generated/events.ts';
import { parseEvents } from '../../conformance/wire/event-stream.ts';
import { listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';

const other = { base_url: 'https://unigate.example', api_key: 'sk-test' };

describeOperation('testConformance', {
  invalid: {
    'an address without a key': { change: { base_url: other.base_url }, field: 'api_key' },
    'an address that is no URL': { change: { ...other, base_url: 'unigate' }, field: 'base_url' },
    'an address of another protocol': {
      change: { ...other, base_url: 'ftp://a.example' },
      field: 'base_url',
    },
    'an empty key': { change: { ...other, api_key: '' }, field: 'api_key' },
    'a key with a line break': { change: { ...other, api_key: 'sk-a\nb' }, field: 'api_key' },
    'an empty name': { change: { only: [''] }, field: 'only.0', limit: 1 },
    'more runs than the maximum': { change: { runs: 1001 }, field: 'runs', limit: 1000 },
    'a negative seed': { change: { seed: -1 }, field: 'seed', limit: 0 },
    'an unknown value of triggers': { change: { triggers: 'sometimes' }, field: 'triggers' },
    'an unknown field': { change: { keys: [] }, field: 'keys' },
  },
  gatewayTests(call) {
    test('streams the result of each check and the report, and records the run', async () => {
      const before = await listChangesOf('conformance');
      // Another test may have a run.
      const response = await vi.waitFor(async () => {
        const found = await call({ body: { only: ['getHealth'], runs: 0, triggers: 'off', seed: 7 } });
        expect(found.status, found.body.toString()).toBe(200);
        return found;
      });
      const events = parseEvents(response.body.toString(), 'named').map(
        ({ data }) => data as ConformanceRunServerEvent,
      );
      expect(events[0]).toMatchObject({ type: 'run_started', seed: 7, operations: ['getHealth'] });
      const checks = events.flatMap((event) => (event.type === 'check_finished' ? [event.check] : []));
      const last = events.at(-1);
      expect(last).toMatchObject({ report: { failed: 0, passed: checks.length, checks } });
      expect(checks.length).toBeGreaterThan(3);
      const [change] = await listChangesOf('conformance');
      expect(before).not.toContainEqual(change);
      expect(change).toMatchObject({ action: 'testConformance', details: { only: ['getHealth'] } });
    });
  },
});
