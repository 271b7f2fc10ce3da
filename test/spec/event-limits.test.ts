import { describe, expect, inject, test } from 'vitest';
import {
  validateInferenceClientEvent,
  validateRealtimeClientEvent,
} from '../../generated/event-validators.js';
import { inferenceLimitProblems, realtimeLimitProblems } from '../conformance/checks/event-limits.ts';
import { Coverage } from '../conformance/context/coverage.ts';
import { clientEvents } from '../conformance/limits/event-cases.ts';

const validators: Readonly<Record<string, (event: unknown) => boolean>> = {
  realtime: validateRealtimeClientEvent,
  inference: validateInferenceClientEvent,
};

describe.each(clientEvents())('$name', ({ channel, cases }) => {
  const validate = validators[channel];
  test.each(cases)('$title: accepts a value at it and rejects one beyond', ({ at, beyond }) => {
    expect([validate?.(at), validate?.(beyond)]).toEqual([true, false]);
  });
});

test.each([
  ['a realtime session', realtimeLimitProblems],
  ['a duplex session', inferenceLimitProblems],
])('%s of the mock accepts events at each limit and rejects events beyond', async (_, problemsOf) => {
  expect(await problemsOf(inject('mock'), 10_000, new Coverage())).toEqual([]);
});
