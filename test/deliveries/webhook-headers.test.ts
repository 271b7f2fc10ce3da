import { expect, test } from 'vitest';
import { webhookHeaders } from '../../server/tasks/callbacks/callback-sender.ts';

test('the signature equals the example of the Standard Webhooks specification', () => {
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(webhookHeaders(id, 1_614_265_330_999, '{"test": 2432232314}', secret)).toEqual({
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
