import type { Handler } from '../../http/handler.ts';
import { runChannelTest } from '../../providers/channel-test.ts';
import { changeBy } from './admin-change.ts';
import { channelNamed } from './channel-view.ts';

/** Longest that the call may take, in milliseconds. */
const limitMs = 15_000;

/** Tries a channel with a small real call. It is recorded before it goes out. */
export const testChannel: Handler<'testChannel'> = async ({ gateway, caller, path, signal }, reply) => {
  const channel = channelNamed(gateway, path.name);
  const { timers } = gateway;
  await gateway.store.run('recordChange', {
    ...changeBy({ gateway, caller }, 'testChannel'),
    subject: `channel ${channel.name}`,
    details: {},
  });
  const from = timers.monotonic();
  const result = await runChannelTest(channel, { timers, limitMs, signal });
  reply.json(200, {
    success: true,
    message: '',
    data: { ...result, duration_ms: timers.monotonic() - from },
  });
};
