import { describe, expect, inject, test } from 'vitest';
import {
  inferenceLimitProblems,
  realtimeLimitProblems,
} from '../../client/conformance/checks/event-limits.ts';
import { clientEvents } from '../../client/conformance/limits/event-limits.ts';
import { Seen } from '../../client/conformance/subject/seen.ts';
import {
  validateInferenceClientEvent,
  validateRealtimeClientEvent,
} from '../../generated/event-validators.js';

const validators: Readonly<Record<string, (event: unknown) => boolean>> = {
  realtime: validateRealtimeClientEvent,
  inference: validateInferenceClientEvent,
};

describe.each(clientEvents())('$name', ({ channel, cases }) => {
  const validate = validators[channel];
  test.each(cases)('$title: takes a value at it and refuses one beyond', ({ at, beyond }) => {
    expect([validate?.(at), validate?.(beyond)]).toEqual([true, false]);
  });
});

test.each([
  ['a realtime session', realtimeLimitProblems],
  ['a duplex session', inferenceLimitProblems],
])('%s of the mock takes events at each limit and refuses those beyond', async (_, problemsOf) => {
  expect(await problemsOf(inject('mock'), 10_000, new Seen())).toEqual([]);
});
