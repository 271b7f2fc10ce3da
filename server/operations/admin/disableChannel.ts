import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { channelViewer, findChannel } from './channel-view.ts';

/** Excludes a channel from selection: on this gateway at once, on others within a second. */
export const disableChannel: Handler<'disableChannel'> = async ({ gateway, caller, path, body }, reply) => {
  const { name } = findChannel(gateway, path.name);
  const { reason } = body;
  const by = changeBy({ gateway, caller }, 'disableChannel');
  const change = { ...by, subject: `channel ${name}`, details: { reason } };
  await gateway.store.run('disableChannel', { channel: name, reason, change });
  await gateway.channelStates.refresh();
  const view = await channelViewer(gateway);
  reply.json(200, success(view(findChannel(gateway, name))));
};
