import type { Handler } from '../../http/handler.ts';
import { runChannelTest } from '../../providers/channel-test.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { findChannel } from './channel-view.ts';

/** Time limit of the call. */
const limitMs = 15_000;

/** Tests a channel with a small real call, which is recorded before it is sent. */
export const testChannel: Handler<'testChannel'> = async ({ gateway, caller, path, signal }, reply) => {
  const channel = findChannel(gateway, path.name);
  const { store, timers } = gateway;
  const by = changeBy({ gateway, caller }, 'testChannel');
  await store.run('recordChange', { ...by, subject: `channel ${channel.name}`, details: {} });
  const startedAt = timers.monotonic();
  const result = await runChannelTest(channel, { timers, limitMs, signal });
  reply.json(200, success({ ...result, duration_ms: timers.monotonic() - startedAt }));
};
