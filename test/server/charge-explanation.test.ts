import { expect, test } from 'vitest';
import { explainCharge } from '../../server/quota/charge-explanation.ts';
import type { Charge } from '../../server/store/queries/charges.ts';

const charge: Charge = {
  id: 1,
  request_id: 'r',
  user_id: 1,
  token_id: 2,
  token_name: 'k',
  model_name: 'm',
  operation: 'o',
  channel: 'c',
  status: 200,
  error_code: null,
  unit: 'seconds',
  units: 5,
  prompt_tokens: 0,
  completion_tokens: 0,
  quota: 13,
  duration_ms: 1,
  created_at: 1,
  reserved: 13,
  unlimited: 0,
  wallet: 0,
  unit_price: 1,
  price_rule: null,
  cost: null,
  group_ratio: 2.5,
  group_name: 'g',
  config_revision: 'abc',
  task_id: null,
  upstream_id: null,
  state: 'completed',
  debt: 0,
  refund: null,
};
const refund = {
  request_id: 'r',
  token_id: 2,
  user_id: 1,
  model_name: 'm',
  operation: 'o',
  channel: 'c',
  unit: 'seconds',
  charged: 13,
  amount: 3,
  unlimited: 0 as const,
  wallet: 0 as const,
  reason: 'late',
  given_by: 1,
  idempotency_key: null,
  created_at: 1,
};

test.each<[string, Partial<Charge>, string[]]>([
  ['rounded up', {}, ['5 seconds x 1 x 2.5 = 12.5, rounded up to 13', 'reserved 13', 'charged 13']],
  [
    'exact in spite of floating point',
    { units: 100, unit_price: 1.1, group_ratio: 1.1, quota: 121, reserved: 200 },
    ['100 seconds x 1.1 x 1.1 = 121', 'reserved 200', 'charged 121'],
  ],
  [
    'of a key without a limit',
    { unlimited: 1 },
    ['5 seconds x 1 x 2.5 = 12.5, rounded up to 13', 'reserved 13 by a key without a limit', 'charged 13'],
  ],
  [
    'of work that failed',
    { state: 'failed', error_code: 'video_failed', units: 0, quota: 0 },
    [
      '0 seconds x 1 x 2.5 = 0',
      'reserved 13',
      'charged 0: the work failed (video_failed), and the reservation was released',
    ],
  ],
  [
    'of work that was canceled',
    { state: 'canceled', units: 0, quota: 0 },
    [
      '0 seconds x 1 x 2.5 = 0',
      'reserved 13',
      'charged 0: the work was canceled, and the reservation was released',
    ],
  ],
  [
    'limited by the reservation',
    { quota: 10, reserved: 10 },
    [
      '5 seconds x 1 x 2.5 = 12.5, rounded up to 13',
      'reserved 10',
      'charged 10: limited to what was reserved',
    ],
  ],
  [
    'beyond what the key could pay',
    { quota: 10, reserved: 9, debt: 3 },
    [
      '5 seconds x 1 x 2.5 = 12.5, rounded up to 13',
      'reserved 9',
      'charged 10: what the key could pay',
      'debt 3: the key could not pay more',
    ],
  ],
  [
    'that differs',
    { quota: 12 },
    [
      '5 seconds x 1 x 2.5 = 12.5, rounded up to 13',
      'reserved 13',
      'charged 12, which differs from the calculation',
    ],
  ],
  [
    'that was refunded in part',
    { refund },
    [
      '5 seconds x 1 x 2.5 = 12.5, rounded up to 13',
      'reserved 13',
      'charged 13',
      'refunded 3: late',
      'net 13 - 3 = 10',
    ],
  ],
])('a charge %s', (_name, change, lines) => {
  expect(explainCharge({ ...charge, ...change }, { forOperator: true })).toEqual(lines);
});
